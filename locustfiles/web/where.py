"""Where a person finds the page of `run --web`: its address, and the line to type at home where this is ssh."""

import getpass
from collections.abc import Mapping

_SSH_PORT = "22"


def lines(host: str, port: int, base_path: str, environment: Mapping[str, str], scheme: str = "http") -> list[str]:
    """To be printed. SSH_CONNECTION is the client's address and port, then the server's (ssh(1))."""
    reached = host if host not in ("", "*", "0.0.0.0", "::") else "127.0.0.1"
    found = [f"the Agents tab: {scheme}://{_bracketed(reached)}:{port}{base_path}/?tab=agents"]
    connection = environment.get("SSH_CONNECTION", "").split()
    if len(connection) == 4:
        _, _, server, server_port = connection
        given = "" if server_port == _SSH_PORT else f"-p {server_port} "
        to = f"{port}:{_bracketed(reached)}:{port}"
        found.append(f"from your own machine, first: ssh {given}-L {to} {_user(environment)}@{server}")
    return found


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _user(environment: Mapping[str, str]) -> str:
    return environment.get("USER") or getpass.getuser()
