"""The files that some products put before a history: each replaced in its place when it changes."""

import random
from collections.abc import Sequence

from locust_agents.plugins.api import Document
from locust_agents.prompts import filler, messages
from locust_agents.prompts.sizing import Sizer

_TAKEN = messages.assistant("Ok.")
# What is shown where a file is to change and a behaviour shows none: one of the size that Aider's users edit.
DEFAULT = Document("src/app.py", 2000)


class Shelf:
    """The files before one history: a user message each, and the model's word that it has seen it."""

    def __init__(self, seed: str, scale: float, sizer: Sizer) -> None:
        self._seed = seed
        self._scale = scale
        self._sizer = sizer
        self._shown: dict[str, Document] = {}
        self._edits: dict[str, int] = {}
        self._messages: dict[str, bytes] = {}
        self._renewals = 0

    @property
    def messages(self) -> list[bytes]:
        """What stands before the history."""
        return [part for message in self._messages.values() for part in (message, _TAKEN)]

    def show(self, documents: Sequence[Document]) -> list[str]:
        """Puts the files there, or in the place of their earlier versions; names those that are new or changed."""
        changed = [document for document in documents if self._shown.get(document.name) != document]
        for document in changed:
            self._write(document)
        return [f"{document.name} version {document.version}" for document in changed]

    def edit(self, rng: random.Random) -> list[str]:
        """Changes a line of one of the files, by a hand that no behaviour knows of; shows one where there is none."""
        if not self._shown:
            return self.show([DEFAULT])
        document = rng.choice(list(self._shown.values()))
        self._edits[document.name] = self._edits.get(document.name, 0) + 1
        self._write(document)
        return [f"{document.name} edited"]

    def renew(self) -> None:
        """Gives every file another text."""
        self._renewals += 1
        for document in self._shown.values():
            self._write(document)

    def _write(self, document: Document) -> None:
        self._shown[document.name] = document
        around = 2 * self._sizer.message_tokens
        chars = self._sizer.plain_chars(document.tokens * self._scale - around) - len(document.name)
        seed = f"{self._seed} {document.name} {self._renewals}"
        text = filler.text(chars, random.Random(seed))
        for version in range(1, document.version + self._edits.get(document.name, 0)):
            text = _edited(text, random.Random(f"{seed} edit {version}"))
        self._messages[document.name] = messages.user(f"{document.name}\n{text}")


def _edited(text: str, rng: random.Random) -> str:
    """The text with another line somewhere; as in an editor, what stands before it stays."""
    lines = text.splitlines(keepends=True) or [""]
    lines[rng.randrange(len(lines))] = rng.choice(filler.pool())
    return "".join(lines)
