"""What a comparison of two runs hands to whatever tells of it."""

from dataclasses import dataclass

from locust_agents.compare.allowed import Allowance
from locust_agents.compare.comparing import Comparison
from locust_agents.compare.differences import Difference
from locust_agents.compare.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs, or two cells of the same name, with all that is said of them.

    `unseen` names what is not known of both; `held` is the comparison that `allowed` is judged by.
    """

    cell: str
    verdict: Verdict
    changed: tuple[Difference, ...]
    unseen: tuple[str, ...]
    found: Comparison
    allowed: tuple[Allowance, ...]
    held: Comparison | None
