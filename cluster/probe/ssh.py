"""Decides what is said of a host that gave no answer: ssh's own words, what they mean, and the cure."""

import re

from locust_agents.cluster.probe.answer import Answer, Heard
from locust_agents.cluster.probe.sites import Site

SSH_FAILED = 255
"""ssh's own exit status; any other is that of the command on the host."""

LOCAL_NETWORK = (
    "on macOS this is errno 65: allow the terminal app under System Settings, Privacy & Security, Local Network"
    " (Apple TN3179), or correct the address"
)

_CHANGED = re.compile(r"[Hh]ost key for (\S+) has changed")

# what ssh writes, and the cure; the first that matches. The words of macOS and Linux differ after "Could not resolve".
_CURES = (
    (
        "Host key verification failed|No .* host key is known",
        "its key is not known here: run `ssh {ssh} true` once by hand and accept the key",
    ),
    (
        "Permission denied|Too many authentication failures",
        "run `ssh-copy-id {ssh}`, and `ssh-add` where the key has a passphrase, since nobody can type it here",
    ),
    ("Could not resolve hostname", "correct its ssh name in the hostfile, or give it one in ~/.ssh/config"),
    (
        "Connection refused",
        "turn on Remote Login there (macOS: System Settings, General, Sharing; Linux: start sshd), or correct the port"
        " in ~/.ssh/config",
    ),
    ("timed out", "wake it, or correct its address; a firewall may also be in the way"),
    (
        "No route to host|Network is unreachable",
        "see that it is on and in this network, and that its address is right",
    ),
    (
        "Connection (closed|reset)|kex_exchange_identification",
        "its sshd turned us away: look into its log, and whether it lets this user in",
    ),
    ("[Bb]ad (configuration|owner)|Bad option", "correct your own ~/.ssh/config"),
    ("not installed here", "install an ssh client"),
)


def explain(site: Site, heard: Heard, answer: Answer | None, bound_s: float, here: str) -> str | None:
    """One sentence on why there is no whole answer, None where there is one; `here` is this machine's `uname -s`."""
    if answer is not None and answer.is_whole:
        return None
    if heard.status is None:
        return _too_slow(site, answer, bound_s)
    if heard.status == SSH_FAILED and site.ssh is not None:
        return _of_ssh(site.ssh, heard.err, here)
    place = "began and broke off" if answer else "was not understood by the shell there"
    said = _last(heard.err) or _last(heard.out) or "nothing was said"
    return f"our script {place} (exit status {heard.status}; {said}): see what `{site.command('sh -s')}` does by hand"


def _too_slow(site: Site, answer: Answer | None, bound_s: float) -> str:
    if answer is None:
        return f"no answer within {bound_s:g} s: see whether `{site.command('true')}` ends"
    return (
        f"no whole answer within {bound_s:g} s, the last word was of {answer.last or 'nothing'}: see whether what"
        " comes next hangs there, such as a folder on a network disk"
    )


def _of_ssh(ssh: str, err: str, here: str) -> str:
    if changed := _CHANGED.search(err):
        return (
            f"ssh: host key for {changed[1]} has changed: if the machine was set up anew, run `ssh-keygen -R"
            f" {changed[1]}`, then `ssh {ssh} true` by hand"
        )
    for pattern, cure in _CURES:
        line = next((line for line in reversed(err.splitlines()) if re.search(pattern, line)), None)
        if line is not None:
            is_blocked = here == "Darwin" and "No route" in line
            return f"{_own(line)}: {LOCAL_NETWORK if is_blocked else cure.format(ssh=ssh)}"
    return f"{_own(_last(err) or 'it failed without a word')}: see what `ssh {ssh} true` says by hand"


def _own(line: str) -> str:
    """The line as ssh's, whether or not it begins so."""
    return f"ssh: {line.strip().removeprefix('ssh: ').rstrip('.')}"


def _last(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
