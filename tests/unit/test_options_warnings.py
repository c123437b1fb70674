"""Settings that are allowed and will hurt: the sentence for each, and where it is not said."""

from collections.abc import Mapping

import pytest

from locust_agents.cluster.options.cache_entries import entries_needed
from locust_agents.cluster.options.checks import check
from locust_agents.cluster.options.known import Scalar
from locust_agents.cluster.options.model_facts import ModelFacts
from locust_agents.cluster.situation import Findings, Situation

PLAIN = ModelFacts("qwen3", 1, trimmable=True, has_pipeline=False, has_tensor=True)
HYBRID = ModelFacts("qwen3_5", 1, trimmable=False, has_pipeline=True, has_tensor=True)

PUBLIC, PRIVATE = "93.184.216.34", "192.168.1.20"
AWAY = Situation(is_local=False, rank_0_address=PRIVATE)

ROWS: list[tuple[Mapping[str, Scalar], Situation, str, str]] = [
    (
        {"kv-bits": 8},
        Situation(ranks=2),
        "server.options.kv-bits: it turns batching off, so agents are served one at a time, and one that leaves in"
        " mid-answer hangs the server for good; remove it unless memory forbids",
        "several ranks",
    ),
    (
        {"kv-bits": 4},
        Situation(),
        "server.options.kv-bits: it turns batching off, so agents are served one at a time; remove it unless memory"
        " forbids",
        "one rank does not hang",
    ),
    (
        {"host": "0.0.0.0"},
        Situation(rank_0_address=PUBLIC),
        "server.options.host: anybody who reaches the public address 93.184.216.34 can use the server, which asks for"
        " no password; set host to a private address of that machine",
        "everywhere, on a machine of the internet",
    ),
    (
        {"host": "2606:2800:220:1::1"},
        Situation(),
        "server.options.host: anybody who reaches the public address 2606:2800:220:1::1 can use the server, which asks"
        " for no password; set host to a private address of that machine",
        "the public address itself",
    ),
    (
        {},
        AWAY,
        "server.options.host: rank 0 would listen on 127.0.0.1 alone, where agents on another machine cannot reach it;"
        " set host: 192.168.1.20",
        "the server's default",
    ),
    (
        {"host": "localhost"},
        Situation(is_local=False, rank_0_address="mac1.local"),
        "server.options.host: rank 0 would listen on localhost alone, where agents on another machine cannot reach it;"
        " set host: 0.0.0.0",
        "a name cannot be listened on by rule",
    ),
    (
        {},
        Situation(is_local=False, rank_0_address=PUBLIC),
        "server.options.host: rank 0 would listen on 127.0.0.1 alone, where agents on another machine cannot reach it;"
        " set host to a private address of that machine",
        "a public address is no advice",
    ),
    (
        {"prompt-cache-size": 4},
        Situation(histories=8, model=PLAIN),
        "server.options.prompt-cache-size: 4 entries do not hold 8 histories (one for each history and each start), so"
        " turns read their whole prompt again; set prompt-cache-size: 9 or more",
        "the swarm that lost a quarter of its reuse",
    ),
    (
        {},
        Situation(histories=6, model=HYBRID),
        "server.options.prompt-cache-size: 10 entries do not hold 6 histories (two for each history, as this model's"
        " cache cannot be trimmed), so turns read their whole prompt again; set prompt-cache-size: 12 or more",
        "the sixth agent of a hybrid, on the server's default",
    ),
    (
        {},
        Situation(histories=12),
        "server.options.prompt-cache-size: 10 entries do not hold 12 histories (one for each history and each start),"
        " so turns read their whole prompt again; set prompt-cache-size: 13 or more",
        "an unknown model needs no fewer",
    ),
    (
        {},
        Situation(max_tokens={"opencode": 8192, "cline": None, "pi": None}),
        "server.options.max-tokens: requests of cline and pi name no limit, so the server cuts each answer after 512"
        " tokens; set max-tokens to the longest answer that is wanted",
        "two of three profiles are silent",
    ),
    (
        {"log-level": "WARNING"},
        Situation(),
        "server.options.log-level: progress and cache sizes are read from rank 0's INFO lines; set log-level: INFO",
        "a log that says nothing",
    ),
    (
        {"pipeline": True},
        Situation(),
        "server.options.pipeline: one rank has nobody to share layers with; remove it or use more ranks",
        "one rank",
    ),
    (
        {},
        Situation(model=ModelFacts("qwen9", 1)),
        "server.launch.model: model type 'qwen9' is not among those of mlx-lm 0.32.2, so its split over ranks and its"
        " cache were not checked; make sure that the mlx-lm of every rank loads it",
        "a model newer than the table",
    ),
]
FINE: list[tuple[Mapping[str, Scalar], Situation, str]] = [
    ({}, Situation(histories=8, model=PLAIN), "eight agents on the default"),
    ({}, Situation(histories=5, model=HYBRID), "five agents of a hybrid on the default"),
    ({"prompt-cache-size": 0}, Situation(histories=8), "who wants no cache says 0"),
    ({"prompt-cache-size": 20}, Situation(histories=5, starts=2, model=HYBRID), "the quickstart's"),
    ({"host": "0.0.0.0"}, AWAY, "everywhere, in a private network"),
    ({"host": "0.0.0.0"}, Situation(rank_0_address="100.100.1.1"), "the shared range that private networks use"),
    ({"host": "0.0.0.0"}, Situation(rank_0_address="mac1.local"), "a name says nothing without the network"),
    ({"host": PRIVATE}, AWAY, "the address itself"),
    ({"max-tokens": 4096}, Situation(max_tokens={"pi": None}), "the server's limit is chosen"),
    ({}, Situation(max_tokens={"opencode": 8192}), "every request says its own"),
    ({"log-level": "DEBUG"}, Situation(), "more than enough is logged"),
]


@pytest.mark.parametrize(("options", "situation", "text", "remark"), ROWS)
def test_one_warning(options: Mapping[str, Scalar], situation: Situation, text: str, remark: str) -> None:
    assert check(options, situation) == Findings(warnings=(text,)), remark


@pytest.mark.parametrize(("options", "situation", "remark"), FINE)
def test_nothing_to_warn_of(options: Mapping[str, Scalar], situation: Situation, remark: str) -> None:
    assert check(options, situation) == Findings(), remark


@pytest.mark.parametrize(
    ("histories", "starts", "trimmable", "needed", "remark"),
    [
        (8, 1, True, 9, "8 agents fit into the default of 10"),
        (10, 1, True, 11, "10 agents leave no room for a new session"),
        (8, 1, None, 9, "unknown counts as trimmable"),
        (5, 1, False, 10, "5 agents fill the default of 10"),
        (6, 1, False, 12, "6 do not fit"),
        (6, 3, False, 14, "each start but the first takes one more"),
    ],
)
def test_entries_needed(histories: int, starts: int, trimmable: bool | None, needed: int, remark: str) -> None:
    assert entries_needed(histories, starts, trimmable) == needed, remark
