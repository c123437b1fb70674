"""Run by a test as a process of its own: our command, with every turn noting what was asked for and what came of it.

Writes one JSON list of [wanted tokens, tokens by which the server's prompt grew] to the file that is named first.
"""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from locust_agents import cli
from locust_agents.answers.stream import Answer
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Reply, Say
from locust_agents.prompts.dialogue import Dialogue

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


def main(sizes: str, *arguments: str) -> int:
    Dialogue.say, Dialogue.hear = noting_say, noting_hear  # type: ignore[method-assign]
    status = cli.main(arguments)
    Path(sizes).write_text(json.dumps(rows))
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
