"""JUnit XML: a case for each limit and one for the run, well-formed whatever the names are."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from locust_agents import junit, records
from locust_agents.errors import ScenarioError
from locust_agents.limits import parse_limit
from locust_agents.records import TurnRecord
from locust_agents.summary import Summary, summarise


def turn(entry: str, ttft_s: float, **values: Any) -> TurnRecord:
    base = {"outcome": "ok", "kind": "later", "wall_time": 0.0, "sent_s": 0.0, "end_s": 12.5, "entry": entry}
    base |= {"session": f"{entry}/0.0#0", "turn": 4, "first_token_s": ttft_s}
    return records.from_line(json.dumps({**base, **values}))


def summary(entry: str = "a", **limits: str) -> Summary:
    found = [parse_limit(key.replace("__", "."), bound, (entry, "b")) for key, bound in limits.items()]
    return summarise([turn(entry, 1.0), turn("b", 3.0)], found)


def read(text: str) -> tuple[ElementTree.Element, dict[str, ElementTree.Element]]:
    """The suite, and its cases by name."""
    (suite,) = ElementTree.fromstring(text)
    assert {case.get("classname") for case in suite} == {suite.get("name")}
    return suite, {case.get("name", ""): case for case in suite}


def test_a_case_for_each_limit_whatever_became_of_it() -> None:
    made = summary(ttft__max="500ms", ttft__p50="9s", first__ttft__max="9s", failures="0%")
    suite, cases = read(junit.render("a run", made, 1))
    assert list(cases) == ["the run", "ttft.max 500ms", "ttft.p50 9s", "first.ttft.max 9s", "failures 0%"]
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "5", "failures": "1", "errors": "0", "skipped": "1", "time": "12.500"}
    (failure,) = cases["ttft.max 500ms"]
    assert (failure.tag, failure.get("message")) == (
        "failure",
        "ttft.max 3.00 s > 0.5 s by 2.50 s, worst b/0.0#0 turn 4",
    )
    assert (failure.text or "").splitlines() == [
        "a: ttft.max 1.00 s > 0.5 s by 0.50 s, worst a/0.0#0 turn 4",
        "b: ttft.max 3.00 s > 0.5 s by 2.50 s, worst b/0.0#0 turn 4",
    ]
    (skipped,) = cases["first.ttft.max 9s"]
    assert (skipped.tag, skipped.get("message")) == ("skipped", "first.ttft.max (no turn to judge)")
    assert [list(cases[name]) for name in ("the run", "ttft.p50 9s", "failures 0%")] == [[], [], []]


@pytest.mark.parametrize(
    ("status", "trouble", "message", "text"),
    [
        (3, ("rank 1 died",), "no server or no ok turn", "exit status 3: rank 1 died"),
        (130, (), "interrupted", "exit status 130: interrupted"),
        (4, ("lag", "slept"), "not to be trusted", "exit status 4: lag\nslept"),
    ],
)
def test_a_run_that_did_not_end_well_is_an_error(
    status: int, trouble: tuple[str, ...], message: str, text: str
) -> None:
    suite, cases = read(junit.render("a run", None, status, trouble))
    (error,) = cases["the run"]
    assert (error.tag, error.get("message"), error.text) == ("error", message, text)
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")


@pytest.mark.parametrize("status", [0, 1])
def test_a_broken_limit_is_no_error_of_the_run(status: int) -> None:
    assert read(junit.render("a run", summary(), status))[0].get("errors") == "0"


@pytest.mark.parametrize(
    ("name", "kept", "remark"),
    [
        ("""a "run" <&> 'x' ]]> --""", """a "run" <&> 'x' ]]> --""", "markup is escaped"),
        ("漢字 é 🦗", "漢字 é 🦗", "any letter"),
        ("a\x00b\x1b[31m\ud800\ufffe", "a�b�[31m��", "what XML cannot hold is replaced"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab", "line ends of a name come back"),
    ],
)
def test_strange_names(name: str, kept: str, remark: str, tmp_path: Path) -> None:
    text = junit.render(name, summary(name, ttft__max="500ms"), 3, [name])
    junit.write(tmp_path / "junit.xml", text)
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert suite.get("name") == kept, remark
    assert kept in (suite[0][0].text or ""), remark


def test_a_place_that_is_none_is_told_before_the_run(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "junit.xml"):
        with pytest.raises(ScenarioError, match=r"--junit .*name a file in a folder"):
            junit.demand_place(path)
    junit.demand_place(tmp_path / "junit.xml")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"--junit .*name another file"):
        junit.write(tmp_path, "text")
