"""Decides the course of `check --probe`: all hosts are asked at once, then the ports between their ranks are tried."""

import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from locust_agents.cluster.launch_spec import LaunchSpec, served_model
from locust_agents.cluster.probe import ask
from locust_agents.cluster.probe import links as probe_links
from locust_agents.cluster.probe import script as probe_script
from locust_agents.cluster.probe import sites as probe_sites
from locust_agents.cluster.probe.answer import Heard
from locust_agents.cluster.probe.report import lines
from locust_agents.cluster.probe.script import Question
from locust_agents.cluster.probe.sites import Link, Site
from locust_agents.cluster.probe.verdicts import Probed, answers, entries
from locust_agents.telling import Say

BOUND_S = 15.0
"""How long a host may take to answer, and again how long the ports between all of them may take."""


def probe(spec: LaunchSpec, model: Path | str, port: int, say: Say) -> tuple[list[str], bool]:
    """A line for each host, more where more was found, and whether all are fit for the launch. Starts no server.

    `model` and `port` are what `launch_command` would be given. Lasts half a minute at most, and ends what it began.
    """
    sites, links = probe_sites.sites(spec), probe_sites.links(spec)
    questions = {site: question(spec, model, probe_sites.ports(site, port, links)) for site in sites}
    say(f"asking {', '.join(site.name for site in sites)} ({BOUND_S:g} s at most)")
    heard = ask.ask({site: probe_script.script(asked) for site, asked in questions.items()}, BOUND_S)
    told = answers(heard)
    tried = tuple(link for link in links if probe_links.obstacle(link, sites, told) is None)
    trials = _try(questions, tried, say)
    found = entries(Probed(spec, questions, heard, links, trials, platform.system(), BOUND_S))
    return lines(found), all(entry.is_ok for entry in found)


def question(spec: LaunchSpec, model: Path | str, ports: tuple[int, ...]) -> Question:
    """What a host is asked: about the words and the environment that its ranks would be given."""
    envs = spec.hostfile.envs if spec.hostfile else ()
    env = {name: value for name, _, value in (text.partition("=") for text in envs)}
    python, model = spec.python or sys.executable, served_model(model)
    return Question(python, model, spec.cwd, str(Path.cwd()), ports, {**env, **spec.env})


def _try(questions: Mapping[Site, Question], links: tuple[Link, ...], say: Say) -> dict[Site, Heard]:
    scripts = {site: probe_links.trial(site, asked, links) for site, asked in questions.items()}
    playing = {site: script for site, script in scripts.items() if script is not None}
    if not playing:
        return {}
    say(f"trying {', '.join(sorted({link.address for link in links}))} from rank to rank ({BOUND_S:g} s at most)")
    sites = tuple(questions)
    return ask.ask(playing, BOUND_S, lambda trials: all(probe_links.is_settled(link, sites, trials) for link in links))
