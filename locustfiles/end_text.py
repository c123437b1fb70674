"""What is said of a run that ended, from all that its process knows: the text, the page for colleagues, JUnit XML."""

from locust_agents import junit, run_text, summary_page
from locust_agents.cluster import cluster_words, this_machine
from locust_agents.locustfiles.run_state import RunState
from locust_agents.summary_page import Told


def text(state: RunState) -> str | None:
    """The table and the lines around it; None where no turn was taken."""
    if state.summary is None or state.running is None or state.summary.window is None:
        return None
    peaks = None if state.lookout is None else state.lookout.peaks()
    return run_text.text(
        state.running, state.summary, state.gaps, peaks, state.benchmark, state.missing, state.causes, state.trust
    )


def page(state: RunState, exit_status: int) -> str:
    """What summary.md holds; a run that began has a scenario."""
    scenario = state.running
    told = Told(
        name=_name(state),
        run="" if state.path is None else state.path.name,
        began=min((record.wall_time for record in state.records), default=None),
        exit_status=exit_status,
        cluster="" if scenario is None else cluster_words.of_server(scenario.server),
        trouble=_trouble(state),
    )
    return summary_page.render(told, this_machine.facts(), text(state) or "no turn was taken")


def as_junit(state: RunState, exit_status: int) -> str:
    """Of a run that has ended, however it did."""
    return junit.render(_name(state), state.summary, exit_status, _trouble(state))


def _name(state: RunState) -> str:
    return "a run" if state.running is None else state.running.name


def _trouble(state: RunState) -> tuple[str, ...]:
    error = () if state.error is None else (str(state.error),)
    untrusted = () if state.untrusted is None else (f"not to be trusted: {state.untrusted}",)
    return (*error, *sorted(set(state.plugin_faults)), *untrusted)
