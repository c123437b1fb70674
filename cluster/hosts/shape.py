"""Decides which JSON is a hostfile: what mlx.launch (0.32.4) reads from it, and what it would trip over or ignore."""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from locust_agents.cluster.hosts.values import Device, Host, Hostfile
from locust_agents.errors import ScenarioError
from locust_agents.scenarios import suggest
from locust_agents.scenarios.units import shown

BACKENDS = ("ring", "jaccl", "jaccl-ring", "mpi")

ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What a shell can export; others mlx.launch leaves out with a warning."""

_KEYS = ("backend", "envs", "hosts")
_HOST_KEYS = ("ssh", "ips", "rdma")
_OTHER_KIND = "; a list of address:port is what MLX_HOSTFILE holds, not mlx.launch's --hostfile"
_SSH = re.compile(r"[^-\s]\S*")

Report = Callable[[str], None]


def parse(text: str, path: Path) -> Hostfile:
    """Reads the object form or the list form; raises ScenarioError with a line for each thing that is wrong."""
    mistakes: list[str] = []
    try:
        data = json.loads(text, object_pairs_hook=partial(_object, mistakes.append))
    except json.JSONDecodeError as error:
        raise ScenarioError(f"{path}:{error.lineno}:{error.colno}: is not JSON: {error.msg}") from None
    hostfile = _hostfile(data, path, mistakes.append)
    refuse(path, mistakes)
    return hostfile


def refuse(path: Path, mistakes: Sequence[str]) -> None:
    """Raises ScenarioError when there are any, each on a line that begins with the file."""
    if mistakes:
        raise ScenarioError("\n".join(f"{path}: {mistake}" for mistake in mistakes))


def _object(report: Report, pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    for name in sorted({name for name in names if names.count(name) > 1}):
        report(f"{name!r} is written twice in one object; is a }}, {{ missing between two hosts?")
    return dict(pairs)


def _hostfile(data: object, path: Path, report: Report) -> Hostfile:
    top = _top(data, report)
    _unknown(top, _KEYS, "", report)
    backend, hosts = top.get("backend"), top.get("hosts")
    if backend is not None and backend not in BACKENDS:
        report(f"backend: {shown(backend)} is none; {suggest.instead(str(backend), BACKENDS, 'there are')}")
    if not isinstance(hosts, list):
        report("hosts: this key is missing" if "hosts" not in top else f"hosts: expected a list, got {shown(hosts)}")
        hosts = []
    read = tuple(_host(number, value, report) for number, value in enumerate(hosts))
    return Hostfile(path, str(backend) if backend else None, _envs(top, report), read)


def _top(data: object, report: Report) -> dict[str, object]:
    if isinstance(data, dict):
        return data
    if not isinstance(data, list):
        report(f'expected {{"hosts": […]}} or a list of hosts, got {shown(data)}')
    return {"hosts": data if isinstance(data, list) else []}


def _envs(data: dict[str, object], report: Report) -> tuple[str, ...]:
    envs = _texts(data, "envs", "envs", '["MLX_METAL_FAST_SYNCH=1"]', report)
    for text in envs:
        name, equals, _ = text.partition("=")
        if not equals or not ENV_NAME.fullmatch(name):
            report(f"envs: {text!r} is not of the form NAME=value")
    return envs


def _host(number: int, value: object, report: Report) -> Host:
    where = f"hosts[{number}]"
    if not isinstance(value, dict):
        other_kind = _OTHER_KIND if isinstance(value, list) else ""
        report(f'{where}: expected {{"ssh": …, "ips": […]}}, got {shown(value)}{other_kind}')
        return Host("")
    ssh = value.get("ssh")
    if "ssh" not in value:
        report(f'{where}: has no "ssh", the name by which ssh reaches the host')
    elif isinstance(ssh, str) and _SSH.fullmatch(ssh):
        where = f"{where} ({ssh})"
    else:
        report(f"{where}: ssh: {shown(ssh)} is no host that ssh could be given")
    _unknown(value, _HOST_KEYS, f"{where}: ", report)
    ips = _texts(value, "ips", f"{where}: ips", '["10.0.0.1"]', report)
    return Host(str(ssh), ips, _rdma(value, where, report))


def _rdma(value: dict[str, object], where: str, report: Report) -> tuple[Device, ...]:
    entries = value.get("rdma", [])
    if not isinstance(entries, list):
        report(f'{where}: rdma: expected a list such as [null, "rdma_en2"], got {shown(entries)}')
        return ()
    return tuple(_device(entry, f"{where}: rdma[{place}]", report) for place, entry in enumerate(entries))


def _device(entry: object, where: str, report: Report) -> Device:
    if entry is None or (isinstance(entry, str) and entry):
        return entry
    names = tuple(name for name in entry if isinstance(name, str) and name) if isinstance(entry, list) else ()
    if not isinstance(entry, list) or len(names) < len(entry):
        report(f"{where}: expected null, a device or a list of devices, got {shown(entry)}")
    return names


def _texts(mapping: dict[str, object], key: str, where: str, example: str, report: Report) -> tuple[str, ...]:
    """A list of texts. One text alone would be taken apart into its letters by mlx.launch."""
    value = mapping.get(key, [])
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    odd = next((each for each in value if not isinstance(each, str)), None) if isinstance(value, list) else value
    report(f"{where}: expected a list of texts such as {example}, got {shown(odd)}")
    return ()


def _unknown(mapping: dict[str, object], known: Sequence[str], where: str, report: Report) -> None:
    for key in (key for key in mapping if key not in known):
        report(f"{where}{key}: unknown key; {suggest.instead(key, known, 'the keys here are')}")
