"""What the tab says of the client's own part in the figures, while the run goes on and after it."""

from typing import Any

from locust_agents import figures
from locust_agents.figures import Wait
from locust_agents.locustfiles import self_honesty
from locust_agents.locustfiles.run_state import RunState
from locust_agents.quantities import UNKNOWN, gap, share
from locust_agents.records import TurnRecord
from locust_agents.trust import Trust
from locust_agents.trust_so_far import TrustSoFar


class Client:
    """Of one run."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._so_far = TrustSoFar(state.setting)

    def take(self, record: TurnRecord) -> None:
        """A turn ended."""
        self._so_far.take(record)

    def trust(self) -> Trust:
        """That of the run's end, once it is there."""
        state = self._state
        if state.trust is not None:
            return state.trust
        limits = () if state.running is None else state.running.limits
        lost = 0 if state.receiver is None else state.receiver.lost_by_the_dead
        return self._so_far.told(state.until, limits, self_honesty.witness(state, lost))

    def told(self) -> dict[str, Any]:
        """A line of names and values, and the doubts as the run's end would say them."""
        trust = self.trust()
        return {"client": _parts(trust, self._so_far.worst_lag_s), "doubts": trust.doubts}


def _parts(trust: Trust, worst_lag_s: float | None) -> list[tuple[str, str]]:
    """All that is known of it, so that nothing moves as it changes; only turns that were cut come with the end."""
    witness, tail = trust.witness, figures.tail(trust.turns)
    missing = "0" if witness.missing is None else "{} of {}".format(*witness.missing)
    return [
        ("loop lag", ("" if tail == "worst" else f"p99 {_short(trust.lag)}, ") + f"worst {gap(worst_lag_s)}"),
        ("CPU", UNKNOWN if witness.cpu is None else f"{share(witness.cpu)} of a core"),
        ("turns late", f"{tail} {_short(trust.late)}"),
        ("agents missing", missing),
        ("turns lost", f"{witness.lost} at least" if witness.lost else "0"),
        ("tokens in clumps", share(trust.clumped)),
        *([("cut at the end", f"{trust.cut} of {trust.turns} turns")] if trust.cut else []),
    ]


def _short(wait: Wait | None) -> str:
    """In milliseconds, of which a sound client has few."""
    return gap(None if wait is None else wait.value)
