"""Decides what is said of each host, from all that was heard of all of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.probe import answer as probe_answer
from locust_agents.cluster.probe import links as probe_links
from locust_agents.cluster.probe.across import Asked, across
from locust_agents.cluster.probe.answer import Answer, Heard
from locust_agents.cluster.probe.findings import Finding, of_firewall, of_rdma, own
from locust_agents.cluster.probe.report import Entry, skipped
from locust_agents.cluster.probe.script import Question
from locust_agents.cluster.probe.sites import Link, Site
from locust_agents.cluster.probe.ssh import explain


@dataclass(frozen=True, slots=True)
class Probed:
    """All that a probe brought: what each host was asked and said, and its part in the trial of the links.

    `here` is this machine's `uname -s`; `bound_s` is what each host was given to answer.
    """

    spec: LaunchSpec
    questions: Mapping[Site, Question]
    heard: Mapping[Site, Heard]
    links: tuple[Link, ...]
    trials: Mapping[Site, Heard]
    here: str
    bound_s: float


def answers(heard: Mapping[Site, Heard]) -> dict[Site, Answer]:
    """The whole ones."""
    read = {site: probe_answer.read(each.out) for site, each in heard.items()}
    return {site: answer for site, answer in read.items() if answer is not None and answer.is_whole}


def entries(probed: Probed) -> tuple[Entry, ...]:
    """One for each host, in the order of the ranks."""
    spec, told = probed.spec, answers(probed.heard)
    asked = tuple(Asked(site, probed.questions[site], answer) for site, answer in told.items())
    differing = across(asked, probed.spec.ranks, bool(spec.pipeline or spec.options.get("pipeline")))
    silent = {site: [_silent(probed, site)] for site in probed.questions if site not in told}
    found = {site: [*_found(probed, site, told), *differing.get(site, ())] for site in told} | silent
    return tuple(_entry(probed, site, told, found[site]) for site in probed.questions)


def _entry(probed: Probed, site: Site, told: Mapping[Site, Answer], found: list[Finding]) -> Entry:
    links = [link for link in probed.links if link.listener in site.ranks]
    return Entry(
        site,
        told.get(site),
        tuple(dict.fromkeys(found)),  # a port may be held for IPv4 and for IPv6
        (*(skipped(told[site]) if site in told else ()), *_untried(probed, links, told)),
        tuple(link for link in links if probe_links.reached(link, tuple(probed.questions), probed.trials)),
    )


def _silent(probed: Probed, site: Site) -> Finding:
    heard = probed.heard[site]
    why = explain(site, heard, probe_answer.read(heard.out), probed.bound_s, probed.here)
    return Finding(why or "no answer")


def _found(probed: Probed, site: Site, told: Mapping[Site, Answer]) -> Iterator[Finding]:
    answer, sites, hostfile = told[site], tuple(probed.questions), probed.spec.hostfile
    yield from own(probed.questions[site], site, answer, probed.links)
    links = [link for link in probed.links if link.listener in site.ranks]
    tried = [link for link in links if probe_links.obstacle(link, sites, told) is None]
    for link in tried:
        yield from probe_links.of_link(link, sites, told, probed.trials, hostfile.path.name if hostfile else "")
    if hostfile is None:
        return
    is_reached = any(probe_links.reached(link, sites, probed.trials) for link in tried)
    if len(sites) > 1 or site.ssh:
        yield from of_firewall(site, answer, is_reached)
    if probed.spec.backend.startswith("jaccl"):
        rdma = tuple(entry for rank in site.ranks for entry in hostfile.hosts[rank].rdma)
        yield from of_rdma(site, answer, rdma, hostfile.path.name)


def _untried(probed: Probed, links: list[Link], told: Mapping[Site, Answer]) -> Iterator[str]:
    for link in links:
        if (why := probe_links.obstacle(link, tuple(probed.questions), told)) is not None:
            yield f"{link.address} from rank {link.caller} ({why})"
