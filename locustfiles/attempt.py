"""One attempt at a turn, from the first byte to its one record, on every path out."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter, time

import gevent
from gevent import GreenletExit

from locust_agents import misses, prefill_speed, records, request, tool_calls
from locust_agents.answer_check import Checked, Judge
from locust_agents.branch import Branch
from locust_agents.dialogue import Dialogue
from locust_agents.locustfiles import missed
from locust_agents.locustfiles.swarm import OpenTurn, Swarm
from locust_agents.locustfiles.transport import Exchange, perform
from locust_agents.outcome import Ending, Outcome, classify
from locust_agents.patience import Patience, Timeouts
from locust_agents.records import TurnRecord
from locust_agents.stream import Answer, StreamReader
from locust_agents.whole_answer import BodyReader

# What a client takes to say that a prompt is too long; a behaviour that goes on at once must not hold the loop.
_UNSENT_S = 0.2


@dataclass(frozen=True, slots=True)
class Identity:
    """The "who" of a record, as far as it is the same for every turn of a session."""

    entry: str
    agent: str
    behaviour: str
    profile: str
    session: str
    parent: str | None
    kind: str
    replies: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request to make. `late_s` is its start minus the intended one, `unusual` fields that others do not send.

    `no_call` tells of tool results that there was no call for; None where the turn has none. With a `judge` it asks
    whether answers are right.
    """

    identity: Identity
    number: int
    late_s: float | None
    body: bytes
    headers: Mapping[str, str]
    patience: Patience
    unusual: tuple[str, ...] = ()
    is_streamed: bool = True
    no_call: bool | None = None
    judge: Judge | None = None

    def number_of(self, number: int, late_s: float) -> "Attempt":
        """The same request, sent once more."""
        return dataclasses.replace(self, number=number, late_s=late_s)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of it."""

    exchange: Exchange
    outcome: Outcome

    @property
    def first_token_s(self) -> float | None:
        """Seconds from the request's last byte to the first token."""
        first_s, sent_s = self.exchange.answer.first_token_s, self.exchange.sent_s
        return None if first_s is None or sent_s is None else first_s - sent_s


def run(swarm: Swarm, dialogue: Dialogue | Branch, attempt: Attempt) -> Result:
    """Sends it and records it, also when the greenlet is ended in the middle: then the outcome is `cut`."""
    wall_time = time()
    exchange = _exchange(dialogue, attempt)
    watch = _Watch(swarm, dialogue, attempt.identity)
    who = attempt.identity
    greenlet = gevent.getcurrent()
    swarm.opened(
        OpenTurn(who.agent, who.entry, who.kind, dialogue.turns, exchange, greenlet, who.session, attempt.unusual)
    )
    result = Result(exchange, Outcome.CUT)
    try:
        perform(exchange, swarm.target, attempt.headers, attempt.body, attempt.patience, watch.notice)
    except GreenletExit:
        exchange.ending = Ending(Outcome.CUT, "the run ended")
        raise
    except Exception as fault:
        exchange.ending = Ending(Outcome.CUT, f"a fault in a listener or in locust-agents: {fault!r}")
        raise
    finally:
        end_s = exchange.now_s()
        outcome, error = _judged(exchange, attempt)
        result = Result(exchange, outcome)
        swarm.prefixes.over(who.session, exchange.started + end_s)
        record = _record(swarm, dialogue, attempt, exchange, wall_time, end_s, outcome, error)
        if isinstance(dialogue, Dialogue):  # a question beside the history is no turn of it
            found = missed.miss(swarm, dialogue, who.kind, who.profile, exchange, record.expected_tokens)
            record = record if found is None else misses.marked(record, found)
        record = swarm.ended(exchange, record)
        _stock_request(swarm, record)
    return result


def capped(swarm: Swarm, dialogue: Dialogue | Branch, identity: Identity, tokens: int) -> TurnRecord:
    """Records a turn that was not sent, since its prompt would have had so many tokens. Takes a moment, as a client's
    own error does."""
    exchange = Exchange(perf_counter())
    exchange.ending = Ending(Outcome.CAPPED, f"a prompt of {tokens} tokens is over cap_prompt")
    unsent = Attempt(identity, 1, None, b"", {}, Patience(Timeouts()))
    record = _record(swarm, dialogue, unsent, exchange, time(), exchange.now_s(), Outcome.CAPPED, exchange.ending.error)
    known = dialogue.continued_tokens or 0
    record = dataclasses.replace(record, capped_tokens=max(0, tokens - known), expected_tokens=None)
    record = swarm.ended(exchange, record)
    gevent.sleep(_UNSENT_S)
    return record


def _judged(exchange: Exchange, attempt: Attempt) -> tuple[Outcome, str | None]:
    """How it ended. Nothing to fill a hole with is an answer: a client shows no suggestion then.

    So is reasoning that our own few tokens cut, of a question that we put.
    """
    outcome, error = classify(exchange.ending, exchange.http_status, exchange.answer)
    is_cut_by_us = attempt.judge is not None and any(exchange.answer.reasoning)
    if outcome is Outcome.NO_ANSWER and (exchange.api == "completions" or is_cut_by_us):
        return Outcome.OK, None
    return outcome, error


def _exchange(dialogue: Dialogue | Branch, attempt: Attempt) -> Exchange:
    is_hole = dialogue.path == request.COMPLETIONS
    reader = StreamReader() if attempt.is_streamed else BodyReader()
    return Exchange(perf_counter(), "completions" if is_hole else "chat", reader=reader)


