"""What is said of a host that gave no whole answer."""

import pytest

from locust_agents.cluster.probe.answer import Heard, read
from locust_agents.cluster.probe.script import BEGIN
from locust_agents.cluster.probe.sites import Site
from locust_agents.cluster.probe.ssh import explain

MAC2 = Site("bob@mac2", (1,))
HERE = Site(None, (0,))

NEW_KEY = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
Offending ED25519 key in /Users/bob/.ssh/known_hosts:3
Host key for mac2 has changed and you have requested strict checking.
Host key verification failed.
"""

# remark, this machine, ssh's stderr (Linux's as OpenSSH 9 writes it; macOS's not seen on a Mac), what is said
SSH_FAILS = [
    (
        "no key of ours",
        "Linux",
        "bob@mac2: Permission denied (publickey,password,keyboard-interactive).\r\n",
        "ssh: bob@mac2: Permission denied (publickey,password,keyboard-interactive): run `ssh-copy-id bob@mac2`, and"
        " `ssh-add` where the key has a passphrase, since nobody can type it here",
    ),
    (
        "too many keys of ours",
        "Linux",
        "Received disconnect from 10.0.0.2 port 22:2: Too many authentication failures\nDisconnected from 10.0.0.2\n",
        "ssh: Received disconnect from 10.0.0.2 port 22:2: Too many authentication failures: run `ssh-copy-id"
        " bob@mac2`, and `ssh-add` where the key has a passphrase, since nobody can type it here",
    ),
    (
        "never met",
        "Linux",
        "No ED25519 host key is known for mac2 and you have requested strict checking.\n"
        "Host key verification failed.\n",
        "ssh: Host key verification failed: its key is not known here: run `ssh bob@mac2 true` once by hand and accept"
        " the key",
    ),
    (
        "set up anew",
        "Linux",
        NEW_KEY,
        "ssh: host key for mac2 has changed: if the machine was set up anew, run `ssh-keygen -R mac2`, then"
        " `ssh bob@mac2 true` by hand",
    ),
    (
        "unknown to Linux",
        "Linux",
        "ssh: Could not resolve hostname mac2: Name or service not known\r\n",
        "ssh: Could not resolve hostname mac2: Name or service not known: correct its ssh name in the hostfile, or give"
        " it one in ~/.ssh/config",
    ),
    (
        "unknown to macOS",
        "Darwin",
        "ssh: Could not resolve hostname mac2: nodename nor servname provided, or not known\n",
        "ssh: Could not resolve hostname mac2: nodename nor servname provided, or not known: correct its ssh name in"
        " the hostfile, or give it one in ~/.ssh/config",
    ),
    (
        "no sshd",
        "Linux",
        "ssh: connect to host mac2 port 22: Connection refused\r\n",
        "ssh: connect to host mac2 port 22: Connection refused: turn on Remote Login there (macOS: System Settings,"
        " General, Sharing; Linux: start sshd), or correct the port in ~/.ssh/config",
    ),
    (
        "asleep, seen from Linux",
        "Linux",
        "ssh: connect to host mac2 port 22: Connection timed out\n",
        "ssh: connect to host mac2 port 22: Connection timed out: wake it, or correct its address; a firewall may also"
        " be in the way",
    ),
    (
        "asleep, seen from macOS",
        "Darwin",
        "ssh: connect to host mac2 port 22: Operation timed out\n",
        "ssh: connect to host mac2 port 22: Operation timed out: wake it, or correct its address; a firewall may also"
        " be in the way",
    ),
    (
        "errno 65",
        "Darwin",
        "ssh: connect to host mac2 port 22: No route to host\n",
        "ssh: connect to host mac2 port 22: No route to host: on macOS this is errno 65: allow the terminal app under"
        " System Settings, Privacy & Security, Local Network (Apple TN3179), or correct the address",
    ),
    (
        "no route elsewhere",
        "Linux",
        "ssh: connect to host mac2 port 22: No route to host\n",
        "ssh: connect to host mac2 port 22: No route to host: see that it is on and in this network, and that its"
        " address is right",
    ),
    (
        "sshd lets nobody in",
        "Linux",
        "kex_exchange_identification: read: Connection reset by peer\nConnection reset by 10.0.0.2 port 22\n",
        "ssh: Connection reset by 10.0.0.2 port 22: its sshd turned us away: look into its log, and whether it lets"
        " this user in",
    ),
    (
        "our own ssh_config",
        "Linux",
        "/home/bob/.ssh/config: line 3: Bad configuration option: hots\n/home/bob/.ssh/config: terminating, 1 bad\n",
        "ssh: /home/bob/.ssh/config: line 3: Bad configuration option: hots: correct your own ~/.ssh/config",
    ),
    (
        "no ssh",
        "Linux",
        "ssh is not installed here",
        "ssh: ssh is not installed here: install an ssh client",
    ),
    (
        "something new",
        "Linux",
        "a greeting\nthe moon is full.\n\n",
        "ssh: the moon is full: see what `ssh bob@mac2 true` says by hand",
    ),
    (
        "silence",
        "Linux",
        "",
        "ssh: it failed without a word: see what `ssh bob@mac2 true` says by hand",
    ),
]


@pytest.mark.parametrize(("remark", "here", "err", "said"), SSH_FAILS, ids=[row[0] for row in SSH_FAILS])
def test_ssh_fails(remark: str, here: str, err: str, said: str) -> None:
    assert explain(MAC2, Heard("", err, 255), None, 15.0, here) == said


# remark, host, what was heard, what is said
OTHERS = [
    (
        "nothing in time",
        MAC2,
        Heard("", "", None),
        "no answer within 15 s: see whether `ssh bob@mac2 true` ends",
    ),
    (
        "a part in time",
        MAC2,
        Heard(f"{BEGIN}\nsystem Darwin\npython /opt/python\n", "", None),
        "no whole answer within 15 s, the last word was of python: see whether what comes next hangs there, such as a"
        " folder on a network disk",
    ),
    (
        "a shell of its own kind",
        MAC2,
        Heard("Welcome, you cannot do that here\n", "", 1),
        "our script was not understood by the shell there (exit status 1; Welcome, you cannot do that here): see what"
        " `ssh bob@mac2 'sh -s'` does by hand",
    ),
    (
        "killed in the middle",
        HERE,
        Heard(f"{BEGIN}\nsystem Linux\n", "Terminated\n", 143),
        "our script began and broke off (exit status 143; Terminated): see what `sh -s` does by hand",
    ),
    (
        "a connection that breaks in the middle",
        MAC2,
        Heard(f"{BEGIN}\nsystem Linux\n", "client_loop: send disconnect: Broken pipe\n", 255),
        "ssh: client_loop: send disconnect: Broken pipe: see what `ssh bob@mac2 true` says by hand",
    ),
]


@pytest.mark.parametrize(("remark", "site", "heard", "said"), OTHERS, ids=[row[0] for row in OTHERS])
def test_other_silences(remark: str, site: Site, heard: Heard, said: str) -> None:
    assert explain(site, heard, read(heard.out), 15.0, "Linux") == said


def test_nothing_is_said_of_a_whole_answer() -> None:
    heard = Heard(f"Welcome\n{BEGIN}\nsystem Linux\nend\n", "a banner", 0)
    assert explain(MAC2, heard, read(heard.out), 15.0, "Linux") is None
