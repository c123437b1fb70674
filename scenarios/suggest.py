"""Which known word a mistyped one was probably meant to be, and how a message says so."""

import difflib
from collections.abc import Collection


def closest(word: str, known: Collection[str]) -> str | None:
    """Compare without case and without the difference of - and _, which people mix up most."""
    plain = {_plain(name): name for name in known}
    found = difflib.get_close_matches(_plain(word), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def instead(word: str, known: Collection[str], names: str) -> str:
    """Return the tail of a message: the closest known word or else all of them, introduced by `names`."""
    guess = closest(word, known)
    if guess is not None:
        return f"did you mean '{guess}'?"
    return f"{names} {listed(known)}"


def listed(words: Collection[str]) -> str:
    """Join words for a sentence; `none` when there are none."""
    return ", ".join(words) or "none"


def _plain(word: str) -> str:
    return word.lower().replace("-", "_")
