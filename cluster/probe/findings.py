"""Decides what is wrong with one host by its own answer, each with the cure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from locust_agents.cluster.hosts.rdma import devices
from locust_agents.cluster.hosts.values import Device
from locust_agents.cluster.probe.answer import Answer, Listener
from locust_agents.cluster.probe.script import Question
from locust_agents.cluster.probe.sites import Link, Site

FIREWALL = "/usr/libexec/ApplicationFirewall/socketfilterfw"

_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
_MOST_SERVERS = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence with its cure; a fault keeps the run from starting or from being worth anything."""

    text: str
    is_fault: bool = True


def own(question: Question, site: Site, answer: Answer, links: tuple[Link, ...]) -> list[Finding]:
    """What one host says against itself; `links` are all of the launch."""
    return [
        *_of_python(question, answer),
        *_of_model(question, answer),
        *_of_servers(question, site, answer, links),
        *_of_power(site, answer),
    ]


def is_on_hub(model: str) -> bool:
    """Whether mlx_lm would look such a name up on the Hugging Face hub where no folder has it."""
    return _HUB_NAME.fullmatch(model) is not None


def install(question: Question, site: Site, package: str, version: str | None) -> str:
    """The command that puts a package, or one version of it, into the Python that the ranks will run."""
    wanted = f"{package}=={version}" if version else package
    return f"`{site.command(f'{question.python} -m pip install {wanted}')}`"


def of_rdma(site: Site, answer: Answer, rdma: tuple[Device, ...], path: str) -> Iterator[Finding]:
    """The devices that the hostfile names for this host, and which there are; nothing where it names none."""
    wanted = list(dict.fromkeys(name for entry in rdma for name in devices(entry)))
    if not wanted:
        return
    if answer.rdma is None:
        yield Finding(
            f"RDMA devices cannot be listed ({answer.skipped.get('rdma', 'no answer')}), and jaccl needs"
            f" {', '.join(wanted)}: RDMA over Thunderbolt is for macOS 26.2 or later and Thunderbolt 5 (Apple TN3205)"
        )
    elif not answer.rdma:
        yield Finding("RDMA is not enabled: run `rdma_ctl enable` in macOS Recovery, then restart (Apple TN3205)")
    elif gone := [name for name in wanted if name not in answer.rdma]:
        here = ", ".join(answer.rdma)
        yield Finding(f"no RDMA device {', '.join(gone)}, there are {here}: correct the rdma of {site.name} in {path}")


def of_firewall(site: Site, answer: Answer, is_reached: bool) -> Iterator[Finding]:
    """For a host that others call; `is_reached` once somebody got through to its very Python."""
    if answer.firewall == 2:
        yield Finding(
            f"its firewall lets nobody in: `{site.command(f'sudo {FIREWALL} --setblockall off')}`, or in System"
            " Settings, Network, Firewall"
        )
    elif answer.firewall == 1 and not is_reached:
        allow = site.command(f"sudo {FIREWALL} --add {answer.python or 'PYTHON'}")
        yield Finding(f"its firewall is on and asks by program: allow the ranks' Python, `{allow}`", is_fault=False)


def held(listener: Listener) -> str:
    """Who that is, as far as the system tells."""
    return f"{listener.command or 'pid'} (pid {listener.pid})" if listener.pid else "a process that is hidden from us"


def _of_python(question: Question, answer: Answer) -> Iterator[Finding]:
    if "folder" in answer.missing:
        yield Finding(f"no folder {question.folder}: make it there, or correct server.launch.cwd")
    if "python" in answer.missing:
        yield Finding(
            f"no Python at {question.python}: make the same virtual environment there, or correct server.launch.python"
        )
    if answer.python_broken:
        yield Finding(
            f"{question.python} does not run ({answer.python_broken}): make that virtual environment there anew"
        )


def _of_model(question: Question, answer: Answer) -> Iterator[Finding]:
    model = question.model
    if "model" in answer.missing and is_on_hub(model):
        text = f"{model} is not in its Hugging Face cache, and would be downloaded at the start: `hf download {model}`"
        yield Finding(f"{text} there", is_fault=False)
    elif "model" in answer.missing:
        yield Finding(f"no model folder {model}: copy it there (rsync -a), or correct server.launch.model")
    elif "model_config" in answer.missing or answer.weight_files == 0:
        what = "config.json" if "model_config" in answer.missing else "model*.safetensors"
        cure = f"`hf download {model}` there" if is_on_hub(model) else "copy the model there again (rsync -a)"
        yield Finding(f"no {what} in {answer.model}: {cure}")


def _of_servers(question: Question, site: Site, answer: Answer, links: tuple[Link, ...]) -> Iterator[Finding]:
    for listener in answer.listeners:
        ours = [link for link in links if link.listener in site.ranks and link.port == listener.port]
        if any(listener.blocks(link.ip) for link in ours):
            other = "give another server.launch.starting_port"
            yield Finding(f"port {listener.port}, for the ranks, is taken by {held(listener)}: end that, or {other}")
        elif not ours and listener.port in question.ports:
            yield Finding(f"port {listener.port} is taken by {held(listener)}: end that, or give another server.port")
    if answer.servers:
        shown = [f"pid {pid} of {user}" for pid, user in answer.servers[:_MOST_SERVERS]]
        more = len(answer.servers) - len(shown)
        kill = site.command(f"kill {' '.join(str(pid) for pid, _ in answer.servers)}")
        yield Finding(
            f"mlx_lm server runs there already ({', '.join(shown)}{f' and {more} more' if more else ''}) and has its"
            f" memory: end it, `{kill}`, or with `locust-agents stop` where a run of ours left it"
        )


def _of_power(site: Site, answer: Answer) -> Iterator[Finding]:
    if answer.sleep_min:
        off = site.command("sudo pmset -a sleep 0")
        yield Finding(f"it may sleep after {answer.sleep_min} min without a user: `{off}`", is_fault=False)
    if answer.low_power:
        off = site.command("sudo pmset -a lowpowermode 0")
        yield Finding(f"low power mode is on, and slows every token: `{off}`", is_fault=False)
