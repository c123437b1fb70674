"""Decides what a model folder says of its model: how it splits over ranks and whether its cache can be trimmed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from locust_agents.cluster.options import model_classes
from locust_agents.errors import ClusterError

_LAYERS = ("num_hidden_layers", "num_layers", "n_layers", "n_layer")
_WINDOW = ("sliding_window", "sliding_window_size", "attention_window_size", "loop_window_size", "window_size")
_STATE_HEADS = ("linear_num_key_heads", "linear_num_value_heads", "o_groups")
_FULL_ATTENTION = ("full_attention", "attention")

Config = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Share:
    """A count of config.json that the ranks share out; `repeats` where each of few may go to several ranks instead."""

    key: str
    count: int
    repeats: bool = False

    def fits(self, ranks: int) -> bool:
        """Tell whether every rank gets the same."""
        return self.count % ranks == 0 or (self.repeats and ranks % self.count == 0)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model as its folder describes it; None is unknown, and so is what mlx-lm's table lacks (`model_classes`).

    `trimmable` is False for a hybrid model and for one with a sliding window, whose cache cannot go back to an earlier
    token once the prompt is longer than the window. `sliding_window` is in tokens, None where no layer keeps to one
    (of a hybrid it is not looked for).
    `indexed`: the folder has the list of which file holds which weight, as pipeline needs.
    """

    model_type: str | None
    weight_bytes: int
    heads: int | None = None
    kv_heads: int | None = None
    layers: int | None = None
    hidden_size: int | None = None
    quantization_bits: int | None = None
    sliding_window: int | None = None
    trimmable: bool | None = None
    has_pipeline: bool | None = None
    has_tensor: bool | None = None
    shares: tuple[Share, ...] = ()
    indexed: bool = True


def read(folder: Path) -> ModelFacts | None:
    """Read config.json and the sizes of the weights; None where the folder is not on this machine or has no config.

    Raises ClusterError where config.json cannot be read or is no JSON object.
    """
    path = folder / "config.json"
    if not path.is_file():
        return None
    return _facts(folder, _config(path))


def _config(path: Path) -> Config:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ClusterError(f"{path} cannot be read ({error.strerror}): make it readable for this user") from error
    except ValueError as error:  # no JSON, or no text at all
        raise ClusterError(f"{path} is not JSON ({error}): copy the model folder again") from error
    if not isinstance(config, dict):
        raise ClusterError(f"{path} is not a JSON object: copy the model folder again")
    return config


def _facts(folder: Path, config: Config) -> ModelFacts:
    kind, text = _class_name(config), _text_config(config)
    known = kind in model_classes.KNOWN
    trimmable = _trimmable(kind, text) if known else None
    has_window = kind in model_classes.WINDOWED and not trimmable
    return ModelFacts(
        model_type=_text(config, "model_type"),
        weight_bytes=_weight_bytes(folder),
        heads=_count(text, "num_attention_heads", "n_head"),
        kv_heads=_count(text, "num_key_value_heads"),
        layers=_count(text, *_LAYERS),
        hidden_size=_count(text, "hidden_size", "n_embd"),
        quantization_bits=_bits(config),
        sliding_window=_count(text, *_WINDOW) if has_window or not known else None,
        trimmable=trimmable,
        has_pipeline=kind in model_classes.PIPELINE if known else None,
        has_tensor=kind in model_classes.TENSOR if known else None,
        shares=tuple(_shares(kind, text)),
        indexed=(folder / "model.safetensors.index.json").is_file(),
    )


def _weight_bytes(folder: Path) -> int:
    """The files that mlx-lm loads; a link whose file is gone counts nothing."""
    return sum(file.stat().st_size for file in folder.glob("model*.safetensors") if file.is_file())


def _class_name(config: Config) -> str | None:
    """The module of mlx-lm that loads the model; None where the model brings Python code of its own."""
    kind, architectures = _text(config, "model_type"), config.get("architectures")
    if kind is None or config.get("model_file") is not None:
        return None
    for architecture in architectures if isinstance(architectures, list) else [architectures]:
        renamed = model_classes.RENAMED_BY_ARCHITECTURE.get((kind, str(architecture)))
        if renamed is not None:
            return renamed
    return model_classes.RENAMED.get(kind, kind)


def _text_config(config: Config) -> Config:
    """The part that describes the language model, which models that also see keep inside."""
    inner = config.get("text_config")
    return {**config, **inner} if isinstance(inner, dict) else config


def _trimmable(kind: str | None, config: Config) -> bool:
    if kind not in model_classes.HYBRID | model_classes.WINDOWED:
        return True
    layers = config.get("layer_types")
    if isinstance(layers, list) and layers:
        return all(layer in _FULL_ATTENTION for layer in layers)
    return kind in model_classes.FULL_BY_DEFAULT


def _shares(kind: str | None, config: Config) -> Iterator[Share]:
    """What tensor parallelism must split evenly; of a class that is not known, the attention heads only."""
    keys = ["num_attention_heads", *_STATE_HEADS]
    if kind in model_classes.TENSOR - model_classes.SPLITS_NO_KV_HEADS:
        keys.insert(1, "num_key_value_heads")
    for key in keys:
        count = _count(config, key)
        if count is not None:
            yield Share(key, count, key == "num_key_value_heads" and kind in model_classes.REPEATS_KV_HEADS)


def _bits(config: Config) -> int | None:
    for key in ("quantization", "quantization_config"):
        found = config.get(key)
        if isinstance(found, dict) and (bits := _count(cast(Config, found), "bits")):
            return bits
    return None


def _text(config: Config, key: str) -> str | None:
    value = config.get(key)
    return value if isinstance(value, str) else None


def _count(config: Config, *keys: str) -> int | None:
    """The first of the keys that holds a whole number above 0."""
    values = (config.get(key) for key in keys)
    return next((value for value in values if type(value) is int and value > 0), None)
