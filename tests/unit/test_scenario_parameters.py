import inspect
from typing import Any, Literal, Optional

import pytest

from locust_agents.scenarios import parameters


def parameter(annotation: object, default: object = inspect.Parameter.empty, name: str = "x") -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


NONE = inspect.Parameter.empty
FITS: list[tuple[str, inspect.Parameter, object, object]] = [
    ("an int as a type", parameter(int), "64k", 64_000),
    ("an int as text, as with postponed annotations", parameter("int"), 8, 8),
    ("a float takes an int", parameter(float), 3, 3.0),
    ("text", parameter("str"), "python", "python"),
    ("a switch", parameter(bool), True, True),
    ("an optional as text", parameter("int | None"), None, None),
    ("an optional that is given", parameter(int | None), "2k", 2_000),
    ("the older spelling of an optional", parameter(Optional[int]), "2k", 2_000),  # noqa: UP045
    ("the first type of a union that fits", parameter(int | str), "two", "two"),
    ("a float in seconds reads durations", parameter(float, name="pause_s"), "1m", 60.0),
    ("no annotation: the default tells", parameter(NONE, 8), "1k", 1_000),
    ("no annotation, no default", parameter(NONE), "1k", "1k"),
    ("an annotation that only the behaviour knows", parameter(Literal["a", "b"]), "c", "c"),
    ("anything", parameter(Any), None, None),
    ("negative where the default is", parameter(float, -0.5), -0.25, -0.25),
]


@pytest.mark.parametrize(("wanted", "value", "worth"), [pytest.param(*row[1:], id=row[0]) for row in FITS])
def test_converts(wanted: inspect.Parameter, value: object, worth: object) -> None:
    result = parameters.converted(value, wanted)
    assert (result, type(result)) == (worth, type(worth))


MISFITS: list[tuple[str, inspect.Parameter, object, str]] = [
    ("text for an int", parameter("int"), "lots", "expected a whole number, got 'lots'"),
    ("a number for text", parameter(str), 3, "expected text, got 3"),
    ("a count for a switch", parameter(bool), 1, "expected true or false, got 1"),
    ("a switch for a count", parameter(int), True, "expected a whole number, got true"),
    ("nothing where something is needed", parameter(int), None, "expected a whole number, got nothing"),
    ("nothing of a union fits", parameter("int | None"), "x", "expected a whole number, got 'x'"),
    ("negative", parameter(int, 8), -1, "must not be negative, got -1"),
]


@pytest.mark.parametrize(("wanted", "value", "text"), [pytest.param(*row[1:], id=row[0]) for row in MISFITS])
def test_refuses(wanted: inspect.Parameter, value: object, text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parameters.converted(value, wanted)
    assert str(caught.value) == text


def explore(reads: int, *more: int, depth: int = 2) -> None: ...


def open_to_all(reads: int = 1, **rest: int) -> None: ...


def test_tells_what_a_behaviour_takes() -> None:
    takes = inspect.signature(explore).parameters
    assert parameters.names_of(takes) == ["reads", "depth"]
    assert list(parameters.missing(takes, {"depth": 1})) == ["reads"]
    assert parameters.not_taken("explore", "depth", takes) is None
    assert parameters.not_taken("explore", "dept", takes) == (
        "unknown parameter; explore takes reads, depth; did you mean 'depth'?"
    )
    assert parameters.not_taken("rest", "x", {}) == "unknown parameter; rest takes no parameters"


def test_a_behaviour_that_collects_the_rest_takes_any_name() -> None:
    takes = inspect.signature(open_to_all).parameters
    assert parameters.not_taken("open_to_all", "whatever", takes) is None
    assert list(parameters.missing(takes, {})) == []
