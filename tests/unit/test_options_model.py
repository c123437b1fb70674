"""What a model folder says of its model, from its config.json and the sizes of its files."""

import json
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.options.model_facts import ModelFacts, Share, read
from locust_agents.errors import ClusterError

HEADS = {"num_attention_heads": 32, "num_key_value_heads": 8}
SLIDING = ["sliding_attention", "full_attention"]


def folder(path: Path, config: dict[str, Any]) -> Path:
    (path / "config.json").write_text(json.dumps(config))
    return path


def facts(path: Path, config: dict[str, Any]) -> ModelFacts:
    found = read(folder(path, config))
    assert found is not None
    return found


def test_a_whole_folder(tmp_path: Path) -> None:
    sizes = {"num_hidden_layers": 36, "hidden_size": 4096, "quantization": {"group_size": 64, "bits": 4}}
    for name, size in (("model-1.safetensors", 700), ("model-2.safetensors", 300), ("consolidated.safetensors", 999)):
        (tmp_path / name).write_bytes(bytes(size))
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    assert facts(tmp_path, {"model_type": "qwen3", **HEADS, **sizes}) == ModelFacts(
        model_type="qwen3",
        weight_bytes=1000,
        heads=32,
        kv_heads=8,
        layers=36,
        hidden_size=4096,
        quantization_bits=4,
        sliding_window=None,
        trimmable=True,
        has_pipeline=False,
        has_tensor=True,
        shares=(Share("num_attention_heads", 32), Share("num_key_value_heads", 8)),
        indexed=True,
    )


def test_an_almost_empty_folder(tmp_path: Path) -> None:
    assert facts(tmp_path, {}) == ModelFacts(None, weight_bytes=0, indexed=False)


