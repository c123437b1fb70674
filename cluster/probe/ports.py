"""Decides whether ranks reach each other: listens where they will and calls where they will, for a few seconds.

It runs on each host, by that host's own Python (3.9 or later), which gets this text over stdin: it stands alone. A
firewall that asks by program therefore meets the program that it will meet in a run. Arguments: seconds in which to
call, seconds in which to listen, the addresses to listen on and those to call, as IP:port
with spaces between.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import sys
import time

GREETING = b"locust-agents\n"
HANG_UP = 3
"""The descriptor whose end means that nobody needs us any more."""
DIAL_S = 1.0
PAUSE_S = 0.1


def main(call_s: float, listen_s: float, ours: list[str], others: list[str]) -> None:
    """Prints a line for each address: bound or unbound, reached or unreached, with errno and words.

    After the last it only listens, for those who are slower.
    """
    servers = [server for address in ours if (server := listener(address)) is not None]
    calls: dict[socket.socket, str] = {}
    faults: dict[str, OSError] = {address: TimeoutError(errno.ETIMEDOUT, "timed out") for address in others}
    start = time.monotonic()
    while time.monotonic() < start + listen_s:
        if time.monotonic() < start + call_s:
            dial(faults, calls)
        else:
            give_up(faults, calls)
        watched: list[int | socket.socket] = [HANG_UP, *servers, *calls]
        readable, _, _ = select.select(watched, [], [], PAUSE_S)
        if HANG_UP in readable and not os.read(HANG_UP, 1):
            return
        greet([server for server in servers if server in readable])
        hear([call for call in calls if call in readable], calls, faults)


def listener(address: str) -> socket.socket | None:
    """A server as mlx makes it, without its SO_REUSEPORT: that would share the port with a rank that runs."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind(place(address))
        server.listen()
    except OSError as error:
        say("unbound", address, error)
        server.close()
        return None
    say("bound", address)
    return server


def dial(faults: dict[str, OSError], calls: dict[socket.socket, str]) -> None:
    """Calls everybody who has neither answered nor been called; the one who listens there may begin later than we."""
    for address in [address for address in faults if address not in calls.values()]:
        try:
            calls[socket.create_connection(place(address), DIAL_S)] = address
        except OSError as error:
            faults[address] = error if error.errno else TimeoutError(errno.ETIMEDOUT, "timed out")


def greet(servers: list[socket.socket]) -> None:
    """Says to each caller that it has come to the right one."""
    for server in servers:
        with contextlib.suppress(OSError):  # it may have gone already
            caller, _ = server.accept()
            with caller:
                caller.sendall(GREETING)


def hear(readable: list[socket.socket], calls: dict[socket.socket, str], faults: dict[str, OSError]) -> None:
    """Takes the greeting; whoever closes without one is called again."""
    for call in readable:
        address = calls.pop(call)
        with call:
            try:
                said = call.recv(len(GREETING))
            except OSError as error:
                faults[address] = error
                continue
        if said == GREETING:
            del faults[address]
            say("reached", address)
        else:
            faults[address] = ConnectionResetError(errno.ECONNRESET, "somebody else answers there")


def give_up(faults: dict[str, OSError], calls: dict[socket.socket, str]) -> None:
    """Says whom we did not reach, and calls nobody any more."""
    for call in calls:
        call.close()
    calls.clear()
    for address, error in faults.items():
        say("unreached", address, error)
    faults.clear()


def say(word: str, address: str, error: OSError | None = None) -> None:
    """One line at once: the reader waits for it."""
    print(word, address, *((error.errno, error.strerror) if error else ()), flush=True)


def place(address: str) -> tuple[str, int]:
    """IP and port of IP:port."""
    host, _, port = address.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    main(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3].split(), sys.argv[4].split())
