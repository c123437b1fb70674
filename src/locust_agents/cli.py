"""The command `locust-agents`: finds the command's module, and prints the one line of an error that it raises."""

import pkgutil
import sys
from collections.abc import Mapping, Sequence

from locust_agents import __version__, streams
from locust_agents.errors import ClusterError, LocustAgentsError

# Each module is imported only when its command is asked for: Locust patches the process, and takes its time.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("locust_agents.locustfiles.run_command:main", "one run: a scenario against a server, and its table"),
    "check": ("locust_agents.cluster.check_command:main", "what a run would start, and what is wrong with it"),
    "sweep": ("locust_agents.sweep.command:main", "one run for each cell of a matrix, and the best one's launch line"),
    "capacity": ("locust_agents.capacity.command:main", "the most agents that keep the limits, found by search"),
    "show": ("locust_agents.show_command:main", "a stored run's table again"),
    "runs": ("locust_agents.runs_command:main", "one verdict a line of all runs"),
    "export": ("locust_agents.export_command:main", "a stored run's turns as CSV"),
    "compare": ("locust_agents.compare.command:main", "two runs: what differs, and what of it is noise"),
    "schema": ("locust_agents.scenarios.schema:main", "the JSON Schema of a scenario, for an editor"),
    "plugins": ("locust_agents.plugins.plugins_command:main", "what is installed, and what each takes"),
    "init": ("locust_agents.plugins.init_command:main", "write a scenario, a behaviour and its test to start from"),
    "stop": ("locust_agents.cluster.stop_command:main", "end what a killed run left"),
    "tiny-model": ("locust_agents.cluster.tiny.model:main", "make the model that the quickstart serves"),
    "replay-server": ("locust_agents.cluster.replay.server:main", "serve timed bytes, for tests of clients"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; the exit status is the contract's."""
    streams.prepare()
    try:
        try:
            return _command(list(sys.argv[1:] if argv is None else argv))
        finally:
            streams.settle()
    except OSError as error:
        return streams.lost(error)


def _command(arguments: Sequence[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help"):
        print(_usage())
        return 0
    if name in ("-V", "--version"):
        print(f"locust-agents {__version__}")
        return 0
    if name not in COMMANDS:
        print(f"locust-agents: no command {name!r}\n\n{_usage()}", file=sys.stderr)
        return 2
    return _run(COMMANDS[name][0], arguments[1:])


def _run(place: str, arguments: Sequence[str]) -> int:
    try:
        return int(pkgutil.resolve_name(place)(arguments))
    except LocustAgentsError as error:
        print(complaint(error), file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return 130


def complaint(error: Exception) -> str:
    """An error as the user reads it: its one line, and below it the end of the log that belongs to it."""
    tail = error.log_tail if isinstance(error, ClusterError) else ()
    return "\n".join([str(error), *(f"    {line}" for line in tail)])


def _usage() -> str:
    width = max(map(len, COMMANDS))
    rows = (f"  {name:{width}}  {what}" for name, (_, what) in COMMANDS.items())
    return "\n".join(["usage: locust-agents COMMAND [options]", "", *rows, "", "COMMAND --help tells its options."])