class _Watch:
    """Tells the hooks, and the table of shared prefixes, what each read brought."""

    def __init__(self, swarm: Swarm, dialogue: Dialogue | Branch, identity: Identity) -> None:
        self._swarm = swarm
        self._session, self._starts = identity.session, dialogue.preamble.starts
        self._is_taken = False
        self._who = {"entry": identity.entry, "agent": identity.agent, "session": identity.session}
        self._steps = 0
        self._has_token = False

    def notice(self, exchange: Exchange) -> None:
        if self._has_token:
            return
        answer, hooks = exchange.answer, self._swarm.hooks
        if not self._is_taken and (at_s := missed.taken_at(exchange)) is not None:
            self._is_taken = True
            self._swarm.prefixes.taken(self._session, self._starts, at_s)
        for step in answer.progress[self._steps :]:
            hooks.prefill_progress.fire(**self._who, done=step.done, total=step.total)
        self._steps = len(answer.progress)
        ended_s = answer.prefill_end_s or answer.first_token_s
        if ended_s is not None:
            self._swarm.prefixes.computed(self._session, self._starts, exchange.started + ended_s)
        if answer.first_token_s is not None:
            self._has_token = True
            hooks.first_token.fire(**self._who, ttft_s=answer.first_token_s - (exchange.sent_s or 0.0))


def _record(
    swarm: Swarm,
    dialogue: Dialogue | Branch,
    attempt: Attempt,
    exchange: Exchange,
    wall_time: float,
    end_s: float,
    outcome: Outcome,
    error: str | None,
) -> TurnRecord:
    who, answer = attempt.identity, exchange.answer
    usage = answer.usage
    prompt, cached = (None, None) if usage is None else (usage.prompt_tokens, usage.cached_tokens)
    speed, is_bound = prefill_speed.of(answer.progress, exchange.sent_s)
    checked = Checked() if attempt.judge is None or outcome is not Outcome.OK else attempt.judge(answer)
    return TurnRecord(
        schema=records.SCHEMA,
        run=swarm.plan.run,
        entry=who.entry,
        agent=who.agent,
        behaviour=who.behaviour,
        profile=who.profile,
        session=who.session,
        turn=dialogue.turns,
        parent=who.parent,
        kind=who.kind,
        attempt=attempt.number,
        epoch=swarm.plan.epoch,
        worker=swarm.worker,
        replies=who.replies,
        wall_time=wall_time,
        late_s=attempt.late_s,
        connect_s=exchange.connect_s,
        sent_s=exchange.sent_s,
        headers_s=exchange.headers_s,
        first_progress_s=answer.first_progress_s,
        prefill_end_s=answer.prefill_end_s,
        first_token_s=answer.first_token_s,
        first_channel=answer.first_channel,
        first_answer_s=answer.first_answer_s,
        last_token_s=answer.last_token_s,
        end_s=end_s,
        stall_s=answer.stall_s,
        tool_silence_s=answer.tool_silence_s,
        itl_hist=answer.itl_hist,
        loop_lag_s=swarm.lag.worst_since(exchange.started),
        chunks=answer.chunks,
        prompt_tokens=prompt,
        cached_tokens=cached,
        expected_tokens=missed.expected_tokens(swarm, dialogue, exchange),
        computed_tokens=_computed(answer, prompt, cached),
        completion_tokens=None if usage is None else usage.completion_tokens,
        request_bytes=exchange.request_bytes,
        response_bytes=answer.bytes,
        miss=None,
        miss_detail=None,
        miss_tokens=None,
        wasted_prefill_tokens=_wasted(answer),
        capped_tokens=None,
        prefill_tokens_s=speed,
        prefill_is_bound=is_bound,
        outcome=outcome,
        finish_reason=answer.finish_reason,
        http_status=exchange.http_status,
        error=error,
        tool_calls=(len(answer.tool_calls), sum(call.is_bad for call in answer.tool_calls.values())),
        tool_call_kinds=_faults(answer, dialogue),
        no_call=attempt.no_call,
        reasoning_chunks=answer.reasoning_chunks if answer.is_streamed else None,
        streamed=answer.is_streamed,
        canary=checked.canary,
        canary_detail=checked.detail,
        same=checked.same,
    )


def _faults(answer: Answer, dialogue: Dialogue | Branch) -> Mapping[str, int]:
    found = tool_calls.checked(list(answer.tool_calls.values()), dialogue.preamble.tools)
    return {str(kind): number for kind, number in found.items()}


def _wasted(answer: Answer) -> int | None:
    """Tokens that were prefilled for an answer of which no token came; None where none was, or nobody said so."""
    return answer.progress[-1].done if answer.progress and answer.first_token_s is None else None


def _computed(answer: Answer, prompt: int | None, cached: int | None) -> int | None:
    if answer.progress:
        return answer.progress[-1].total
    return None if prompt is None or cached is None else prompt - cached


def _stock_request(swarm: Swarm, record: TurnRecord) -> None:
    swarm.environment.events.request.fire(
        request_type="turn",
        name=f"{record.entry} {record.kind}",
        response_time=record.end_s * 1000,
        response_length=record.response_bytes,
        exception=TurnFailed(f"{record.outcome}: {record.error}") if record.is_failure else None,
        context={"agent": record.agent, "session": record.session, "turn": record.turn, "outcome": record.outcome},
        start_time=record.wall_time,
        url=swarm.plan.base_url,
        response=None,
    )


class TurnFailed(Exception):
    """What Locust's own statistics show of a failed turn."""
