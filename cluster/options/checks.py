"""Decides whether a server may be started with its options in this situation, and what is unwise about them."""

from collections.abc import Iterator, Mapping

from locust_agents.cluster.options import model_split
from locust_agents.cluster.options import warnings as option_warnings
from locust_agents.cluster.options.known import Scalar
from locust_agents.cluster.options.model_classes import MLX_LM
from locust_agents.cluster.options.values import mistake
from locust_agents.cluster.situation import Findings, Situation

_OURS = {"model": "server.launch.model", "port": "server.port"}
_ONE_RANK_ONLY = {
    "adapter-path": "mlx_lm.server loads no adapter on more than one rank; fuse it with mlx_lm.fuse or use one rank",
    "draft-model": "mlx_lm.server takes no draft model on more than one rank; remove it or use one rank",
}


def check(options: Mapping[str, Scalar], situation: Situation) -> Findings:
    """Look at each option, then at all together and at the model; what is refused is not warned of as well.

    Each sentence begins with the scenario's key and a colon.
    """
    wrong = {name: text for name, value in options.items() if (text := _error(name, value, situation))}
    good = {name: value for name, value in options.items() if name not in wrong}
    errors = (*(f"server.options.{name}: {text}" for name, text in wrong.items()), *_of_model(good, situation))
    refused = {_key(text) for text in errors}
    warnings = (text for text in option_warnings.warnings(good, situation) if _key(text) not in refused)
    return Findings(errors, tuple(warnings))


def _key(text: str) -> str:
    return text.partition(":")[0]


def _error(name: str, value: Scalar, situation: Situation) -> str | None:
    if name in _OURS:
        return f"the run itself sets it; write it as {_OURS[name]}"
    if name in _ONE_RANK_ONLY and situation.ranks > 1 and value is not None:
        return _ONE_RANK_ONLY[name]
    return mistake(name, value)


def _of_model(options: Mapping[str, Scalar], situation: Situation) -> Iterator[str]:
    model = situation.model
    if model is None:
        return
    yield from model_split.errors(model, situation.ranks, situation.pipeline_key(options))
    # RotatingKVCache.to_quantized of mlx-lm 0.32.2 raises NotImplementedError
    if options.get("kv-bits") is not None and model.trimmable is False and model.sliding_window is not None:
        yield (
            f"server.options.kv-bits: mlx-lm {MLX_LM} cannot shrink the cache of a sliding window, which models of type"
            f" '{model.model_type}' have, and every long request would fail; remove it"
        )
