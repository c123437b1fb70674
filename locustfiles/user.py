"""CodingAgent: the Locust user class that every entry of a scenario, and every hand-written locustfile, makes."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import gevent
from locust import User, task
from locust.exception import StopUser

from locust_agents import session_seed
from locust_agents.locustfiles import conductor
from locust_agents.locustfiles.driver import Driver
from locust_agents.locustfiles.session_values import Leaves, Manner
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.turn_taking import PARKED_S
from locust_agents.outcome import Outcome
from locust_agents.patience import Timeouts
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Behaviour
from locust_agents.profile import Profile
from locust_agents.prompts import preambles, scaling
from locust_agents.prompts.dialogue import Style
from locust_agents.prompts.prefix_break import PrefixBreak
from locust_agents.seats import Seat

# Before a slot begins anew after a failure: a server that refuses at once must not be hammered.
_AFTER_FAILURE_S = 1.0
# How often a slot looks whether it knows its number.
_UNKNOWN_S = 0.02
_STOPPING = "stopping"  # locust.user.task.LOCUST_STATE_STOPPING, the state in which Locust waits for a user


class CodingAgent(User):
    """One slot: runs session after session of its behaviour. Subclass it, or let a scenario do so.

    `behaviour` and `profile` are an object or a registered name; `parameters` go to the behaviour. `scale` multiplies
    all sizes, `gap_scale` and `gap_cap_s` shape the pauses. A slot starts `after_s` into the run, and ends after
    `sessions` sessions when that is set. `context_tokens` shrinks the profile's window to so many tokens, and all
    sizes with it; no prompt of more than `cap_prompt` (unscaled) tokens is sent.
    """

    abstract = True
    behaviour: ClassVar[Behaviour | str]
    profile: ClassVar[Profile | str] = "opencode"
    parameters: ClassVar[Mapping[str, Any]] = {}
    scale: ClassVar[float] = 1.0
    replies: ClassVar[Literal["live", "scripted"]] = "live"
    outputs: ClassVar[Literal["live", "drawn"]] = "live"
    gap_scale: ClassVar[float] = 1.0
    gap_cap_s: ClassVar[float | None] = None
    after_s: ClassVar[float] = 0.0
    apart_s: ClassVar[float] = 0.0
    sessions: ClassVar[int | None] = None
    timeouts: ClassVar[Timeouts | None] = None
    context_tokens: ClassVar[int | None] = None
    cap_prompt: ClassVar[int | None] = None
    prefix: ClassVar[PrefixBreak | None] = None
    thinking: ClassVar[bool | None] = None
    entry: ClassVar[str] = ""

    _swarm: Swarm | None = None

    def _join(self) -> None:
        """Joins the run of this environment, and waits for this slot's turn to come in.

        Not in on_start: Locust logs whatever ends a user there as an error, with its traceback.
        """
        cls = type(self)
        self._entry = cls.entry or cls.__name__
        self._swarm = conductor.of(self.environment).swarm_for_users()
        if self._swarm is None:
            raise StopUser  # the run did not begin; who began it says why
        self._slot = self._swarm.enrol(self._entry, cls.after_s)
        seat = self._seat()
        self._number = seat.number
        self._name = f"{self._entry}/{self._swarm.worker}.{seat.number}"
        self._done = 0
        self._behaviour = registry.behaviour(cls.behaviour)
        self._profile = registry.profile(cls.profile)
        place = seat.place if self._swarm.stages is None else 0  # else the plan lets them in one by one
        self._sleep_until(cls.after_s + place * cls.apart_s)

    def on_stop(self) -> None:
        """Locust has stopped this user: another may get its number."""
        if self._swarm is not None:
            self._swarm.leave(self._slot)

    @task
    def session(self) -> None:
        """One whole session."""
        if self._swarm is None:
            self._join()
        swarm, behaviour = self._swarm, self._behaviour
        assert swarm is not None
        due = self._due(swarm)
        agent = Agent(
            self._name,
            f"{self._name}#{self._done}",
            session_seed.of(swarm.scenario.seed, swarm.scenario.drawn_as(self._entry), self._number, self._done),
            preamble_tokens=float(preambles.wanted_tokens(self._profile)),
            profile=self._profile,
        )
        driver = Driver(swarm, self._manner(), self._must_leave)
        try:
            reply = driver.run(behaviour(agent, **self.parameters), due)
        except Leaves:
            raise StopUser from None
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a plugin may raise anything)
            conductor.of(self.environment).plugin_failed(behaviour, error)
            self.environment.events.user_error.fire(user_instance=self, exception=error, tb=error.__traceback__)
            self._finish()
        if reply is None or reply.outcome.is_failure or reply.outcome is Outcome.CAPPED:
            self._sleep_until(swarm.elapsed_s() + _AFTER_FAILURE_S)
        self._done += 1
        if self.sessions is not None and self._done >= self.sessions:
            self._finish()

    def _finish(self) -> None:
        """Nothing more to do: the slot stays, so that Locust's counts stay true, until it is stopped."""
        if self._swarm is not None:
            self._swarm.slots.finish(self._slot)
        while self.environment.runner is not None and not self._must_leave():
            gevent.sleep(0.2)
        raise StopUser

    def _seat(self) -> Seat:
        """Waits until the master, where there is one, has said who this is."""
        assert self._swarm is not None
        while (seat := self._swarm.slots.seat(self._slot)) is None:
            if self._must_leave():
                raise StopUser
            gevent.sleep(_UNKNOWN_S)
        return seat

    def _due(self, swarm: Swarm) -> float | None:
        """When this session should have begun (perf_counter), waiting for one that is due; None in a closed loop."""
        clock, after_s = swarm.clock(self._entry), self.after_s
        if clock is None:
            return None
        while not self._must_leave():
            is_in = swarm.may_start(self._name)  # who is parked by the plan takes no session from those who are not
            if is_in and (due_s := clock.take(swarm.elapsed_s() - after_s)) is not None:
                return swarm.started + after_s + due_s
            left_s = clock.next_s + after_s - swarm.elapsed_s()
            gevent.sleep(min(max(left_s, 0.0), PARKED_S) if is_in else PARKED_S)
        raise StopUser

    def _manner(self) -> Manner:
        swarm, profile = self._swarm, self._profile
        assert swarm is not None
        scale = scaling.scale_of(profile, self.scale, self.context_tokens)
        style = Style(
            profile,
            swarm.preamble(profile, scale),
            scale,
            self.replies,
            self.outputs,
            self.prefix,
            self.thinking,
            lambda role: swarm.preamble(profile.in_role(role), scale),
        )
        timeouts, cap = self.timeouts or profile.timeouts, self.cap_prompt
        cap_tokens = None if cap is None else cap * scale
        return Manner(self._entry, self._behaviour.name, style, timeouts, self.gap_scale, self.gap_cap_s, cap_tokens)

    def _sleep_until(self, elapsed_s: float) -> None:
        assert self._swarm is not None
        while (left_s := elapsed_s - self._swarm.elapsed_s()) > 0:
            if self._must_leave():
                raise StopUser
            gevent.sleep(min(left_s, 0.2))

    def _must_leave(self) -> bool:
        return bool(self._state == _STOPPING)
