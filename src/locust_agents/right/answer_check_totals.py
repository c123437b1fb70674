"""Decides what the checked answers of a run come to, and how that is said."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from locust_agents.outcome import Outcome
from locust_agents.quantities import WIDTH, joined
from locust_agents.records import CANARY, TurnRecord
from locust_agents.right.answer_check import RIGHT

_LABEL = 7
_WORST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Answers:
    """`verdicts` on code words by their number; `same` of `compared` answers were as alone.

    `unjudged` ended properly and told nothing; `failed` did not end properly, and are failures like any turn's.
    `wrong` and `different` are sentences on what was not right, the first ones first.
    """

    verdicts: Mapping[str, int]
    compared: int
    same: int
    unjudged: int
    failed: int
    wrong: tuple[str, ...]
    different: tuple[str, ...]

    @property
    def are_right(self) -> bool | None:
        """False as soon as one code word was not right, True where all were, None where none was judged.

        A difference in the identity check is no error by itself: sums in a batch are rounded in another order.
        """
        return None if not self.verdicts else set(self.verdicts) == {RIGHT}


def answers(records: Iterable[TurnRecord]) -> Answers | None:
    """What came of all checks of a run; None where there was none."""
    asked = [record for record in records if record.kind == CANARY]
    judged = [record for record in asked if record.canary is not None]
    compared = [record for record in asked if record.same is not None]
    failed = sum(record.outcome is not Outcome.OK for record in asked)
    if not asked:
        return None
    return Answers(
        verdicts=dict(Counter(record.canary or "" for record in judged).most_common()),
        compared=len(compared),
        same=sum(record.same is True for record in compared),
        unjudged=len(asked) - len(judged) - len(compared) - failed,
        failed=failed,
        wrong=tuple(_told(record) for record in judged if record.canary != RIGHT),
        different=tuple(_told(record) for record in compared if not record.same),
    )


def lines(found: Answers | None) -> list[str]:
    """For a person, each of at most 80 columns; none where nothing was asked."""
    if found is None:
        return []
    told = [*_words(found), *_identity(found)]
    return [f"{'' if place else 'right':{_LABEL}}{line}" for place, line in enumerate(told)]


def _words(found: Answers) -> list[str]:
    judged = sum(found.verdicts.values())
    if not judged and not found.unjudged:
        return []
    others = [f"{number} {verdict}" for verdict, number in found.verdicts.items() if verdict != RIGHT]
    unjudged = [f"{found.unjudged} not judged"] if found.unjudged else []
    head = f"code words {found.verdicts.get(RIGHT, 0)} of {judged}"
    return [*_wrapped([head, *others, *unjudged], " · "), *_shown(found.wrong)]


def _identity(found: Answers) -> list[str]:
    if not found.compared:
        return []
    return [f"same answers {found.same} of {found.compared}, alone and in the crowd", *_shown(found.different)]


def _shown(sentences: tuple[str, ...]) -> list[str]:
    rest = len(sentences) - _WORST_SHOWN
    more = [f"and {rest} more in turns.jsonl"] if rest > 0 else []
    return [line for told in (*sentences[:_WORST_SHOWN], *more) for line in _wrapped(told.split(" "), " ")]


def _wrapped(parts: list[str], between: str) -> list[str]:
    return joined(parts, between, WIDTH - _LABEL)


def _told(record: TurnRecord) -> str:
    verdict = f"{record.canary}: " if record.canary else ""
    return f"{record.agent}, after turn {record.turn}: {verdict}{record.canary_detail or ''}"
