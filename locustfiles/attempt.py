"""One attempt at a turn, from the first byte to its one record, on every path out."""

import dataclasses
from time import perf_counter, time

import gevent
from gevent import GreenletExit

from locust_agents.answers.stream import StreamReader
from locust_agents.answers.whole_answer import BodyReader
from locust_agents.locustfiles import attempt_record, missed
from locust_agents.locustfiles.attempt_values import Attempt, Identity, Over, Result
from locust_agents.locustfiles.attempt_watch import Watch
from locust_agents.locustfiles.swarm import OpenTurn, Swarm
from locust_agents.locustfiles.transport import Exchange, perform
from locust_agents.misses import causes
from locust_agents.outcome import Ending, Outcome, classify
from locust_agents.patience import Patience, Timeouts
from locust_agents.prompts import request
from locust_agents.prompts.branch import Branch
from locust_agents.prompts.dialogue import Dialogue
from locust_agents.records import TurnRecord

# What a client takes to say that a prompt is too long; a behaviour that goes on at once must not hold the loop.
_UNSENT_S = 0.2


def run(swarm: Swarm, dialogue: Dialogue | Branch, attempt: Attempt) -> Result:
    """Sends it and records it, also when the greenlet is ended in the middle: then the outcome is `cut`."""
    wall_time, who = time(), attempt.identity
    exchange = _exchange(dialogue, attempt)
    watch = Watch(swarm, dialogue, who)
    greenlet = gevent.getcurrent()
    swarm.opened(
        OpenTurn(who.agent, who.entry, who.kind, dialogue.turns, exchange, greenlet, who.session, attempt.unusual)
    )
    try:
        perform(exchange, swarm.target, attempt.headers, attempt.body, attempt.patience, watch.notice)
    except GreenletExit:
        exchange.ending = Ending(Outcome.CUT, "the run ended")
        raise
    except Exception as fault:
        exchange.ending = Ending(Outcome.CUT, f"a fault in a listener or in locust-agents: {fault!r}")
        raise
    finally:
        over = Over(exchange, wall_time, exchange.now_s(), *_judged(exchange, attempt))
        _keep(swarm, dialogue, attempt, over)
    return Result(exchange, over.outcome)


def capped(swarm: Swarm, dialogue: Dialogue | Branch, identity: Identity, tokens: int) -> TurnRecord:
    """Records a turn that was not sent, since its prompt would have had so many tokens. Takes a moment, as a client's
    own error does."""
    exchange = Exchange(perf_counter())
    exchange.ending = Ending(Outcome.CAPPED, f"a prompt of {tokens} tokens is over cap_prompt")
    unsent = Attempt(identity, 1, None, b"", {}, Patience(Timeouts()))
    over = Over(exchange, time(), exchange.now_s(), Outcome.CAPPED, exchange.ending.error)
    record = attempt_record.record(swarm, dialogue, unsent, over)
    known = dialogue.continued_tokens or 0
    record = dataclasses.replace(record, capped_tokens=max(0, tokens - known), expected_tokens=None)
    record = swarm.ended(exchange, record)
    gevent.sleep(_UNSENT_S)
    return record


def _keep(swarm: Swarm, dialogue: Dialogue | Branch, attempt: Attempt, over: Over) -> None:
    who, exchange = attempt.identity, over.exchange
    swarm.prefixes.over(who.session, exchange.started + over.end_s)
    record = attempt_record.record(swarm, dialogue, attempt, over)
    if isinstance(dialogue, Dialogue):  # a question beside the history is no turn of it
        found = missed.miss(swarm, dialogue, who.kind, who.profile, exchange, record.expected_tokens)
        record = record if found is None else causes.marked(record, found)
    _stock_request(swarm, swarm.ended(exchange, record))


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
