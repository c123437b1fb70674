"""The files before a history: in their place, of their size, and changed where a version says so."""

import random
from itertools import pairwise

import pytest

from locust_agents.plugins.api import Document
from locust_agents.prompts.documents import DEFAULT, Shelf
from locust_agents.prompts.sizing import Calibration, Sizer

APP, LIB = Document("src/app.py", 500), Document("src/lib.py", 300)


def shelf(seed: str = "1 a") -> Shelf:
    return Shelf(seed, 1.0, Sizer(Calibration("", tokens_per_char=0.25, message_tokens=4.0)))


def shared(one: bytes, other: bytes) -> float:
    """How much of the first the other begins with."""
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one)) / len(one)


def test_each_file_is_a_message_and_a_word() -> None:
    made = shelf()
    assert made.show([APP, LIB]) == ["src/app.py version 1", "src/lib.py version 1"]
    assert [message[9:13] for message in made.messages] == [b"user", b"assi"] * 2
    assert len(made.messages[0]) / 4 == pytest.approx(500, rel=0.05)


def test_a_new_version_takes_the_old_ones_place_and_leaves_the_others() -> None:
    made = shelf()
    made.show([APP, LIB])
    before = made.messages
    assert made.show([Document("src/app.py", 500, version=2)]) == ["src/app.py version 2"]
    assert len(made.messages) == 4
    assert made.messages[0] != before[0]
    assert all(now is then for now, then in zip(made.messages[1:], before[1:], strict=True))
    assert 0.01 < shared(before[0], made.messages[0]) < 1


def test_the_same_version_changes_nothing() -> None:
    made = shelf()
    made.show([APP])
    before = made.messages
    assert made.show([APP]) == []
    assert made.messages[0] is before[0]


def test_versions_are_the_same_whatever_was_shown_before() -> None:
    one, two, other = shelf(), shelf(), shelf("1 b")
    for version in (1, 2, 3):
        one.show([Document("a", 400, version)])
    two.show([Document("a", 400, 3)])
    assert one.messages == two.messages
    other.show([Document("a", 400, 3)])
    assert other.messages != one.messages


def test_versions_differ_anywhere_in_the_file() -> None:
    made = shelf()
    texts = []
    for version in range(1, 12):
        made.show([Document("src/app.py", 500, version)])
        texts.append(made.messages[0])
    kept = [shared(one, other) for one, other in pairwise(texts)]
    assert min(kept) < 0.4
    assert max(kept) > 0.6


def test_an_edit_changes_one_file_and_is_kept() -> None:
    made = shelf()
    made.show([APP, LIB])
    texts = {made.messages[0], made.messages[2]}
    rng = random.Random(1)
    for count in range(1, 6):
        (name,) = made.edit(rng)
        assert name.endswith(" edited")
        texts |= {made.messages[0], made.messages[2]}
        assert len(texts) == 2 + count


def test_where_no_file_is_shown_an_edit_shows_one() -> None:
    made = shelf()
    assert made.edit(random.Random(1)) == [f"{DEFAULT.name} version 1"]
    assert len(made.messages) == 2


def test_a_renewed_shelf_has_the_same_files_of_other_texts() -> None:
    made = shelf()
    made.show([APP])
    before = made.messages[0]
    made.renew()
    assert shared(before, made.messages[0]) < 0.05
    assert len(made.messages[0]) == pytest.approx(len(before), rel=0.02)
