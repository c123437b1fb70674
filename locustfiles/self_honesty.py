"""What the processes of a run know of themselves, and so whether its figures can be trusted: at its end, or so far."""

from locust_agents import trust as trusts
from locust_agents.locustfiles.run_state import RunState
from locust_agents.trust import Trust, Witness


def trust(state: RunState) -> Trust:
    """From the records that have come so far; looks at all of them."""
    limits = () if state.running is None else state.running.limits
    return trusts.of(state.records, state.setting, limits, _witness(state))


def _witness(state: RunState) -> Witness:
    shares = [] if state.receiver is None else state.receiver.cpu
    if state.swarm is not None:
        shares = [state.swarm.cpu.share]
    cpu, over_s = max(shares, default=(None, 0.0))
    slept = None if state.lookout is None else state.lookout.untrusted
    lost = 0 if state.receiver is None else state.receiver.lost
    return Witness(cpu, over_s, state.missing, lost, slept)
