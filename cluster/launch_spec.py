"""Decides what can be asked of a launch, and which requests contradict themselves."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from locust_agents.cluster.hosts.shape import ENV_NAME
from locust_agents.cluster.hosts.values import Hostfile

Options = Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """What a scenario says of the server that it wants; without a port a free one is taken.

    `gives_way` is for ranks that share the client's machine and whose own speed is of no interest. With a hostfile
    `ranks` is the number of its hosts. `python` None is ours; it, `cwd` and options may begin with `~`, which each host
    takes for its own home. `reached_as` is this machine's name or IP for agents on others, None where there are none.
    """

    model: str
    ranks: int = 2
    backend: str = "ring"
    options: Options = field(default_factory=dict)
    port: int | None = None
    ready_s: float = 900.0
    python: str | None = None
    gives_way: bool = False
    hostfile: Hostfile | None = None
    pipeline: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    starting_port: int | None = None
    reached_as: str | None = None


def faults(spec: LaunchSpec) -> list[str]:
    """One sentence for each thing that no command line could do, each begun with the scenario's key."""
    return [*_of_backend(spec), *_of_python(spec), *_of_folder(spec), *_of_env(spec)]


def _of_backend(spec: LaunchSpec) -> Iterator[str]:
    if spec.backend.startswith("jaccl") and spec.hostfile is None:
        yield (
            f"server.launch.backend: {spec.backend} needs a hostfile: it says which RDMA device leads to which host;"
            " give server.launch.hostfile, or use ring"
        )
    if spec.hostfile is not None and spec.ranks != len(spec.hostfile.hosts):
        hosts = len(spec.hostfile.hosts)
        yield f"server.launch.ranks: {spec.ranks}, and {spec.hostfile.path} has {hosts} hosts, a rank each: remove it"


def _of_python(spec: LaunchSpec) -> Iterator[str]:
    remote = spec.hostfile.remote if spec.hostfile else ()
    if remote and spec.python is None:
        yield (
            "server.launch.python: is needed with a hostfile, such as ~/mlx/.venv/bin/python: a virtual environment is"
            f" only where somebody made it, and {', '.join(remote)} may have none where this machine has its own"
        )
    yield from _of_home("server.launch.python", spec.python)


def _of_folder(spec: LaunchSpec) -> Iterator[str]:
    yield from _of_home("server.launch.cwd", spec.cwd)
    if spec.cwd and spec.hostfile and spec.hostfile.remote and not spec.cwd.startswith(("/", "~")):
        yield f"server.launch.cwd: {spec.cwd!r} is another folder on each host: begin it with / or ~/"


def _of_home(key: str, path: str | None) -> Iterator[str]:
    if path and re.match("~[^/]", path):
        yield f"{key}: {path!r} names another user's home, which is not looked up: write the whole path"


def _of_env(spec: LaunchSpec) -> Iterator[str]:
    for name in spec.env:
        if not ENV_NAME.fullmatch(name):
            yield f"server.launch.env: {name!r} is no name of an environment variable (letters, digits and _)"


def served_model(model: Path | str) -> str:
    """A folder as an absolute path; a text, which may be a name on the hub or begin with `~`, as it is."""
    return str(model.absolute()) if isinstance(model, Path) else model
