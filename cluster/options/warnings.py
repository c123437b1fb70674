"""Decides which settings of a server are allowed and yet will hurt the run, each with the cure."""

import ipaddress
from collections.abc import Iterator, Mapping

from locust_agents.cluster.options.cache_entries import entries_needed
from locust_agents.cluster.options.known import OPTIONS, Scalar
from locust_agents.cluster.options.model_classes import MLX_LM
from locust_agents.cluster.situation import Situation

_OPTION = "server.options."
_EVERYWHERE = ("0.0.0.0", "::", "")
_QUIET_LEVELS = ("WARNING", "ERROR", "CRITICAL")


def warnings(options: Mapping[str, Scalar], situation: Situation) -> Iterator[str]:
    """Yield one sentence for each; options whose values are wrong must be gone already."""
    yield from _model(situation)
    yield from _batching(options, situation)
    yield from _host(str(_value(options, "host")), situation)
    yield from _cache(int(str(_value(options, "prompt-cache-size"))), situation)
    yield from _max_tokens(options, situation)
    if _value(options, "log-level") in _QUIET_LEVELS:
        yield f"{_OPTION}log-level: progress and cache sizes are read from rank 0's INFO lines; set log-level: INFO"
    if situation.ranks == 1 and (key := situation.pipeline_key(options)):
        yield f"{key}: one rank has nobody to share layers with; remove it or use more ranks"


def _value(options: Mapping[str, Scalar], name: str) -> Scalar:
    given = options.get(name)
    return OPTIONS[name].default if given is None else given


def _model(situation: Situation) -> Iterator[str]:
    model = situation.model
    if model is not None and model.trimmable is None:
        yield (
            f"server.launch.model: model type '{model.model_type}' is not among those of mlx-lm {MLX_LM}, so its split"
            " over ranks and its cache were not checked; make sure that the mlx-lm of every rank loads it"
        )


def _batching(options: Mapping[str, Scalar], situation: Situation) -> Iterator[str]:
    """A request that is not batched and whose client leaves stops a distributed server for good (mlx-lm 0.32.2)."""
    if options.get("kv-bits") is None:
        return
    hang = ", and one that leaves in mid-answer hangs the server for good" if situation.ranks > 1 else ""
    yield (
        f"{_OPTION}kv-bits: it turns batching off, so agents are served one at a time{hang}; remove it unless memory"
        " forbids"
    )


def _host(host: str, situation: Situation) -> Iterator[str]:
    address = situation.rank_0_address if host in _EVERYWHERE else host
    if _is_public(address):
        yield (
            f"{_OPTION}host: anybody who reaches the public address {address} can use the server, which asks for no"
            " password; set host to a private address of that machine"
        )
    if not situation.is_local and _is_loopback(host):
        yield (
            f"{_OPTION}host: rank 0 would listen on {host} alone, where agents on another machine cannot reach it;"
            f" {_reachable(situation.rank_0_address)}"
        )


def _cache(size: int, situation: Situation) -> Iterator[str]:
    trimmable = situation.model.trimmable if situation.model else None
    needed = entries_needed(situation.histories, situation.starts, trimmable)
    if 0 < size < needed:  # 0 is chosen by who wants no cache
        why = "one for each history and each start"
        if trimmable is False:
            why = "two for each history, as this model's cache cannot be trimmed"
        yield (
            f"{_OPTION}prompt-cache-size: {size} entries do not hold {situation.histories} histories ({why}), so turns"
            f" read their whole prompt again; set prompt-cache-size: {needed} or more"
        )


def _max_tokens(options: Mapping[str, Scalar], situation: Situation) -> Iterator[str]:
    silent = [profile for profile, most in (situation.max_tokens or {}).items() if most is None]
    if silent and options.get("max-tokens") is None:
        default = OPTIONS["max-tokens"].default
        yield (
            f"{_OPTION}max-tokens: requests of {' and '.join(silent)} name no limit, so the server cuts each answer"
            f" after {default} tokens; set max-tokens to the longest answer that is wanted"
        )


def _ip(address: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address((address or "").strip("[]"))
    except ValueError:  # a name, of which nothing is known without asking the network
        return None


def _reachable(address: str | None) -> str:
    if _is_public(address):
        return "set host to a private address of that machine"
    return f"set host: {address if _ip(address) else '0.0.0.0'}"


def _is_public(address: str | None) -> bool:
    found = _ip(address)
    return found is not None and found.is_global


def _is_loopback(host: str) -> bool:
    found = _ip(host)
    return host == "localhost" or (found is not None and found.is_loopback)
