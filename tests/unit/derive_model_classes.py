"""Reads the installed mlx-lm and prints, as JSON, what `cluster/model_classes.py` has to say of it.

A test runs it in a process of its own, since it imports mlx. Run by hand it shows what a new release changed.
"""

import ast
import importlib
import inspect
import json
import pkgutil
import textwrap
from collections.abc import Iterator
from typing import Any

import mlx_lm.models
from mlx_lm._version import __version__
from mlx_lm.utils import MODEL_ARCHITECTURE_REMAPPING, MODEL_REMAPPING

FULL_BY_DEFAULT = '["full_attention"] * self.num_hidden_layers'
SPLITS_KV = ("kv_heads //= N", "key_value_heads //= N")
REPEATS_KV = "repeat_kv"


def model_classes() -> Iterator[tuple[str, Any]]:
    for found in pkgutil.iter_modules(mlx_lm.models.__path__):
        if found.name == "olmo":  # it ends the process where the package that it needs is missing
            continue
        module = importlib.import_module(f"mlx_lm.models.{found.name}")
        if hasattr(module, "Model") and hasattr(module, "ModelArgs"):
            yield found.name, module.Model


def source(function: Any) -> str:
    return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function))))


def calls(function: Any) -> list[str]:
    tree = ast.parse(source(function))
    return [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def made_by(owner: Any, attribute: str) -> list[Any]:
    """The classes that `self.attribute` may be: from the constructor, or through a property that passes it on."""
    found = inspect.getattr_static(owner, attribute, None)
    if isinstance(found, property):
        first, second = source(found.fget).rpartition("return self.")[2].split(".")
        return [last for middle in made_by(owner, first) for last in made_by(middle, second)]
    for parent in owner.__mro__:
        made = list(assigned(parent, f"self.{attribute}")) if parent.__module__.startswith("mlx_lm.") else []
        if made:
            return made
    return []


def assigned(owner: Any, target: str) -> Iterator[Any]:
    tree = ast.parse(source(owner.__init__) if "__init__" in vars(owner) else "")
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == target and isinstance(node.value, ast.Call):
            yield eval(ast.unparse(node.value.func), vars(inspect.getmodule(owner)))


def trims(kind: Any) -> str:
    """`always`, `never`, or `depends` on what the cache holds by then."""
    try:
        return "always" if kind.is_trimmable(object()) else "never"
    except AttributeError:
        return "depends"


def caches(owner: Any) -> Iterator[str]:
    """How each cache that the model makes is trimmed; where it makes none, mlx-lm makes plain ones."""
    for name in calls(owner.make_cache) if hasattr(owner, "make_cache") else ():
        if name.endswith(".make_cache"):
            for inner in made_by(owner, name.split(".")[1]):
                yield from caches(inner)
        elif name.endswith("Cache") and name != "CacheList":  # a list of caches is as its members are
            yield trims(vars(inspect.getmodule(owner.make_cache))[name])


def heads(owner: Any) -> str:
    """What becomes of the key-value heads where the model is split over ranks."""
    text = source(owner.shard)
    return "repeated" if REPEATS_KV in text else "split" if any(word in text for word in SPLITS_KV) else "none"


def full_by_default(owner: Any) -> bool:
    module: Any = inspect.getmodule(owner)
    return FULL_BY_DEFAULT in inspect.getsource(module)


def main() -> None:
    known = dict(model_classes())
    kinds = {name: set(caches(owner)) for name, owner in known.items()}
    tensor = {name: heads(owner) for name, owner in known.items() if hasattr(owner, "shard")}
    print(
        json.dumps(
            {
                "MLX_LM": __version__,
                "RENAMED": MODEL_REMAPPING,
                "RENAMED_BY_ARCHITECTURE": [[*key, value] for key, value in MODEL_ARCHITECTURE_REMAPPING.items()],
                "KNOWN": sorted(known),
                "PIPELINE": [n for n in known if any(hasattr(made, "pipeline") for made in made_by(known[n], "model"))],
                "TENSOR": sorted(tensor),
                "REPEATS_KV_HEADS": [name for name, how in tensor.items() if how == "repeated"],
                "SPLITS_NO_KV_HEADS": [name for name, how in tensor.items() if how == "none"],
                "HYBRID": [name for name in known if "never" in kinds[name]],
                "WINDOWED": [name for name in known if "depends" in kinds[name] and "never" not in kinds[name]],
                "FULL_BY_DEFAULT": [name for name, owner in known.items() if full_by_default(owner)],
            }
        )
    )


if __name__ == "__main__":
    main()
