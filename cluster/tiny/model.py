"""Decides where the tiny models are kept, under names that change with their recipe, and who gets a copy."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from platformdirs import user_cache_path

from locust_agents.cluster.tiny.recipe import VARIANTS, folder_name
from locust_agents.cluster.tiny.store import build_once
from locust_agents.errors import ClusterError
from locust_agents.telling import Say

__all__ = ["VARIANTS", "ensure", "main", "make"]


def ensure(variant: str, say: Say, cache: Path | None = None) -> Path:
    """The folder of a variant; built first when it is not there (about 2 s, once), and then `say` hears one line.

    `cache` defaults to this user's cache folder. Raises ClusterError when mlx-lm is missing, when the build fails
    or when the folder cannot be written.
    """
    models = (cache or user_cache_path("locust-agents")) / "models"
    folder = models / folder_name(_known(variant), _mlx_lm_version())
    try:
        if not folder.is_dir():
            build_once(variant, folder, say)
    except OSError as error:
        raise ClusterError(
            f"the tiny model cannot be kept in {models}: {error.strerror}; let HOME be a folder of yours"
        ) from error
    return folder


def make(variant: str, folder: Path, say: Say, cache: Path | None = None) -> None:
    """A copy of the model in a folder that is new or empty; `config.json`, without which it is no model, comes last.

    Raises ClusterError when the folder holds anything, and as `ensure` does.
    """
    try:
        _refuse_taken(folder)
        files = sorted(ensure(variant, say, cache).iterdir(), key=lambda file: file.name == "config.json")
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copyfile(file, folder / file.name)
    except OSError as error:
        raise ClusterError(f"the model cannot be written to {folder}: {error.strerror}") from error


def main(argv: Sequence[str]) -> int:
    """The command `locust-agents tiny-model`; its errors are for the caller to print."""
    parser = argparse.ArgumentParser(
        prog="locust-agents tiny-model", description="Makes a tiny model that mlx_lm.server can serve, for tests."
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="a folder that does not exist yet, or an empty one")
    parser.add_argument("--variant", choices=VARIANTS, default=VARIANTS[0], help="default: %(default)s")
    options = parser.parse_args(argv)
    make(options.variant, options.folder, lambda line: print(line, file=sys.stderr))
    print(
        f"{options.folder} holds the model; serve it with: {sys.executable} -m mlx_lm server --model {options.folder}"
    )
    return 0


def _known(variant: str) -> str:
    if variant not in VARIANTS:
        raise ClusterError(f"no tiny model is called {variant!r}; take one of {', '.join(VARIANTS)}")
    return variant


def _mlx_lm_version() -> str:
    try:
        return version("mlx-lm")
    except PackageNotFoundError as error:
        raise ClusterError(
            "mlx-lm is not installed on this machine: use --attach URL with a server that runs elsewhere"
        ) from error


def _refuse_taken(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ClusterError(f"{folder} is a file; name a new folder for the model")
    if folder.is_dir() and any(folder.iterdir()):
        raise ClusterError(f"{folder} is not empty; name a new folder for the model")
