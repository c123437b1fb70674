"""The files that `locust-agents init` writes: a scenario, a behaviour and its test, small enough to be changed."""

from collections.abc import Mapping

_SCENARIO = """\
# What it would start and send:  locust-agents check swarm.yaml
# One run, with its table:       locust-agents run swarm.yaml
name: my agents
plugins: [my_agent.py]                # beside this file; it may hold several behaviours
server: {launch: {model: tiny, ranks: 2}}                      # or attach: http://mac1:8080
duration: 30s
scale: 0.05                           # a prompt of 20,000 tokens becomes one of 1,000; 1 for a true model
gaps: {scale: 0.05, cap: 2s}          # the pauses of tools and people
swarm:
  mine: {behaviour: my_agent, profile: opencode, agents: 2, with: {reads: 3}}
limits: {failures: 0%, ttft.max: 60s}
"""

_BEHAVIOUR = '''\
"""What my agent does."""

from locust_agents.plugins.api import TOOL_GAP, TOOL_RESULT, Agent, Reply, Session, behaviour


@behaviour
def my_agent(agent: Agent, reads: int = 5) -> Session:
    """Asks a question, then reads `reads` files; its tools take their time."""
    reply: Reply = yield agent.user("Where is the cache filled?", tokens=200)
    for _ in range(reads):
        if not reply.ok:
            return
        yield agent.pause(agent.draw(TOOL_GAP))
        reply = yield agent.tool_results(reply, tokens=agent.draw(TOOL_RESULT))
'''

_TEST = '''\
"""What my agent does, without a network."""

from my_agent import my_agent

from locust_agents.plugins.api import Outcome
from locust_agents.plugins.testing import play, reply


def test_it_asks_once_and_reads_as_often_as_told() -> None:
    assert len(play(my_agent, reads=3).turns) == 1 + 3


def test_it_gives_up_when_an_answer_fails() -> None:
    assert len(play(my_agent, reply(outcome=Outcome.STALLED)).turns) == 1
'''

FILES: Mapping[str, str] = {"swarm.yaml": _SCENARIO, "my_agent.py": _BEHAVIOUR, "test_my_agent.py": _TEST}
"""By name; none names another by more than that, so they may lie in any folder."""
