"""The lines above the table: what ran, on what, and whether the client itself was fit to measure."""

from locust_agents import course_lines, figures
from locust_agents.plugins import registry
from locust_agents.quantities import UNKNOWN, count, joined, share
from locust_agents.scenarios.model import Scenario
from locust_agents.summary import Summary


def lines(scenario: Scenario, summary: Summary, missing: tuple[int, int] | None = None) -> list[str]:
    """The server, then the terms of the run, then what must be known of its course, if anything.

    `missing` is how many agents were, and of how many.
    """
    lag = UNKNOWN if summary.loop_lag_p99 is None else f"{summary.loop_lag_p99.value * 1000:.1f} ms"
    scale = "full scale" if scenario.scale == 1 else f"SCALE {_fraction(scenario.scale)}"
    cache = "prompt cache warm" if scenario.cache == "warm" else "prompt cache empty"
    terms = (
        *(scale, *_context(scenario), f"{summary.seconds:.0f} s", cache, f"replies {scenario.replies}"),
        *(*_thinking(scenario, summary), f"client lag {figures.tail(summary.turns)} {lag}"),
    )
    course = (*_missing(missing), *course_lines.parts(summary), *_sent_as(scenario))
    return [*joined((scenario.name, _server(scenario)), "   "), *joined(terms, "   "), *joined(course, "   ")]


def _context(scenario: Scenario) -> list[str]:
    return [] if scenario.context is None else [f"context {count(scenario.context)}"]


def _thinking(scenario: Scenario, summary: Summary) -> list[str]:
    """What was asked of the model, and what of its answers was reasoning; nothing where there was neither."""
    if scenario.thinking is None and not summary.thinking:
        return []
    asked = {None: "", True: " on,", False: " off,"}[scenario.thinking]
    return [f"thinking{asked} {share(summary.thinking)} of the output"]


def _sent_as(scenario: Scenario) -> list[str]:
    """Of products that speak another API; a profile that is not installed any more tells nothing."""
    installed = registry.profiles()
    names = dict.fromkeys(entry.profile for entry in scenario.swarm.values())
    found = [(name, installed[name].sent_as) for name in names if name in installed]
    return [f"{name} {remark}" for name, remark in found if remark is not None]


def _missing(missing: tuple[int, int] | None) -> list[str]:
    return [] if missing is None else ["agents missing {} of {}".format(*missing)]


def _server(scenario: Scenario) -> str:
    launch = scenario.server.launch
    if launch is None:
        attach = scenario.server.attach
        return f"by the launcher {scenario.server.launcher}" if attach is None else f"attached to {attach.url}"
    if launch.hostfile is not None:
        return f"{launch.hostfile}, {launch.model}"
    number = launch.ranks or 2
    ranks = f"{number} rank{'s' if number > 1 else ''} {launch.backend or 'ring'}"
    return f"{ranks}, {launch.model} model" + (" (not a speed of any Mac)" if launch.model.startswith("tiny") else "")


def _fraction(scale: float) -> str:
    return f"1/{1 / scale:g}" if scale < 1 and (1 / scale).is_integer() else f"{scale:g}"
