"""What the processes of a run know of themselves, and so whether its figures can be trusted: at its end, or so far."""

from locust_agents import trust as trusts
from locust_agents.locustfiles.run_state import RunState
from locust_agents.trust import Trust, Witness
from locust_agents.window import Taken


def trust(state: RunState, taken: Taken | None = None) -> Trust:
    """From the records that have come so far; looks at all of them."""
    limits = () if state.running is None else state.running.limits
    lost = 0 if state.receiver is None else state.receiver.lost
    return trusts.of(state.records, state.setting, limits, witness(state, lost), taken)


def witness(state: RunState, lost: int) -> Witness:
    """At this moment; `lost` turns were sent and will have no record."""
    shares = [] if state.receiver is None else state.receiver.cpu
    if state.swarm is not None:
        shares = [state.swarm.cpu.share]
    cpu, over_s = max(shares, default=(None, 0.0))
    slept = None if state.lookout is None else state.lookout.untrusted
    return Witness(cpu, over_s, state.missing, lost, slept)
