"""What the start form changes of a scenario, and where a person finds the page."""

from argparse import Namespace
from typing import Any

import pytest

from locust_agents.errors import ScenarioError
from locust_agents.locustfiles.web import form, where
from locust_agents.scenarios import with_plugins
from locust_agents.scenarios.model import Scenario

PLAIN = """
name: form
server: {launch: {model: tiny, ranks: 2}}
duration: 30s
seed: 7
swarm:
  fixers: {behaviour: fix_failing_test, agents: 4}
  giant: {behaviour: giant_prompt}
"""
STAGED = PLAIN.replace(
    "duration: 30s", "on_retire: cut\nstages: [{for: 10s, fixers: 1}, {for: 1m, fixers: 4, giant: 1}]"
)
ATTACHED = PLAIN.replace("{launch: {model: tiny, ranks: 2}}", "{attach: {url: http://mac1:8080, model: big}}")


def read(text: str) -> Scenario:
    return with_plugins.parse(text, "here")


def options(scenario: Scenario, **given: Any) -> Namespace:
    """As Locust has them: what the form showed, with what was typed."""
    url = "" if scenario.server.attach is None else scenario.server.attach.url
    return Namespace(**{"attach": url, "seed": scenario.seed, "stages": True, **given})


@pytest.mark.parametrize("text", [PLAIN, STAGED, ATTACHED])
def test_a_form_left_alone_changes_nothing(text: str) -> None:
    scenario = read(text)
    assert form.chosen(scenario, options(scenario)) is scenario
    assert form.chosen(scenario, None) is scenario, "a library has no options"
    assert form.chosen(scenario, options(scenario, attach="  ")) is scenario, "emptied: the scenario's own"


def test_attach_takes_the_place_of_what_is_said_of_a_launch() -> None:
    patient = read(PLAIN.replace("ranks: 2}}", "ranks: 2}, silence: 7s, on_failure: restart, port: 8080}"))
    scenario = form.chosen(patient, options(patient, attach=" http://mac2:9000 "))
    assert (scenario.server.silence_s, scenario.server.on_failure, scenario.server.port) == (7.0, "stop", None)
    assert scenario.server.launch is None
    assert scenario.server.attach is not None
    assert scenario.server.attach.url == "http://mac2:9000"
    assert scenario.seed == 7


def test_seed() -> None:
    assert form.chosen(read(PLAIN), options(read(PLAIN), seed=8)).seed == 8


def test_without_stages_all_agents_run_all_the_time() -> None:
    scenario = form.chosen(read(STAGED), options(read(STAGED), stages=False))
    assert scenario.stages is None
    assert scenario.duration_s == 70
    assert {name: entry.agents for name, entry in scenario.swarm.items()} == {"fixers": 4, "giant": 1}
    assert form.chosen(read(PLAIN), options(read(PLAIN), stages=False)).duration_s == 30, "there are none"


@pytest.mark.parametrize(
    ("given", "word", "remark"),
    [
        ({"seed": -1}, "--seed", "a seed is a count"),
        ({"attach": "ftp://x"}, "--attach", "not a URL that is spoken"),
    ],
)
def test_what_is_wrong_names_the_option(given: dict[str, Any], word: str, remark: str) -> None:
    with pytest.raises(ScenarioError, match=word):
        form.chosen(read(PLAIN), options(read(PLAIN), **given))


def test_users_and_rate_are_answered_in_one_sentence() -> None:
    said = form.unused(read(PLAIN), Namespace(num_users=3, spawn_rate=None))
    assert said == "-u and -r change nothing: the scenario says how many agents there are (fixers 4, giant 1)"
    assert form.unused(read(PLAIN), Namespace(num_users=None, spawn_rate=2.0)) == said
    assert form.unused(read(PLAIN), Namespace(num_users=None, spawn_rate=None)) is None
    assert form.unused(read(PLAIN), None) is None


@pytest.mark.parametrize(
    ("place", "environment", "wanted", "remark"),
    [
        (("127.0.0.1", 8089, ""), {}, ["http://127.0.0.1:8089/?tab=agents"], "at this machine"),
        (("", 8089, "/load"), {}, ["http://127.0.0.1:8089/load/?tab=agents"], "every address has the local one"),
        (
            ("127.0.0.1", 8090, ""),
            {"SSH_CONNECTION": "10.0.0.9 51000 10.0.0.5 22", "USER": "ann"},
            ["http://127.0.0.1:8090/?tab=agents", "ssh -L 8090:127.0.0.1:8090 ann@10.0.0.5"],
            "over ssh",
        ),
        (
            ("::1", 8090, ""),
            {"SSH_CONNECTION": "fe80::9 51000 fe80::5 2222", "USER": "ann"},
            ["http://[::1]:8090/?tab=agents", "ssh -p 2222 -L 8090:[::1]:8090 ann@fe80::5"],
            "another port, and IPv6",
        ),
        (("127.0.0.1", 1, ""), {"SSH_CONNECTION": "odd"}, ["http://127.0.0.1:1/?tab=agents"], "not what ssh writes"),
    ],
)
def test_where_the_page_is(
    place: tuple[str, int, str], environment: dict[str, str], wanted: list[str], remark: str
) -> None:
    lines = where.lines(*place, environment)
    assert [line.partition(": ")[2] for line in lines] == wanted, remark
