"""Takes one turn of a session: what must go before it, its attempts, and what a client makes of a bad answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

import gevent

from locust_agents import retry
from locust_agents.cluster.watch import turns
from locust_agents.locustfiles import attempt
from locust_agents.locustfiles.attempt_values import Attempt, Identity, Result
from locust_agents.locustfiles.session_values import Leaves, Manner, Thread
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.patience import Patience
from locust_agents.plugins.api import Agent, Compact, Reply, Say, Turn
from locust_agents.profile import Profile
from locust_agents.prompts.dialogue import Dialogue
from locust_agents.records import CANARY
from locust_agents.retry import Ended
from locust_agents.right.canary_asking import Question

# A parked slot looks this often whether it is to leave.
PARKED_S = 0.2
# Who compacted and is still over the limit does some work before it compacts again (OpenCode: two requests).
_TURNS_BETWEEN_COMPACTIONS = 2

SUMMARY_REQUEST = "Summarise this work: the goal, what was found, what was changed, what is left."
COMPLAINT = "That answer could not be used. Answer again, in the form that was asked for."


class Taker:
    """Takes the turns of one slot. `must_leave` is asked wherever it waits, so that a stop is not overslept."""

    def __init__(self, swarm: Swarm, manner: Manner, must_leave: Callable[[], bool]) -> None:
        self._swarm = swarm
        self._manner = manner
        self._must_leave = must_leave

    def turn(self, turn: Turn, thread: Thread) -> Reply:
        """The turn, after the compaction that its client would do first; with a complaint of the client's behind it."""
        dialogue = self._dialogue(turn.agent, thread)
        if turn.hole is None and self._is_due(turn.agent, dialogue, thread):
            self._compact_by_rule(turn.agent, dialogue, thread)
        if self._is_over_cap(turn, dialogue) and not self._has_made_room(turn, dialogue, thread):
            return self._capped(turn, dialogue, thread)
        if (asking := self._swarm.asking) is not None:
            asking.before(turn, dialogue, thread.kind)
        reply = self._sent(turn, dialogue, thread)
        while (tokens := retry.complaint_tokens(self._profile(turn.agent), reply.outcome)) is not None:
            reply = self._sent(Turn(turn.agent, (Say(COMPLAINT, tokens),), turn.answer_tokens), dialogue, thread)
        if asking is not None and reply.ok:
            self._check(asking.after(turn.agent, dialogue, thread.kind), turn.agent, thread)
        return reply

    def compact(self, step: Compact, thread: Thread) -> Reply:
        """One request for a summary, in the product's way, then the shortened history; the old one where none came."""
        dialogue = self._dialogue(step.agent, thread)
        self._wait_for_leave_to_start(step.agent, thread)
        limit = max(1, round(step.summary_tokens * self._manner.style.scale))
        rule = self._profile(step.agent).compaction
        body = dialogue.compaction_request(rule, SUMMARY_REQUEST, limit)
        reply = self._heard(dialogue, self._identity(step.agent, "compaction"), body, Turn(step.agent, ()), thread)
        if reply.ok:
            dialogue.compacted(step.keep_tokens, dialogue.summary(reply.text, step.summary_tokens))
        else:
            dialogue.unasked()
        thread.compacted[id(step.agent)] = dialogue.turns
        return reply

    # what goes before a turn

    def _is_due(self, agent: Agent, dialogue: Dialogue, thread: Thread) -> bool:
        rule = self._profile(agent).compaction
        rested = dialogue.turns - thread.compacted.get(id(agent), -_TURNS_BETWEEN_COMPACTIONS)
        if rule is None or not dialogue.turns or rested < _TURNS_BETWEEN_COMPACTIONS:
            return False
        return dialogue.estimate_tokens() > rule.trigger_tokens * self._manner.style.scale

    def _compact_by_rule(self, agent: Agent, dialogue: Dialogue, thread: Thread) -> None:
        rule = self._profile(agent).compaction
        if rule is not None and dialogue.turns:
            self.compact(Compact(agent, rule.keep_tokens, rule.summary_tokens), thread)

    def _is_over_cap(self, turn: Turn, dialogue: Dialogue) -> bool:
        cap = self._manner.cap_tokens
        return cap is not None and self._size(turn, dialogue) > cap

    def _has_made_room(self, turn: Turn, dialogue: Dialogue, thread: Thread) -> bool:
        """Compacts where that can help: there is a history, and it was not compacted just before."""
        if turn.hole is None and thread.compacted.get(id(turn.agent)) != dialogue.turns:
            self._compact_by_rule(turn.agent, dialogue, thread)
        return not self._is_over_cap(turn, dialogue)

    def _size(self, turn: Turn, dialogue: Dialogue) -> float:
        """Prompt tokens of the turn, as far as they are known before it is put together."""
        scale = self._manner.style.scale
        if turn.hole is not None:
            return (turn.hole.prefix_tokens + turn.hole.suffix_tokens) * scale
        new = sum(say.tokens or 0.0 for say in turn.says) + sum(document.tokens for document in turn.documents)
        return dialogue.estimate_tokens() + new * scale

    def _capped(self, turn: Turn, dialogue: Dialogue, thread: Thread) -> Reply:
        self._wait_for_leave_to_start(turn.agent, thread)
        kind = thread.kind or ("later" if dialogue.turns else "first")
        size = round(self._size(turn, dialogue))
        record = attempt.capped(self._swarm, dialogue, self._identity(turn.agent, kind), size)
        self._swarm.turn_over()
        thread.intended, thread.is_due = perf_counter(), False
        return Reply("", (), record.outcome)

    # the turn itself

    def _sent(self, turn: Turn, dialogue: Dialogue, thread: Thread) -> Reply:
        self._wait_for_leave_to_start(turn.agent, thread)
        kind = thread.kind or ("later" if dialogue.turns else "first")
        try:
            dialogue.take(turn)
            body = dialogue.body(dialogue.max_tokens(turn.answer_tokens))
        except BaseException:
            self._swarm.turn_over()
            raise
        return self._heard(dialogue, self._identity(turn.agent, kind), body, turn, thread)

    def _heard(self, dialogue: Dialogue, identity: Identity, body: bytes, turn: Turn, thread: Thread) -> Reply:
        try:
            result = self._attempts(dialogue, identity, body, turn, thread)
        finally:
            self._swarm.turn_over()
        thread.intended, thread.is_due = perf_counter(), False
        return dialogue.hear(result.exchange.answer, result.outcome, result.first_token_s)

    def _attempts(self, dialogue: Dialogue, identity: Identity, body: bytes, turn: Turn, thread: Thread) -> Result:
        profile = self._profile(turn.agent)
        asked = self._attempt(identity, body, turn)
        ended: list[Ended] = []
        while True:
            late_s = max(0.0, perf_counter() - thread.intended)
            result = attempt.run(self._swarm, dialogue, asked.number_of(len(ended) + 1, late_s))
            exchange = result.exchange
            ended.append(Ended(result.outcome, exchange.http_status, exchange.answer.first_token_s is not None))
            wait_s = retry.wait_s(profile, ended)
            if wait_s is None or not self._may_ask_again(turn.agent):
                return result
            thread.intended = perf_counter() + wait_s
            if not self._waited(wait_s, turn.agent):
                return result

    def _attempt(self, identity: Identity, body: bytes, turn: Turn) -> Attempt:
        profile = self._profile(turn.agent)
        own = {name: text.format(session=identity.session) for name, text in profile.headers.items()}
        unusual = turns.unusual_fields(profile.parameters, self._swarm.plan.model)
        return Attempt(
            identity, 1, None, body, {**own, **self._swarm.plan.headers}, self._patience(turn), unusual,
            is_streamed=profile.stream, no_call=turn.no_call,
        )  # fmt: skip

    def _check(self, questions: Sequence[Question], agent: Agent, thread: Thread) -> None:
        """Asks beside the history, once each: what fails here is a failure, and no reason to ask again."""
        for question in questions:
            if not self._swarm.take_check(agent.name):
                return
            asked = self._attempt(self._identity(agent, CANARY), question.branch.request.body(), Turn(agent, ()))
            try:
                attempt.run(self._swarm, question.branch, replace(asked, judge=question.judge))
            finally:
                self._swarm.turn_over()
            thread.intended = perf_counter()  # the agent's next turn is not late because of us

    def _patience(self, turn: Turn) -> Patience:
        """Clients count the limit of the first token from the headers; what a scenario sets counts from the request."""
        profile, timeouts = self._profile(turn.agent), self._manner.timeouts
        is_set = self._swarm.scenario.timeouts.first_token_s is not None  # be it to what the profile has too
        is_own = not is_set and timeouts.first_token_s == profile.timeouts.first_token_s
        return Patience(timeouts, profile.comments_reset, turn.patience, counts_from_headers=is_own)

    def _waited(self, wait_s: float, agent: Agent) -> bool:
        """Waits before the next attempt; False as soon as there will be none."""
        until = perf_counter() + wait_s
        while (left_s := until - perf_counter()) > 0:
            if self._swarm.is_draining or self._must_leave() or self._swarm.must_end(agent.name):
                return False
            gevent.sleep(min(left_s, PARKED_S))
        return True

    def _may_ask_again(self, agent: Agent) -> bool:
        swarm = self._swarm
        return not (swarm.is_draining or swarm.is_held or swarm.must_end(agent.name) or self._must_leave())

    def _wait_for_leave_to_start(self, agent: Agent, thread: Thread) -> None:
        while not self._swarm.take_turn(agent.name):
            if self._must_leave():
                raise Leaves
            gevent.sleep(PARKED_S)
            if not thread.is_due:
                thread.intended = perf_counter()  # parked by the plan: no lateness of the client

    def _dialogue(self, agent: Agent, thread: Thread) -> Dialogue:
        found = thread.dialogues.get(id(agent))
        if found is None:
            found = thread.dialogues[id(agent)] = Dialogue(agent, self._manner.style, self._swarm.sizer)
        return found

    def _profile(self, agent: Agent) -> Profile:
        return self._manner.style.of(agent.role)[0]

    def _identity(self, agent: Agent, kind: str) -> Identity:
        manner = self._manner
        return Identity(
            manner.entry,
            agent.name,
            manner.behaviour,
            manner.style.profile.name,
            agent.session,
            agent.parent,
            kind,
            manner.style.replies,
        )
