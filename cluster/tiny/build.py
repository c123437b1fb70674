"""Decides how a tiny model is made from its recipe; run as a process of its own, `-m … VARIANT FOLDER`."""

import importlib
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mlx.core as mx  # noqa: TID251 - this module is a process of its own
from mlx.utils import tree_flatten  # noqa: TID251

from locust_agents.cluster.tiny import recipe as recipe
from locust_agents.cluster.tiny.template import CHAT_TEMPLATE
from locust_agents.cluster.tiny.words import successors, train_tokenizer

_SHARPNESS = 10.0  # logits of the next token over all others: about 50, certain at any usual temperature
_RESIDUAL = 0.001  # scale of what the layers add: too small to change which token comes next
_RESIDUAL_WEIGHTS = ("o_proj.weight", "down_proj.weight", "out_proj.weight")


def weights(config: dict[str, Any], following: dict[int, int]) -> dict[str, mx.array]:
    """Random but seeded weights of which only embedding and head decide: a token's logits point to its successor."""
    architecture = importlib.import_module(f"mlx_lm.models.{config['model_type']}")
    mx.random.seed(recipe.SEED)
    model = architecture.Model(architecture.ModelArgs.from_dict(config))
    tensors = dict(tree_flatten(model.parameters()))
    embedding, head = (next(k for k in tensors if k.endswith(end)) for end in ("embed_tokens.weight", "lm_head.weight"))
    directions = mx.random.normal(tensors[embedding].shape)
    tensors[embedding] = directions / mx.linalg.norm(directions, axis=1, keepdims=True)
    source, target = mx.array(list(following)), mx.array(list(following.values()))
    tensors[head] = mx.zeros_like(directions).at[target].add(tensors[embedding][source] * _SHARPNESS)
    return {k: v * _RESIDUAL if k.endswith(_RESIDUAL_WEIGHTS) else v for k, v in tensors.items()}


def build(variant: str, folder: Path) -> None:
    """Writes the model's files into an existing folder, `config.json` last."""
    tokenizer = train_tokenizer()
    end = tokenizer.token_to_id(recipe.END_OF_TURN)
    config = {**recipe.config(variant), "eos_token_id": end}
    tensors = weights(config, successors(tokenizer, variant))
    tokenizer.save(str(folder / "tokenizer.json"))
    mx.save_safetensors(str(folder / "model.safetensors"), tensors, metadata={"format": "mlx"})
    index = {"metadata": {}, "weight_map": dict.fromkeys(tensors, "model.safetensors")}
    _write(folder / "model.safetensors.index.json", index)
    _write(folder / "tokenizer_config.json", _tokenizer_config())
    _write(folder / "config.json", config)


def _tokenizer_config() -> dict[str, Any]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": recipe.END_OF_TURN,
        "pad_token": recipe.SPECIAL_TOKENS[0],
        "chat_template": CHAT_TEMPLATE,
        "tool_parser_type": "json_tools",
        "model_max_length": recipe.CONTEXT,
        "clean_up_tokenization_spaces": False,
    }


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def _end_with_parent() -> None:
    # the parent holds the other end of our stdin: it closes when the parent goes, however it goes
    while os.read(0, 1):  # not sys.stdin: its lock would be held at our own exit
        pass
    os._exit(1)


def main(argv: Sequence[str]) -> None:
    """Builds VARIANT into FOLDER, and ends at once when stdin closes."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    mx.set_default_device(mx.cpu)  # the same bytes with and without a GPU
    build(argv[0], Path(argv[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
