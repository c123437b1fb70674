"""Decides which connections between ranks a probe tries, with which script, and what came of them."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from locust_agents.cluster.probe.answer import Answer, Heard
from locust_agents.cluster.probe.findings import FIREWALL, Finding
from locust_agents.cluster.probe.script import Question, opening
from locust_agents.cluster.probe.sites import Link, Site
from locust_agents.cluster.probe.ssh import LOCAL_NETWORK

CALL_S = 5.0
"""How long a host calls another: ssh begins sooner on one than on the other."""
LISTEN_S = 12.0
"""When a host hangs up by itself, should nobody tell it to."""

_PROGRAM = Path(__file__).with_name("ports.py")
_END = "END_OF_PROBE_PORTS"

Answers = Mapping[Site, Answer]
Trials = Mapping[Site, Heard]


def obstacle(link: Link, sites: tuple[Site, ...], answers: Answers) -> str | None:
    """Why this connection cannot be tried, None where it can."""
    for site in (at(link.listener, sites), at(link.caller, sites)):
        answer = answers.get(site)
        if answer is None:
            return f"{site.name} did not answer"
        if answer.python is None or answer.python_broken:
            return f"no Python on {site.name}"
    listener = answers[at(link.listener, sites)]
    if any(other.port == link.port and other.blocks(link.ip) for other in listener.listeners):
        return f"the port is taken on {at(link.listener, sites).name}"
    return None


def trial(site: Site, question: Question, links: tuple[Link, ...]) -> str | None:
    """The script for `sh -s` with which this host plays its part in those links, None where it has none.

    Its Python takes the place of the shell, whose stdin it watches as descriptor 3: when that ends, it ends.
    """
    ours = sorted({link.address for link in links if link.listener in site.ranks})
    others = sorted({link.address for link in links if link.caller in site.ranks})
    if not ours and not others:
        return None
    words = (f"{CALL_S:g}", f"{LISTEN_S:g}", " ".join(ours), " ".join(others))
    program = _PROGRAM.read_text(encoding="utf-8")
    run = f'exec "$(home "$asked_python")" - {shlex.join(words)}'
    return f"{opening(question)}go\nexec 3<&0\n{run} <<'{_END}'\n{program}{_END}\n"


def is_settled(link: Link, sites: tuple[Site, ...], trials: Trials) -> bool:
    """Whether no more will be heard of it: somebody got through, gave up or ended, or nobody listens."""
    listener, caller = trials[at(link.listener, sites)], trials[at(link.caller, sites)]
    said = _said("unreached", link, caller) or _said("unbound", link, listener)
    return reached(link, sites, trials) or said is not None or caller.status is not None


def reached(link: Link, sites: tuple[Site, ...], trials: Trials) -> bool:
    """Whether the one got through to the other."""
    heard = trials.get(at(link.caller, sites))
    return heard is not None and f"reached {link.address}" in heard.out.splitlines()


def of_link(link: Link, sites: tuple[Site, ...], answers: Answers, trials: Trials, path: str) -> Iterator[Finding]:
    """What to do about a connection that was tried, by the host that listens."""
    listener, caller = at(link.listener, sites), at(link.caller, sites)
    if unbound := _said("unbound", link, trials[listener]):
        cure = f"correct the ips of {listener.name} in {path}" if "assign" in unbound else "end what holds it"
        yield Finding(f"cannot listen on {link.address}: {unbound}: {cure}")
    elif unreached := _said("unreached", link, trials[caller]):
        from_whom = f"rank {link.caller} ({caller.name})"
        cure = _cure(unreached, answers[caller], answers[listener], listener)
        yield Finding(f"{link.address} is not reached from {from_whom}: {unreached}: {cure}")
    elif not reached(link, sites, trials):
        said = trials[caller].err.strip().splitlines() or ["no word"]
        yield Finding(f"{link.address} could not be tried from rank {link.caller} ({caller.name}): {said[-1]}")


def at(rank: int, sites: tuple[Site, ...]) -> Site:
    """The host of a rank."""
    return next(site for site in sites if rank in site.ranks)


def _said(word: str, link: Link, heard: Heard) -> str | None:
    start = f"{word} {link.address} "
    found = (line.removeprefix(start) for line in heard.out.splitlines() if line.startswith(start))
    number, _, words = next(found, "").partition(" ")
    return f"{words} (errno {number})" if words else None


def _cure(error: str, caller: Answer, listener: Answer, there: Site) -> str:
    if "No route" in error and caller.system == "Darwin":
        return LOCAL_NETWORK
    if "refused" in error or "timed out" in error or "somebody else" in error:
        if listener.system == "Darwin":
            allow = there.command(f"sudo {FIREWALL} --add {listener.python}")
            return f"allow its Python in the firewall there, `{allow}`, and see that the cable leads there"
        return "see the firewall there, and that the address is one of the network between the two"
    return "correct the address, or the interface that leads to it"
