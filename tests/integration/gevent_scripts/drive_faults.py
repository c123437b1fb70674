"""Behaviours of a plugin that is wrong, beside one that is right, through `locust-agents run`. Argument: the folder."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import json
import sys
from pathlib import Path

from locust_agents import cli
from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Session, behaviour

SLOW = chat_stream(["a", "b"], 0.02, 0.1, usage=(200, 0, 2))


@behaviour
def raises(agent: Agent) -> Session:
    """A fault after the first turn."""
    yield agent.user("One.")
    raise LookupError("no such file\nin two lines")


@behaviour
def raises_at_once(agent: Agent) -> Session:
    """A fault before any turn."""
    yield agent.user("One.", tokens=len(None))  # type: ignore[arg-type]


@behaviour
def nonsense(agent: Agent) -> Session:
    """Yields what is no step."""
    yield agent.user("One.")
    yield "have a break"  # type: ignore[misc]


@behaviour
def unborn(agent: Agent) -> Session:
    """Spawns functions instead of sessions."""
    yield agent.user("One.")
    yield agent.spawn([child])  # type: ignore[list-item]


@behaviour
def bad_child(agent: Agent) -> Session:
    """A sub-agent raises while its parent waits for it and its sister reads an answer."""
    yield agent.user("One.")
    sister, brother = agent.child(), agent.child()
    yield agent.spawn([child(sister, 1), child(brother, 0)])
    yield agent.user("Never sent.")


@behaviour
def bad_side(agent: Agent) -> Session:
    """A side session raises after its parent has ended its last turn."""
    yield agent.side(child(agent.child(), 0))
    yield agent.user("One.")


@behaviour
def steady(agent: Agent) -> Session:
    """A behaviour that goes on while others fail."""
    for _ in range(4):
        yield agent.user("Next.")


def child(agent: Agent, turns: int) -> Session:
    """Raises at its end."""
    yield agent.pause(0.05)
    for _ in range(turns):
        yield agent.user("Look.")
        return
    raise ValueError("a child's fault")


def main() -> int:
    """One run with an entry for each; what the command prints goes where it always goes."""
    folder = Path(sys.argv[1])
    wrong = [raises, raises_at_once, nonsense, unborn, bad_child, bad_side]
    registry.behaviours = lambda: {made.name: made for made in [*wrong, steady]}
    with ReplayServer([SLOW]) as server:
        swarm = {made.name.replace("_", "-"): {"behaviour": made.name} for made in [*wrong, steady]}
        keys = {
            "server": {"attach": server.url},
            "sessions": 1,
            "swarm": swarm,
            "scale": 0.01,
            "start": {"apart": "0s"},
        }
        file = folder / "wrong.yaml"
        file.write_text(json.dumps(keys))
        status = cli.main(["run", str(file), "--out", str(folder / "run"), "--shared-ok"])  # though it answer late
        calibrations = b'"max_tokens":1}'
        posted = (request for request in server.requests() if request.method == "POST")
        asked = [request for request in posted if not request.body.endswith(calibrations)]
        (folder / "requests").write_text(str(len(asked)))
    return status


if __name__ == "__main__":
    sys.exit(main())
