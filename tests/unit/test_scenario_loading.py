import inspect
from pathlib import Path

import pytest
from pydantic import ValidationError

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Attach, Launch


def fix_failing_test(reads: int = 8, attempts: int = 3) -> None: ...


def giant_prompt(prompt_tokens: int, pause_s: float = 0.0, note: "str | None" = "x") -> None: ...


BEHAVIOURS = {each.__name__: inspect.signature(each).parameters for each in (fix_failing_test, giant_prompt)}
PROFILES = ["opencode", "crush"]
SMALLEST = "swarm: {a: {behaviour: fix_failing_test}}\n"
WHOLE = """\
name: "all of it: ünïcode # and signs"
server:
  attach: {url: http://mac1:8080/v1}
  ready: 1h
duration: 1m30s
turns: 2k
sessions: 2
seed: 7
scale: 5%
gaps: {scale: 0.333, cap: 250ms}
replies: scripted
outputs: drawn
cache: warm
swarm:
  fixers: &them {behaviour: fix_failing_test, agents: 4, with: {reads: 1k}}
  giant-1:
    <<: *them
    behaviour: giant_prompt
    profile: crush
    with: {prompt_tokens: 64k, pause_s: 2m, note: null}
    after: 0.1s
start: {apart: 0}
drain: 0s
limits: {giant-1.failures: 5%, fixers.later.ttft.p95: 20, decode.min: 1.5k}
timeouts: {connect: 10s, headers: 300s, first_token: 300s, silence: 120s, turn: 900s}
"""


def parsed(text: str, *overrides: str) -> loader.Scenario:
    options = [loader.read_override(each) for each in overrides]
    return loader.parse(text, "runs/smallest.yaml", BEHAVIOURS, PROFILES, options)


def test_defaults() -> None:
    scenario = parsed(SMALLEST)
    entry = scenario.swarm["a"]
    assert (scenario.name, scenario.duration_s, scenario.turns, scenario.sessions) == ("smallest", 90.0, None, None)
    assert (scenario.seed, scenario.scale, scenario.gaps.scale, scenario.gaps.cap_s) == (1, 1.0, 1.0, None)
    assert (scenario.replies, scenario.outputs, scenario.cache) == ("live", "live", "cold")
    assert (entry.profile, entry.agents, entry.parameters, entry.after_s) == ("opencode", 1, {}, 0.0)
    assert (scenario.start.apart_s, scenario.drain_s) == (1.0, 30.0)
    assert [(limit.key, limit.bound) for limit in scenario.limits] == [("failures", 0.0)]
    assert set(scenario.timeouts.model_dump().values()) == {None}


def test_without_a_server_the_tiny_model_is_launched() -> None:
    for text in (SMALLEST, SMALLEST + "server: {options: {pipeline: true}}", SMALLEST + "server: {launch: {}}"):
        server = parsed(text).server
        assert (server.launch, server.attach) == (Launch(model="tiny"), None)
        assert (server.port, server.ready_s) == (None, 900.0)


@pytest.mark.parametrize("key", ["turns: 20", "sessions: 2"])
def test_another_end_replaces_the_default_duration(key: str) -> None:
    assert parsed(SMALLEST + key).duration_s is None


@pytest.mark.parametrize("url", ["mac1:8080", "http://mac1:8080/v1", "https://[fe80::1]:8080", "10.0.0.2:80"])
def test_an_address_stays_as_it_was_written(url: str) -> None:
    server = parsed(SMALLEST + f"server: {{attach: '{url}'}}").server
    assert (server.attach, server.launch) == (Attach(url=url), None)


