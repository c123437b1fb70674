"""Run by a test as a process of its own: a swarm whose every turn notes what was asked for and what came of it.

Prints one JSON list of [wanted tokens, tokens by which the server's prompt grew].
"""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from locust_agents.prompts.dialogue import Dialogue
from locust_agents.locustfiles import headless
from locust_agents.outcome import Outcome
from locust_agents.plugins import registry
from locust_agents.plugins.api import Reply, Say
from locust_agents.scenarios import loader
from locust_agents.answers.stream import Answer

rows: list[tuple[float, int]] = []
say, hear = Dialogue.say, Dialogue.hear
asked: dict[int, tuple[float, int | None]] = {}


def noting_say(self: Dialogue, says: Sequence[Say]) -> None:
    cap = self._style.profile.tool_result_cap_tokens or 0
    wanted = sum(min(one.tokens or 0, cap) if one.answers else one.tokens or 0 for one in says)
    before = self.continued_tokens if self.turns else self.preamble.tokens
    asked[id(self)] = (wanted * self._style.scale, before)
    say(self, says)


def noting_hear(self: Dialogue, answer: Answer, outcome: Outcome, first_token_s: float | None) -> Reply:
    wanted, before = asked[id(self)]
    if outcome is Outcome.OK and before is not None and answer.usage is not None:
        rows.append((wanted, (answer.usage.prompt_tokens or 0) - before))
    return hear(self, answer, outcome, first_token_s)


def main(out: str, *options: str) -> None:
    Dialogue.say, Dialogue.hear = noting_say, noting_hear  # type: ignore[method-assign]
    overrides = [loader.read_override(option) for option in options]
    path = loader.find("quickstart")
    headless.run(loader.load(path, registry.parameters(), registry.profiles(), overrides), Path(out))
    print(json.dumps(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
