"""The schema that gives an editor completion: current, complete, and of one mind with the loader."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from locust_agents.cluster import byte_sizes
from locust_agents.plugins import registry
from locust_agents.scenarios import key_help, loader, rates, schema, schema_units, units
from locust_agents.scenarios.model import Scenario

FILE = Path(schema.__file__).with_name(schema.FILE)
SCHEMA: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def problems(value: object, rule: dict[str, Any], at: str = "") -> Iterator[str]:
    """What a validator of JSON Schema would say, for the words that this schema uses; any other word is an error."""
    for word, wanted in rule.items():
        yield from WORDS[word](value, wanted, rule, at)


def of_type(value: object, wanted: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    names = [wanted] if isinstance(wanted, str) else wanted
    kinds = tuple(kind for name in names for kind in TYPES[name])
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        yield f"{at}: {value!r} is no {wanted}"


def one_of(value: object, wanted: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    if not any(not list(problems(value, way, at)) for way in wanted):
        yield f"{at}: {value!r} fits none"


def all_of(value: object, wanted: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    for each in wanted:
        yield from problems(value, each, at)


def pointed(value: object, wanted: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    assert set(rule) == {"$ref"}, f"{at}: what stands beside a pointer is not looked at"
    yield from problems(value, SCHEMA["$defs"][wanted.removeprefix("#/$defs/")], at)


def matched(value: object, wanted: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    if isinstance(value, str) and not re.search(wanted, value):
        yield f"{at}: {value!r} does not match"


def keys(value: object, wanted: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    for key, below in value.items() if isinstance(value, dict) else ():
        fitting = [rule.get("properties", {})[key]] if key in rule.get("properties", {}) else []
        fitting += [each for pattern, each in rule.get("patternProperties", {}).items() if re.search(pattern, key)]
        for each in fitting or [wanted]:
            if each is False:
                yield f"{at}.{key}: unknown"
            elif each is not True:
                yield from problems(below, each, f"{at}.{key}")


def items(value: object, wanted: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    for number, each in enumerate(value) if isinstance(value, list) else ():
        yield from problems(each, wanted, f"{at}[{number}]")


def said(is_wrong: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Any, str], Iterator[str]]:
    return lambda value, wanted, _rule, at: iter([f"{at}: {value!r}, {wanted}"] if is_wrong(value, wanted) else [])


def nothing(value: object, wanted: Any, rule: dict[str, Any], at: str) -> Iterator[str]:
    return iter(())


WORDS: dict[str, Callable[[Any, Any, Any, str], Iterator[str]]] = {
    "type": of_type,
    "anyOf": one_of,
    "allOf": all_of,
    "$ref": pointed,
    "pattern": matched,
    "additionalProperties": keys,
    "items": items,
    "enum": said(lambda value, wanted: value not in wanted),
    "minimum": said(lambda value, wanted: isinstance(value, int | float) and value < wanted),
    "minItems": said(lambda value, wanted: isinstance(value, list) and len(value) < wanted),
    "minLength": said(lambda value, wanted: isinstance(value, str) and len(value) < wanted),
    "required": said(lambda value, wanted: isinstance(value, dict) and not value.keys() >= set(wanted)),
    **dict.fromkeys(
        ("$schema", "$defs", "title", "description", "default", "examples", "properties", "patternProperties"), nothing
    ),
}


def test_it_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == schema.text(), (
        "python -m locust_agents.scenarios.schema > scenarios/scenario.schema.json brings it up to date"
    )


def test_its_module_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert schema.main() == 0
    assert capsys.readouterr().out == schema.text()


def test_every_key_is_described_and_nothing_else_is() -> None:
    made = Scenario.model_json_schema(by_alias=True)
    sections = {"Scenario": made, **made["$defs"]}
    there = {f"{name}.{key}" for name, body in sections.items() if name != "Limit" for key in body["properties"]}
    assert set(key_help.KEY_HELP) == there | {"Scenario.extends"}
    assert all(text[-1] != "." and "\n" not in text for text in key_help.KEY_HELP.values())


@pytest.mark.parametrize("path", loader.shipped().values(), ids=lambda path: path.stem)
def test_what_ships_names_it_and_fits(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# yaml-language-server: $schema={schema.FILE}\n")
    assert list(problems(yaml.safe_load(text), SCHEMA)) == []


def test_a_resolved_scenario_fits() -> None:
    scenario = loader.load(loader.find("quickstart"), registry.parameters(), registry.profiles())
    assert list(problems(yaml.safe_load(loader.dump(scenario)), SCHEMA)) == []


RIGHT = """\
extends: quickstart
plugins: mine.py
listeners: {one: {x: 1}}
server: {attach: 'http://mac1:8080'}
stages: [{for: 60s, fixers: 1}, {for: 1m 30s, fixers: '${N}', giant: 1}]
on_retire: ${RETIRE}
warm_up: 20 turns
arrival: {rate: 40/h, process: burst, burst: 4}
drain: cut
curve: off
seed: 64k
scale: 5%
prefix: head_hash
swarm: {fixers: {agents: 8, with: {reads: 64k, note: null}, arrival: 0.2/s}, giant: null}
limits: {fixers.later.ttft.p95: 20s, later.reuse: 95%, decode.min: 1.5k, failures: 0}
canary: {every: 20}
guard: {swap_growth: 1 GB, pressure: warn}
probe: mlx_lm_benchmark
duration: null
sweep: {server.options.prefill-step-size: [512, 1k], order: shuffled, seed: [1, 2]}
capacity: {over: swarm.fixers.agents, from: 1, to: 8}
"""
WRONG: list[tuple[str, str]] = [
    ("a key", "duraton: 3s"),
    ("a key of a section", "server: {launch: {rank: 2}}"),
    ("a choice", "replies: lives"),
    ("a number", "turns: many"),
    ("a duration", "duration: 3 weeks"),
    ("a share", "scale: 5 percent"),
    ("a size", "guard: {swap_growth: 1 elephant}"),
    ("a rate", "arrival: 2"),
    ("a warm-up", "warm_up: 3 sessions"),
    ("a switch", "identity: sure"),
    ("a stage without end", "stages: [{fixers: 1}]"),
    ("no stage", "stages: []"),
    ("a count of a stage", "stages: [{for: 9s, fixers: 1.5}]"),
    ("a metric", "limits: {later.tftt.p95: 3s}"),
    ("a statistic", "limits: {ttft.p96: 3s}"),
    ("a bound", "limits: {ttft.max: soon}"),
    ("an axis", "sweep: {swarm.a.agents: 4}"),
    ("a parameter that is a list", "swarm: {a: {with: {x: [1]}}}"),
]


def test_what_is_right_fits() -> None:
    assert list(problems(yaml.safe_load(RIGHT), SCHEMA)) == []


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in WRONG])
def test_what_is_wrong_does_not(text: str) -> None:
    assert list(problems(yaml.safe_load(text), SCHEMA)) != []


READERS: dict[str, Callable[[object], object]] = {
    "count": units.count,
    "number": units.number,
    "factor": units.factor,
    "duration": units.duration,
    "size": byte_sizes.size,
    "rate": rates.rate,
    "warm_up": rates.warm_up,
}
WRITTEN = [
    *("90s", "2m", "1m30s", "1h 2m 3s 4ms", "250ms", "90", "1.5", ".5s", "s", "", "1s1m", "5 m", "1e3s", "2w", "-3s"),
    *("64k", "64 k", "1.5k", "1.5", "8K", "3M", "3G", "20%", "5.5 %", "1k%", "%", "-1", "many"),
    *("1GB", "1 GB", "500MB", ".5GB", "3kb", "7B", "1GiB", "GB"),
    *("0.2/s", "12/min", "40/h", "3/ m", "1.5k/h", "/s", "4/day", "5/", "1e-3/s"),
    *("20 turns", "1 turn", "20turns", "1k turns", "2.5k turns", "turns", "20 turnss"),
    *(0, 3, 2.5, -1, True),
]  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_a_pattern_lets_through_what_its_reader_reads(name: str) -> None:
    for text in WRITTEN:
        try:
            READERS[name](text)
            is_right = True
        except ValueError as error:
            is_right = "must be more than 0" in str(error)
        fits = not list(problems(text, schema_units.DEFINITIONS[name]))
        assert fits == is_right, (name, text)