def test_everything_is_read() -> None:
    scenario = parsed(WHOLE)
    fixers, giant = scenario.swarm["fixers"], scenario.swarm["giant-1"]
    assert (scenario.duration_s, scenario.turns, scenario.scale, scenario.gaps.cap_s) == (90.0, 2000, 0.05, 0.25)
    assert (fixers.parameters, giant.parameters) == (
        {"reads": 1000},
        {"prompt_tokens": 64_000, "pause_s": 120.0, "note": None},
    )
    assert (giant.agents, giant.profile, giant.after_s) == (4, "crush", 0.1)
    assert [limit.key for limit in scenario.limits] == [
        "giant-1.failures",
        "fixers.later.ttft.p95",
        "decode.min",
        "fixers.failures",
    ]
    assert scenario.timeouts.first_token_s == 300.0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SMALLEST, id="defaults"),
        pytest.param(WHOLE, id="every key"),
        pytest.param(SMALLEST + "scale: 0.1\ngaps: {cap: 0.00001}\nname: '1:30'", id="what YAML likes to misread"),
        pytest.param(SMALLEST + "server: {options: {temp: 0.1, pipeline: true, a: '010', b: 'no'}}", id="option types"),
        pytest.param(loader.default_text(), id="the default scenario"),
        pytest.param(loader.find("quickstart").read_text(encoding="utf-8"), id="quickstart"),
    ],
)
def test_what_is_dumped_reads_back_the_same(text: str) -> None:
    scenario = parsed(text)
    again = loader.parse(loader.dump(scenario), "scenario.yaml", BEHAVIOURS, PROFILES)
    assert again == scenario
    assert loader.dump(again) == loader.dump(scenario)


def test_options_change_and_add_keys_and_the_last_wins() -> None:
    scenario = parsed(
        SMALLEST,
        "swarm.a.agents=8",
        "swarm.a.agents=9",
        "swarm.a.with={reads: 3}",
        "swarm.b={behaviour: giant_prompt, with: {prompt_tokens: 64k}}",
        "server.options.prefill-step-size=512",
        "limits.b.later.ttft.p95=20s",
        "name=a=b",
    )
    assert {name: entry.agents for name, entry in scenario.swarm.items()} == {"a": 9, "b": 1}
    assert scenario.swarm["a"].parameters == {"reads": 3}
    assert scenario.server.options == {"prefill-step-size": 512}
    assert scenario.limits[0].entry == "b"
    assert scenario.name == "a=b"


def test_an_option_replaces_the_server_whole() -> None:
    attach = loader.Override("server", "{attach: 'mac1:8080'}", option="--attach")
    scenario = loader.parse(SMALLEST + "server: {launch: {ranks: 4}}", "s.yaml", BEHAVIOURS, PROFILES, [attach])
    assert (scenario.server.attach, scenario.server.launch) == (Attach(url="mac1:8080"), None)


def test_an_option_of_another_name_is_named_in_its_mistake() -> None:
    attach = loader.Override("server", "{attach: 'not an address'}", option="--attach")
    with pytest.raises(ScenarioError, match=r"^--attach: server.attach.url: expected an address"):
        loader.parse(SMALLEST, "s.yaml", BEHAVIOURS, PROFILES, [attach])


def test_a_scenario_cannot_be_changed() -> None:
    scenario = parsed(SMALLEST)
    with pytest.raises(ValidationError, match="frozen"):
        scenario.seed = 2


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALLEST.encode().replace(b"\n", b"\r\n"))
    assert loader.load(path, BEHAVIOURS, PROFILES).name == "mine"


def test_finds_a_path_or_a_shipped_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SMALLEST)
    assert loader.find(str(path)) == path
    assert loader.find("quickstart").name == "quickstart.yaml"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("quikstart", r"^quikstart: no such file, and no scenario of this name ships; did you mean 'quickstart'\?$"),
        ("xyzzy.yaml", r"^xyzzy.yaml: no such file, .*; the shipped ones are .*quickstart.*$"),
        (".", r"^.: is a folder; name a scenario file in it$"),
    ],
)
def test_a_scenario_that_is_not_there(name: str, text: str) -> None:
    with pytest.raises(ScenarioError, match=text):
        loader.find(name)