def test_a_weight_whose_link_is_broken_counts_nothing(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").symlink_to(tmp_path / "gone")
    assert facts(tmp_path, {}).weight_bytes == 0


@pytest.mark.parametrize(
    ("config", "trimmable", "pipeline", "tensor", "remark"),
    [
        ({"model_type": "qwen3"}, True, False, True, "plain attention"),
        ({"model_type": "qwen3_moe"}, True, True, True, "both ways over ranks"),
        ({"model_type": "qwen3_5"}, False, True, True, "a hybrid"),
        ({"model_type": "qwen3_next"}, False, True, False, "a hybrid that only pipelines"),
        ({"model_type": "gemma2"}, True, False, False, "one rank only"),
        ({"model_type": "mistral"}, True, False, True, "loaded as llama"),
        ({"model_type": "llama", "sliding_window": 4096}, True, False, True, "a window that no layer uses"),
        ({"model_type": "llama", "layer_types": SLIDING}, False, False, True, "layers with a window"),
        ({"model_type": "gpt_oss"}, False, False, True, "a window by default"),
        ({"model_type": "gpt_oss", "layer_types": []}, False, False, True, "no layers named"),
        ({"model_type": "exaone4", "layer_types": ["full_attention"]}, True, False, False, "all layers full"),
        ({"model_type": "granitemoehybrid", "layer_types": ["attention"]}, True, False, False, "a hybrid of one kind"),
        (
            {"model_type": "bailing_hybrid", "architectures": ["BailingMoeV3ForCausalLM"]},
            False,
            False,
            False,
            "the architecture names another class, which has no pipeline",
        ),
        ({"model_type": "bailing_hybrid"}, False, True, False, "the class of its own name"),
        ({"model_type": "qwen9"}, None, None, None, "newer than the table"),
        ({"model_type": "qwen3", "model_file": "m.py"}, None, None, None, "Python code of its own"),
        ({"model_type": 7}, None, None, None, "no text"),
    ],
)
def test_class(
    tmp_path: Path,
    config: dict[str, Any],
    trimmable: bool | None,
    pipeline: bool | None,
    tensor: bool | None,
    remark: str,
) -> None:
    found = facts(tmp_path, config)
    assert (found.trimmable, found.has_pipeline, found.has_tensor) == (trimmable, pipeline, tensor), remark


@pytest.mark.parametrize(
    ("config", "window", "remark"),
    [
        ({"model_type": "gpt_oss", "sliding_window": 128}, 128, "layers keep to it"),
        ({"model_type": "mimo_v2_flash", "sliding_window_size": 512}, 512, "under another name"),
        ({"model_type": "qwen2", "sliding_window": 32768}, None, "mlx-lm's qwen2 ignores it"),
        ({"model_type": "gpt_oss", "sliding_window": None}, None, "null"),
        ({"model_type": "llama", "sliding_window": 4096}, None, "no layer is of that kind"),
        ({"model_type": "plamo2", "attention_window_size": 2048}, None, "a hybrid whose attention is full in mlx-lm"),
        ({"model_type": "qwen9", "sliding_window": 4096}, 4096, "a class that is not known: what it says"),
    ],
)
def test_window(tmp_path: Path, config: dict[str, Any], window: int | None, remark: str) -> None:
    assert facts(tmp_path, config).sliding_window == window, remark


def test_the_text_model_inside_a_model_that_sees(tmp_path: Path) -> None:
    inner = {"num_hidden_layers": 64, "hidden_size": 5120, "linear_num_key_heads": 16, **HEADS}
    found = facts(tmp_path, {"model_type": "qwen3_5", "hidden_size": 1, "text_config": inner})
    assert (found.model_type, found.layers, found.hidden_size) == ("qwen3_5", 64, 5120)
    assert found.shares == (
        Share("num_attention_heads", 32),
        Share("num_key_value_heads", 8, repeats=True),
        Share("linear_num_key_heads", 16),
    )


@pytest.mark.parametrize(
    ("config", "keys", "remark"),
    [
        ({"model_type": "deepseek_v3", **HEADS}, ["num_attention_heads"], "latent attention splits no key-value heads"),
        ({"model_type": "qwen9", **HEADS}, ["num_attention_heads"], "a class that is not known may repeat them"),
        ({"model_type": "llama", "num_attention_heads": "32"}, [], "no number"),
        ({"model_type": "llama", "num_attention_heads": 0}, [], "none"),
    ],
)
def test_what_the_ranks_share(tmp_path: Path, config: dict[str, Any], keys: list[str], remark: str) -> None:
    assert [share.key for share in facts(tmp_path, config).shares] == keys, remark


@pytest.mark.parametrize(
    ("share", "ranks", "fits", "remark"),
    [
        (Share("heads", 8), 4, True, "two each"),
        (Share("heads", 8), 3, False, "not even"),
        (Share("heads", 2), 4, False, "fewer than ranks"),
        (Share("heads", 2, repeats=True), 4, True, "each on two ranks"),
        (Share("heads", 2, repeats=True), 3, False, "not even when repeated"),
    ],
)
def test_fits(share: Share, ranks: int, fits: bool, remark: str) -> None:
    assert share.fits(ranks) is fits, remark


@pytest.mark.parametrize("remark", ["no folder", "no config"])
def test_nothing_here(tmp_path: Path, remark: str) -> None:
    assert read(tmp_path / "gone" if remark == "no folder" else tmp_path) is None


@pytest.mark.parametrize(
    ("content", "text", "remark"),
    [
        (b"{", "is not JSON (Expecting property name", "cut off"),
        (b"\xff\xfe", "is not JSON ('utf-8' codec can't decode", "no text"),
        (b"[]", "is not a JSON object: copy the model folder again", "a list"),
    ],
)
def test_broken_config(tmp_path: Path, content: bytes, text: str, remark: str) -> None:
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ClusterError) as raised:
        read(tmp_path)
    assert str(raised.value).startswith(f"{tmp_path / 'config.json'} {text}"), remark
    assert str(raised.value).endswith("copy the model folder again"), remark


def test_a_config_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(ClusterError, match=r"config.json cannot be read \(Permission denied\): make it readable"):
        read(folder(tmp_path, {}))
