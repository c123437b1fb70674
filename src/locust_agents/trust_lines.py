"""How the client's own part in a run is said below its table: what it used and lost, and each doubt."""

from locust_agents import figures
from locust_agents.quantities import WIDTH, joined, seconds, share
from locust_agents.trust import Trust

_LABEL = 7


def lines(trust: Trust) -> list[str]:
    """What is known of the client, then a paragraph for each doubt; the lag stands above the table already."""
    said = _labelled("client", joined(parts(trust), "   ", WIDTH - _LABEL))
    doubts = (_labelled("doubt", joined([doubt], "", WIDTH - _LABEL)) for doubt in trust.doubts)
    return [*said, *(line for lines in doubts for line in lines)]


def parts(trust: Trust) -> list[str]:
    """What the client used, was late by and lost, as far as it is known."""
    witness = trust.witness
    return [
        *([] if witness.cpu is None else [f"CPU {share(witness.cpu)} of a core"]),
        *([] if trust.late is None else [f"turns late {figures.tail(trust.turns)} {seconds(trust.late)}"]),
        *([f"{trust.cut} of {trust.turns} turns cut at the end"] if trust.cut else []),
        *([f"turns lost: {witness.lost} at least"] if witness.lost else []),
        *([f"tokens in clumps {share(trust.clumped)}"] if trust.clumped and trust.clumped >= 0.01 else []),
    ]


def _labelled(word: str, lines: list[str]) -> list[str]:
    return [f"{'' if number else word:{_LABEL}}{line}" for number, line in enumerate(lines)]
