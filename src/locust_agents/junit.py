"""JUnit XML of a run: a test case for each limit, and one for the run itself, for whatever reads such files in CI."""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from locust_agents import limit_lines, verdict
from locust_agents.errors import ScenarioError
from locust_agents.summary import Summary, worst
from locust_agents.verdict import Judgement

# What XML 1.0 cannot hold in any form (its section 2.2).
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LIMITS_ONLY = (0, 1)


def render(name: str, summary: Summary | None, exit_status: int, trouble: Sequence[str] = ()) -> str:
    """The file's text. A limit is a failure where one entry broke it, skipped where there was nothing to judge.

    The run is an error by every exit status that is not the limits' own; `trouble` says what happened.
    """
    suite = ElementTree.Element("testsuite", name=_fit(name))
    run = _case(suite, name, "the run")
    if exit_status not in _LIMITS_ONLY:
        said = "\n".join(trouble) or verdict.word(exit_status)
        _told(run, "error", verdict.word(exit_status), f"exit status {exit_status}: {said}")
    judgements = () if summary is None else summary.judgements
    for chosen in worst(judgements):
        _limit(suite, name, chosen, [one for one in judgements if one.limit.key == chosen.limit.key])
    _count(suite, 0.0 if summary is None else summary.seconds)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def has_place(path: Path) -> bool:
    """Whether a file of that name could lie there."""
    return path.absolute().parent.is_dir() and not path.is_dir()


def demand_place(path: Path) -> None:
    """Raises ScenarioError where the file has none, which nobody wants to learn after the run."""
    if not has_place(path):
        raise ScenarioError(f"--junit {path}: is a folder or lies in none; name a file in a folder that is there")


def write(path: Path, text: str) -> None:
    """Raises ScenarioError where the file cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ScenarioError(f"--junit {path}: cannot be written ({error.strerror}); name another file") from None


def _limit(suite: ElementTree.Element, name: str, chosen: Judgement, of_entries: Sequence[Judgement]) -> None:
    case = _case(suite, name, f"{chosen.limit.key} {chosen.limit.text}")
    broken = [f"{one.entry}: {limit_lines.sentence(one)}" for one in of_entries if one.held is False]
    if broken:
        _told(case, "failure", limit_lines.sentence(chosen), "\n".join(broken))
    elif chosen.held is None:
        _told(case, "skipped", limit_lines.sentence(chosen), "")


def _case(suite: ElementTree.Element, name: str, what: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_fit(name), name=_fit(what))


def _told(case: ElementTree.Element, tag: str, message: str, text: str) -> None:
    ElementTree.SubElement(case, tag, message=_fit(message)).text = _fit(text)


def _count(suite: ElementTree.Element, seconds: float) -> None:
    suite.set("tests", str(len(suite)))
    for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(plural, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{seconds:.3f}")


def _fit(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
