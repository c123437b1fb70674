"""All that is said of a run that has ended, as it is printed, stored in summary.md and shown again."""

from collections.abc import Sequence

from locust_agents import headline, table, trust_lines
from locust_agents.cluster import restart
from locust_agents.cluster.benchmark import output
from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.restart import Gap
from locust_agents.cluster.vitals import peaks as peak_lines
from locust_agents.cluster.vitals.peaks import Peaks
from locust_agents.scenarios.model import Scenario
from locust_agents.summary import Summary
from locust_agents.trust import Trust
from locust_agents.why import lines
from locust_agents.why.reasons import Cause


def text(
    scenario: Scenario | None,
    summary: Summary,
    gaps: Sequence[Gap] = (),
    peaks: Peaks | None = None,
    benchmark: Result | None = None,
    missing: tuple[int, int] | None = None,
    causes: Sequence[Cause] = (),
    trust: Trust | None = None,
) -> str:
    """The table with its lines above and below; without a scenario, the run's name is all that is above it."""
    header = [summary.run] if scenario is None else headline.lines(scenario, summary, missing)
    if benchmark is not None:
        header.append(output.described(benchmark))
    without_server = restart.words(gaps)
    return "\n".join(
        [
            table.render(summary, header, trust is not None and bool(trust.doubts)),
            *([] if without_server is None else [without_server]),
            *([] if peaks is None else peak_lines.lines(peaks)),
            *lines.lines(causes),
            *([] if trust is None else trust_lines.lines(trust)),
        ]
    )
