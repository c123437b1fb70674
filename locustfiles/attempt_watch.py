"""Tells the hooks, and the table of shared prefixes, what each read of an answer brought."""

from locust_agents.locustfiles import missed
from locust_agents.locustfiles.attempt_values import Identity
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.transport import Exchange
from locust_agents.prompts.branch import Branch
from locust_agents.prompts.dialogue import Dialogue


class Watch:
    """Watches one attempt up to its first token."""

    def __init__(self, swarm: Swarm, dialogue: Dialogue | Branch, identity: Identity) -> None:
        self._swarm = swarm
        self._session, self._starts = identity.session, dialogue.preamble.starts
        self._is_taken = False
        self._who = {"entry": identity.entry, "agent": identity.agent, "session": identity.session}
        self._steps = 0
        self._has_token = False

    def notice(self, exchange: Exchange) -> None:
        """To be called after each read."""
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
