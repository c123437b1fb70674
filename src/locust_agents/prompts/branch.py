"""A request beside a history: what is sent and recorded as a turn is, and changes nothing of what comes next."""

from dataclasses import dataclass

from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.request import Request


@dataclass(frozen=True, slots=True)
class Branch:
    """`turns` is the turn that it was asked behind; `continued_tokens` are those of it that the cache should hold."""

    turns: int
    preamble: Preamble
    request: Request
    continued_tokens: int | None = None

    @property
    def path(self) -> str:
        """Where it goes, below the server's address."""
        return self.request.path
