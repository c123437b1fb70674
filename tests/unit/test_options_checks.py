"""All options together with the run around them: what forbids a start, and the sentence for each."""

from collections.abc import Mapping

import pytest

from locust_agents.cluster.options.checks import check
from locust_agents.cluster.options.known import Scalar
from locust_agents.cluster.options.model_facts import ModelFacts, Share
from locust_agents.cluster.situation import Findings, Situation

QWEN3 = ModelFacts(
    "qwen3",
    weight_bytes=1,
    layers=4,
    trimmable=True,
    has_pipeline=False,
    has_tensor=True,
    shares=(Share("num_attention_heads", 32), Share("num_key_value_heads", 8)),
)
HYBRID = ModelFacts(
    "qwen3_5",
    weight_bytes=1,
    layers=2,
    trimmable=False,
    has_pipeline=True,
    has_tensor=True,
    shares=(Share("num_attention_heads", 16), Share("num_key_value_heads", 2, repeats=True)),
)
PIPELINE_ONLY = ModelFacts("qwen3_next", 1, layers=48, trimmable=False, has_pipeline=True, has_tensor=False)
WHOLE_ONLY = ModelFacts("gemma2", 1, trimmable=True, has_pipeline=False, has_tensor=False)
ODD = ModelFacts("llama", 1, trimmable=True, has_pipeline=False, has_tensor=True, shares=(Share("heads", 14),))
WINDOW = ModelFacts("gpt_oss", 1, sliding_window=128, trimmable=False, has_pipeline=False, has_tensor=True)
BARE = ModelFacts("qwen3_moe", 1, layers=48, trimmable=True, has_pipeline=True, has_tensor=True, indexed=False)

TWO, FOUR = Situation(ranks=2), Situation(ranks=4)

ROWS: list[tuple[Mapping[str, Scalar], Situation, str, str]] = [
    ({"model": "x"}, TWO, "server.options.model: the run itself sets it; write it as server.launch.model", "ours"),
    ({"port": 8080}, TWO, "server.options.port: the run itself sets it; write it as server.port", "ours"),
    (
        {"top-p": "high"},
        TWO,
        "server.options.top-p: expected a number, got 'high'",
        "one that is wrong by itself",
    ),
    (
        {"adapter-path": "lora"},
        TWO,
        "server.options.adapter-path: mlx_lm.server loads no adapter on more than one rank; fuse it with mlx_lm.fuse or"
        " use one rank",
        "an adapter",
    ),
    (
        {"draft-model": "small"},
        TWO,
        "server.options.draft-model: mlx_lm.server takes no draft model on more than one rank; remove it or use one"
        " rank",
        "a draft model",
    ),
    (
        {"pipeline": True},
        Situation(ranks=2, model=QWEN3),
        "server.options.pipeline: mlx-lm 0.32.2 has no pipeline for models of type 'qwen3'; remove it, and each layer"
        " is split",
        "no pipeline, as an option",
    ),
    (
        {},
        Situation(ranks=3, model=QWEN3, pipeline=True),
        "server.launch.pipeline: mlx-lm 0.32.2 has no pipeline for models of type 'qwen3'; choose another model or one"
        " rank",
        "no pipeline, asked for by the launch, and heads that would not split either",
    ),
    (
        {"pipeline": True},
        Situation(ranks=4, model=HYBRID),
        "server.launch.ranks: 4 ranks are more than the model's 2 layers; use 2 or fewer",
        "a rank without a layer",
    ),
    (
        {"pipeline": True},
        Situation(ranks=4, model=BARE),
        "server.options.pipeline: the model folder has no model.safetensors.index.json, which tells each rank what to"
        " load; convert the model with mlx_lm.convert",
        "weights in one file, as the hub has small models",
    ),
    (
        {},
        Situation(ranks=3, model=QWEN3),
        "server.launch.ranks: 3 ranks cannot share num_attention_heads 32 and num_key_value_heads 8 evenly; use 1 or 2",
        "three Macs",
    ),
    (
        {},
        Situation(ranks=16, model=QWEN3),
        "server.launch.ranks: 16 ranks cannot share num_key_value_heads 8 evenly; use 1 or 2 or 4 or 8",
        "more ranks than key-value heads",
    ),
    (
        {},
        Situation(ranks=3, model=HYBRID),
        "server.launch.ranks: 3 ranks cannot share num_attention_heads 16 and num_key_value_heads 2 evenly; use 1 or 2,"
        " or set pipeline: true",
        "where pipeline would do",
    ),
    (
        {},
        Situation(ranks=2, model=PIPELINE_ONLY),
        "server.launch.ranks: mlx-lm 0.32.2 cannot split the layers of models of type 'qwen3_next'; set pipeline: true",
        "only as a pipeline",
    ),
    (
        {},
        Situation(ranks=2, model=WHOLE_ONLY),
        "server.launch.ranks: mlx-lm 0.32.2 cannot split the layers of models of type 'gemma2'; use one rank or another"
        " model",
        "neither way",
    ),
    (
        {"kv-bits": 8},
        Situation(ranks=2, model=WINDOW),
        "server.options.kv-bits: mlx-lm 0.32.2 cannot shrink the cache of a sliding window, which models of type"
        " 'gpt_oss' have, and every long request would fail; remove it",
        "a cache that cannot be quantized; no warning besides",
    ),
]

FINE: list[tuple[Mapping[str, Scalar], Situation, str]] = [
    ({}, Situation(), "nothing said"),
    ({"adapter-path": "lora", "draft-model": "small"}, Situation(ranks=1), "one rank takes both"),
    ({"adapter-path": None}, TWO, "left out"),
    ({"pipeline": True}, FOUR, "the model lies elsewhere, so nothing is known"),
    ({"pipeline": True}, Situation(ranks=2, model=HYBRID), "a class that has it"),
    ({}, Situation(ranks=4, model=HYBRID), "two key-value heads are repeated on four ranks"),
    ({}, Situation(ranks=1, model=WHOLE_ONLY), "one rank takes any class"),
    ({}, Situation(ranks=2, model=ODD), "fourteen heads, two ranks"),
    ({"kv-group-size": 32}, Situation(ranks=2, model=WINDOW), "without kv-bits it means nothing"),
]


@pytest.mark.parametrize(("options", "situation", "text", "remark"), ROWS)
def test_one_error(options: Mapping[str, Scalar], situation: Situation, text: str, remark: str) -> None:
    assert check(options, situation) == Findings(errors=(text,)), remark


@pytest.mark.parametrize(("options", "situation", "remark"), FINE)
def test_nothing_to_say(options: Mapping[str, Scalar], situation: Situation, remark: str) -> None:
    assert check(options, situation) == Findings(), remark


def test_all_errors_at_once_in_the_order_of_the_options() -> None:
    options: dict[str, Scalar] = {"prompt-cache-sise": 20, "temp": "hot", "host": "0.0.0.0", "draft-model": "small"}
    keys = [text.split(":")[0] for text in check(options, Situation(ranks=3, model=QWEN3)).errors]
    wrong = ["prompt-cache-sise", "temp", "draft-model"]
    assert keys == [*(f"server.options.{name}" for name in wrong), "server.launch.ranks"]


def test_what_is_refused_is_not_warned_of() -> None:
    found = check({"prompt-cache-size": "four"}, Situation(histories=50))
    assert found.errors == ("server.options.prompt-cache-size: expected a whole number, got 'four'",)
    assert found.warnings == ()
