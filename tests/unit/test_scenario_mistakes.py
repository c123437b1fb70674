import inspect
from pathlib import Path

import pytest

from locust_agents.errors import ScenarioError
from locust_agents.limits import METRICS
from locust_agents.scenarios import loader


def fix_failing_test(reads: int = 8, attempts: int = 3) -> None: ...


def giant_prompt(prompt_tokens: int, answer_tokens: int = 64) -> None: ...


BEHAVIOURS = {each.__name__: inspect.signature(each).parameters for each in (fix_failing_test, giant_prompt)}
PROFILES = ["opencode", "crush"]
SWARM = "swarm: {a: {behaviour: fix_failing_test}}\n"


def mistakes(text: str, *overrides: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        loader.parse(text, "s.yaml", BEHAVIOURS, PROFILES, [loader.read_override(each) for each in overrides])
    return str(caught.value).splitlines()


NO_SCENARIO = "s.yaml:1:1: the file holds no scenario; see the shipped quickstart.yaml"
KEYS = (
    "name, extends, plugins, listeners, server, duration, turns, sessions, stages, on_retire, warm_up, seed, scale, "
    "context, gaps, replies, outputs, cache, curve, thinking, prefix, cap_prompt, swarm, start, arrival, drain, "
    "limits, stop_on_breach, canary, identity, timeouts, guard, probe, sweep, capacity"
)
TABLE: list[tuple[str, str, list[str]]] = [
    ("an empty file", "", [NO_SCENARIO]),
    ("only a comment", "# later\n", [NO_SCENARIO]),
    ("a list", "\n- a\n", ["s.yaml:2:1: expected keys such as server: and swarm:, got a list"]),
    ("a word", "hello", ["s.yaml:1:1: expected keys such as server: and swarm:, got 'hello'"]),
    ("two colons", "a: b: c", ["s.yaml:1:5: not YAML: mapping values are not allowed here"]),
    (
        "a bracket that stays open",
        "a: [1,\nb: 2",
        ["s.yaml:2:5: not YAML: while parsing a flow sequence, expected ',' or ']', but got '<stream end>'"],
    ),
    (
        "a tab",
        "a:\n\tx: 1",
        ["s.yaml:2:1: not YAML: a tab; write blanks"],
    ),
    ("a control character", "a: 1\nb: \x07", [r"s.yaml:2:4: not YAML: the character '\x07' is not allowed"]),
    (
        "two documents",
        "a: 1\n---\nb: 2",
        ["s.yaml:2:1: not YAML: expected a single document in the stream, but found another document"],
    ),
    ("an alias of nothing", "a: *nope", ["s.yaml:1:4: not YAML: found undefined alias 'nope'"]),
    ("an alias that holds itself", "a: &x {b: *x}", ["s.yaml:1:1: nested too deeply to be a scenario"]),
    ("brackets without end", "[" * 3000, ["s.yaml:1:1: nested too deeply to be a scenario"]),
    (
        "aliases that multiply",
        "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
        "d: [*c,*c,*c,*c,*c,*c,*c,*c,*c]",
        ["s.yaml:1:1: more than 5,000 values, too many for a scenario"],
    ),
    (
        "a tag that would run code",
        SWARM + "name: !!python/name:os.system x",
        ["s.yaml:2:7: name: the YAML tag !!python/name:os.system has no meaning here; remove it"],
    ),
    ("a tag that does not fit", SWARM + "seed: !!int many", ["s.yaml:2:7: seed: expected a whole number, got 'many'"]),
    ("a tag with nothing after it", SWARM + "seed: !!int", ["s.yaml:2:7: seed: expected a whole number, got ''"]),
    ("a key that is no text", SWARM + "? [1]\n: 2", ["s.yaml:2:3: a key must be plain text"]),
    ("a merged key that is no text", SWARM + "<<: {[1]: 2}", ["s.yaml:2:6: a key must be plain text"]),
    ("a merge with itself", "a: &x {<<: *x}", ["s.yaml:1:1: nested too deeply to be a scenario"]),
    ("a number without end", SWARM + f"seed: 0x{'f' * 5000}", ["s.yaml:2:7: seed: this number is too large"]),
    (
        "a key twice",
        SWARM + "seed: 1\nname: x\nseed: 2",
        ["s.yaml:4:1: seed: this key is there twice, first at line 2, column 1; keep one"],
    ),
    (
        "an entry twice in braces",
        "swarm: {a: {behaviour: fix_failing_test}, a: {}}",
        ["s.yaml:1:43: swarm.a: this key is there twice, first at line 1, column 9; keep one"],
    ),
    ("no swarm", "name: x", ["s.yaml:1:1: swarm: this key is missing"]),
    (
        "an empty swarm",
        "swarm: {}",
        ["s.yaml:1:8: swarm: needs at least one entry, such as fixers: {behaviour: fix_failing_test}"],
    ),
    ("a mistyped key", SWARM + "duraton: 9s", ["s.yaml:2:1: duraton: unknown key; did you mean 'duration'?"]),
    ("a key like no other", SWARM + "xyzzy: 1", [f"s.yaml:2:1: xyzzy: unknown key; the keys here are {KEYS}"]),
    ("the name of a field is no key", SWARM + "seed_s: 1", ["s.yaml:2:1: seed_s: unknown key; did you mean 'seed'?"]),
    (
        "a key of an entry",
        "swarm:\n  a:\n    behaviour: fix_failing_test\n    wiht: {}",
        ["s.yaml:4:5: swarm.a.wiht: unknown key; did you mean 'with'?"],
    ),
    (
        "a key of the launch",
        SWARM + "server: {launch: {modell: tiny}}",
        ["s.yaml:2:19: server.launch.modell: unknown key; did you mean 'model'?"],
    ),
    ("a line half commented out", SWARM + "gaps:\n", ["s.yaml:2:1: gaps: has no value; give it one or remove the key"]),
    ("a mapping is wanted", SWARM + "start: 2s", ["s.yaml:2:8: start: expected a mapping, got '2s'"]),
    ("limits as a list", SWARM + "limits: [a]", ["s.yaml:2:9: limits: expected a mapping, got a list"]),
    ("an entry as a number", "swarm: {a: 4}", ["s.yaml:1:12: swarm.a: expected a mapping, got 4"]),
    ("a wrong type", SWARM + "turns: lots", ["s.yaml:2:8: turns: expected a whole number, got 'lots'"]),
    ("no is not a name", SWARM + "name: no", ["s.yaml:2:7: name: expected text, got false"]),
    ("a negative scale", SWARM + "scale: -0.5", ["s.yaml:2:8: scale: must not be negative, got -0.5"]),
    ("a scale of nothing", SWARM + "scale: 0", ["s.yaml:2:8: scale: must be more than 0"]),
    ("a run of no time", SWARM + "duration: 0s", ["s.yaml:2:11: duration: must be more than 0"]),
    ("no patience", SWARM + "timeouts: {turn: 0}", ["s.yaml:2:18: timeouts.turn: must be more than 0"]),
    (
        "zero agents",
        "swarm: {a: {behaviour: fix_failing_test, agents: 0}}",
        ["s.yaml:1:50: swarm.a.agents: must be 1 or more, got 0"],
    ),
    (
        "a mistyped choice",
        SWARM + "replies: lives",
        ["s.yaml:2:10: replies: expected 'live' or 'scripted', got 'lives'; did you mean 'live'?"],
    ),
    (
        "a choice of the wrong type",
        SWARM + "outputs: 3",
        ["s.yaml:2:10: outputs: expected 'live' or 'drawn', got 3"],
    ),
    (
        "a mistyped behaviour",
        "swarm: {a: {behaviour: fix-failing-test}}",
        ["s.yaml:1:24: swarm.a.behaviour: no behaviour is called 'fix-failing-test'; did you mean 'fix_failing_test'?"],
    ),
    (
        "a behaviour like no other",
        "swarm: {a: {behaviour: xyzzy}}",
        ["s.yaml:1:24: swarm.a.behaviour: no behaviour is called 'xyzzy'; there are fix_failing_test, giant_prompt"],
    ),
    ("no behaviour", "swarm: {a: {agents: 2}}", ["s.yaml:1:9: swarm.a.behaviour: this key is missing"]),
    (
        "a mistyped profile",
        "swarm: {a: {behaviour: fix_failing_test, profile: opncode}}",
        ["s.yaml:1:51: swarm.a.profile: no profile is called 'opncode'; did you mean 'opencode'?"],
    ),
    (
        "a parameter that the behaviour does not take",
        "swarm: {a: {behaviour: fix_failing_test, with: {red: 3}}}",
        [
            "s.yaml:1:49: swarm.a.with.red: unknown parameter; fix_failing_test takes reads, attempts; "
            "did you mean 'reads'?"
        ],
    ),
    (
        "a parameter of the wrong type",
        "swarm: {a: {behaviour: fix_failing_test, with: {reads: many}}}",
        ["s.yaml:1:56: swarm.a.with.reads: expected a whole number, got 'many'"],
    ),
    (
        "a parameter that is a list, of a behaviour that nobody knows",
        "swarm: {a: {behaviour: xyzzy, with: {reads: [1]}}}",
        [
            "s.yaml:1:24: swarm.a.behaviour: no behaviour is called 'xyzzy'; there are fix_failing_test, giant_prompt",
            "s.yaml:1:45: swarm.a.with.reads: expected text, a number, true or false, got a list",
        ],
    ),
    (
        "an entry whose name is no name still gets its limit",
        "swarm: {a: {behaviour: fix_failing_test}, b.c: {behaviour: fix_failing_test}}\nlimits: {a.failures: 1%}",
        [
            "s.yaml:1:43: swarm.b.c: the name of an entry is lower-case letters, digits, _ and -, and begins with "
            "a letter",
        ],
    ),
    (
        "a negative parameter",
        "swarm: {a: {behaviour: fix_failing_test, with: {reads: -8}}}",
        ["s.yaml:1:56: swarm.a.with.reads: must not be negative, got -8"],
    ),
    (
        "a parameter that is needed",
        "swarm: {a: {behaviour: giant_prompt, with: {answer_tokens: 3}}}",
        ["s.yaml:1:38: swarm.a.with.prompt_tokens: giant_prompt needs this parameter"],
    ),
    (
        "a name that no limit could hold",
        "swarm: {My Agents: {behaviour: fix_failing_test}}",
        [
            "s.yaml:1:9: swarm.My Agents: the name of an entry is lower-case letters, digits, _ and -, and begins with "
            "a letter"
        ],
    ),
    (
        "a name that limits use already",
        "swarm: {later: {behaviour: fix_failing_test}}",
        ["s.yaml:1:9: swarm.later: 'later' is a word of the limits; choose another name for the entry"],
    ),
    (
        "launch and attach",
        SWARM + "server:\n  launch: {ranks: 1}\n  attach: mac1:8080\n",
        ["s.yaml:4:3: server.attach: excludes launch; keep one of the two"],
    ),
    (
        "options for a server that runs already",
        SWARM + "server: {attach: mac1:8080, options: {pipeline: true}}",
        ["s.yaml:2:29: server.options: only a server that the run launches takes it; remove it or attach"],
    ),
    (
        "attach and a launcher",
        SWARM + "server: {attach: mac1:8080, launcher: vllm}",
        ["s.yaml:2:29: server.launcher: excludes attach; keep one of the two"],
    ),
    (
        "a launcher that has a key of its own",
        SWARM + "server: {launcher: mlx_launch}",
        ["s.yaml:2:20: server.launcher: 'mlx_launch' is built in, and has a key of its own: launch: …"],
    ),
    (
        "parameters for no launcher",
        SWARM + "server: {launch: {ranks: 1}, with: {x: 1}}",
        ["s.yaml:2:30: server.with: holds a launcher's parameters; name it: launcher: …"],
    ),
    (
        "a launcher's parameter that is a list",
        SWARM + "server: {launcher: vllm, with: {x: [1]}}",
        ["s.yaml:2:36: server.with.x: expected text, a number, true or false, got a list"],
    ),
    (
        "a benchmark of a server that runs already",
        SWARM + "server: {attach: mac1:8080}\nprobe: mlx_lm_benchmark",
        [
            "s.yaml:3:1: probe: measures the ranks before the run starts a server on them; remove it, or launch with "
            "server.launch"
        ],
    ),
    (
        "another benchmark",
        SWARM + "probe: mlx_benchmark",
        ["s.yaml:2:8: probe.kind: expected 'mlx_lm_benchmark', got 'mlx_benchmark'; did you mean 'mlx_lm_benchmark'?"],
    ),
    (
        "a key of the benchmark",
        SWARM + "probe: {promt_tokens: 512}",
        ["s.yaml:2:9: probe.promt_tokens: unknown key; did you mean 'prompt_tokens'?"],
    ),
    ("no trials", SWARM + "probe: {trials: 0}", ["s.yaml:2:17: probe.trials: must be 1 or more, got 0"]),
    ("a benchmark by a switch", SWARM + "probe: true", ["s.yaml:2:8: probe: expected a mapping, got true"]),
    (
        "an address that is none",
        SWARM + "server: {attach: 'ftp://mac1'}",
        ["s.yaml:2:18: server.attach.url: expected an address such as http://mac1:8080, got 'ftp://mac1'"],
    ),
    (
        "a port above all ports",
        SWARM + "server: {port: 70000}",
        ["s.yaml:2:16: server.port: a port is 1 to 65535, got 70000"],
    ),
    (
        "an option with dashes",
        SWARM + "server: {options: {--pipeline: true}}",
        [
            "s.yaml:2:19: server.options: '--pipeline' is no option; write it as in --help without the leading dashes",
        ],
    ),
    (
        "an option that is a list",
        SWARM + "server: {options: {temp: [1]}}",
        ["s.yaml:2:26: server.options.temp: expected text, a number, true or false, got a list"],
    ),
    (
        "a limit's key",
        SWARM + "limits: {later.tftt.p95: 3s}",
        ["s.yaml:2:10: limits.later.tftt.p95: unknown word 'tftt'; did you mean 'ttft'?"],
    ),
    (
        "a limit's bound",
        SWARM + "limits: {failures: 101%}",
        ["s.yaml:2:20: limits.failures: a share is at most 100%, got '101%'"],
    ),
    (
        "a limit of an entry that is not there",
        SWARM + "limits: {b.failures: 1%}",
        [
            "s.yaml:2:10: limits.b.failures: 'b' is no metric; write [entry.][kind.]metric.stat with one of "
            + ", ".join(METRICS)
        ],
    ),
]


@pytest.mark.parametrize(("text", "lines"), [pytest.param(*row[1:], id=row[0]) for row in TABLE])
def test_says_what_is_wrong_and_where(text: str, lines: list[str]) -> None:
    assert mistakes(text) == lines


MANY = """\
name: 3
duraton: 90s
scale: -1
replies: lve
swarm:
  fixers:
    behaviour: fix_failing_tset
    agents: 0
  giant: {behaviour: giant_prompt, with: {prompt_tokens: huge}}
scale: 2
limits: {ttft.max: soon}
"""


def test_all_mistakes_come_at_once_in_the_order_of_the_file() -> None:
    assert mistakes(MANY) == [
        "s.yaml:1:7: name: expected text, got 3",
        "s.yaml:2:1: duraton: unknown key; did you mean 'duration'?",
        "s.yaml:4:10: replies: expected 'live' or 'scripted', got 'lve'; did you mean 'live'?",
        "s.yaml:7:16: swarm.fixers.behaviour: no behaviour is called 'fix_failing_tset'; "
        "did you mean 'fix_failing_test'?",
        "s.yaml:8:13: swarm.fixers.agents: must be 1 or more, got 0",
        "s.yaml:9:58: swarm.giant.with.prompt_tokens: expected a whole number, got 'huge'",
        "s.yaml:10:1: scale: this key is there twice, first at line 3, column 1; keep one",
        "s.yaml:11:20: limits.ttft.max: expected a duration such as 90s, 2m, 1m30s or 250ms, got 'soon'",
    ]


OVERRIDES: list[tuple[str, str, str]] = [
    ("a wrong value", "swarm.a.agents=-8", "--set swarm.a.agents: must not be negative, got -8"),
    ("a mistyped key", "swarm.a.agent=8", "--set swarm.a.agent: unknown key; did you mean 'agents'?"),
    (
        "a new entry that lacks something",
        "swarm.b={agents: 2}",
        "--set swarm.b: swarm.b.behaviour: this key is missing",
    ),
    ("no value", "seed=", "--set seed: has no value; give it one or remove the key"),
    ("an empty part", "swarm..agents=8", "--set swarm..agents: the key has an empty part"),
    ("below a single value", "drain.s=8", "--set drain.s: drain is not a mapping, so it has no keys"),
    (
        "not YAML",
        "server.options=[1",
        "--set server.options: not YAML: while parsing a flow sequence, expected ',' or ']', but got '<stream end>'",
    ),
    ("a limit", "limits.tftt.max=3s", "--set limits.tftt.max: unknown word 'tftt'; did you mean 'ttft'?"),
]


@pytest.mark.parametrize(("override", "line"), [pytest.param(*row[1:], id=row[0]) for row in OVERRIDES])
def test_mistakes_of_options_are_placed_there(override: str, line: str) -> None:
    assert mistakes(SWARM + "drain: 3s\n", override) == [line]


def test_mistakes_of_options_come_after_those_of_the_file() -> None:
    assert mistakes(SWARM + "seed: x", "turns=x", "scale=x") == [
        "s.yaml:2:7: seed: expected a whole number, got 'x'",
        "--set turns: expected a whole number, got 'x'",
        "--set scale: expected a number, got 'x'",
    ]


def test_an_option_repairs_the_file() -> None:
    fixed = [loader.read_override("seed=7")]
    assert loader.parse(SWARM + "seed: x\nseed: y", "s.yaml", BEHAVIOURS, PROFILES, fixed).seed == 7


@pytest.mark.parametrize("text", ["swarm.a.agents", "=8", " =8"])
def test_an_option_without_key_or_value_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="write it as key=value"):
        loader.read_override(text)


def test_the_problems_can_be_read_one_by_one() -> None:
    with pytest.raises(loader.ScenarioProblems) as caught:
        loader.parse("swarm: {a: {}}", "s.yaml", BEHAVIOURS, PROFILES)
    assert [problem.path for problem in caught.value.problems] == [("swarm", "a", "behaviour")]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"name: caf\xe9\n")
    for path, text in [(latin, "not UTF-8 text"), (tmp_path / "no.yaml", "No such file"), (tmp_path, "cannot be read")]:
        with pytest.raises(ScenarioError, match=text):
            loader.load(path, BEHAVIOURS, PROFILES)
