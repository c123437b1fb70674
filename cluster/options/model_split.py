"""Decides whether a model can be given to that many ranks, as mlx-lm would split it."""

from collections.abc import Iterator

from locust_agents.cluster.options.model_classes import MLX_LM
from locust_agents.cluster.options.model_facts import ModelFacts

_RANKS = "server.launch.ranks"


def errors(model: ModelFacts, ranks: int, pipeline: str | None) -> Iterator[str]:
    """Yield what mlx-lm would fail on at start; a single rank always does.

    `pipeline` is the key that asks for whole layers on each rank, None where each layer is split.
    """
    if ranks > 1:
        yield from _tensor_errors(model, ranks) if pipeline is None else _pipeline_errors(model, ranks, pipeline)


def _pipeline_errors(model: ModelFacts, ranks: int, key: str) -> Iterator[str]:
    if model.has_pipeline is False:
        instead = "remove it, and each layer is split" if _splits(model, ranks) else "choose another model or one rank"
        yield f"{key}: mlx-lm {MLX_LM} has no pipeline for models of type '{model.model_type}'; {instead}"
        return
    if model.layers is not None and model.layers < ranks:
        yield f"{_RANKS}: {ranks} ranks are more than the model's {model.layers} layers; use {model.layers} or fewer"
    if not model.indexed:
        yield (
            f"{key}: the model folder has no model.safetensors.index.json, which tells each rank what to load;"
            " convert the model with mlx_lm.convert"
        )


def _tensor_errors(model: ModelFacts, ranks: int) -> Iterator[str]:
    if model.has_tensor is False:
        instead = "set pipeline: true" if model.has_pipeline else "use one rank or another model"
        yield f"{_RANKS}: mlx-lm {MLX_LM} cannot split the layers of models of type '{model.model_type}'; {instead}"
        return
    uneven = [f"{share.key} {share.count}" for share in model.shares if not share.fits(ranks)]
    if uneven:
        fitting = " or ".join(str(fewer) for fewer in range(1, ranks) if _splits(model, fewer))
        instead = ", or set pipeline: true" if model.has_pipeline else ""
        yield f"{_RANKS}: {ranks} ranks cannot share {' and '.join(uneven)} evenly; use {fitting}{instead}"


def _splits(model: ModelFacts, ranks: int) -> bool:
    return model.has_tensor is not False and all(share.fits(ranks) for share in model.shares)
