"""Decides which code word each history is given, how that is told and asked back, and whose a word is."""

import random
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from locust_agents.cluster.tiny.recipe import VARIANTS, WITHOUT_CALL

TASK = "task"
"""The place of the early word, in a history's first message; a late one's is `step N`, in the last turn's message."""

# Short, plain, and far from the words that the filler is made of. Their product must be a power of two.
_FIRST = (
    "amber azure bitter bold brass brave brisk calm candid cedar clever copper coral cosmic crimson crystal"
    " dapper dusty eager early emerald fabled frosty gentle gilded golden granite happy hazel hidden humble icy"
    " indigo ivory jolly lively lucky lunar maple mellow misty noble olive onyx opal patient polar proud quiet"
    " rapid royal ruby rustic sandy scarlet silent silver solar steady sunny tidy velvet violet witty"
).split()
_SECOND = (
    "acorn badger beacon bison canyon castle cobra condor cricket dolphin dragon eagle falcon ferret forest"
    " garden gazelle glacier harbor heron hornet island jackal jaguar kitten lagoon lantern lemur leopard lizard"
    " lobster magpie mammoth marmot meadow monkey mountain ocean orchid osprey otter panther parrot pelican"
    " penguin pigeon planet prairie puffin python rabbit raven river salmon sparrow spider sunset tiger toucan"
    " turtle valley walnut walrus zebra"
).split()
_PAIRS = len(_FIRST) * len(_SECOND)
_STEP = 1597  # odd, so that each agent has a pair of its own; large, so that neighbours have nothing in common
_WORD = re.compile(r"(?<![a-z])([a-z]{3,10})-([a-z]{3,10})-(\d{3})(?!\d)")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


@dataclass(frozen=True, slots=True)
class Crowd:
    """All agents of a run, in whatever process: the most of each entry, in the scenario's order."""

    agents: Mapping[str, int]
    seed: int = 1


def word(crowd: Crowd, agent: str, session: str, place: str) -> str:
    """The code word of one place of one session, as in `amber-otter-417`; nothing but these four decides it.

    The pair is the agent's own, so that whose a word is can be told without a table, in any process of the run; up to
    4096 agents share none. The digits are the session's and the place's: a word of an earlier session is not right.
    """
    pair = (_number(crowd, agent) * _STEP + _offset(crowd)) % _PAIRS
    digits = 100 + zlib.crc32(f"{crowd.seed} {session} {place}".encode()) % 900
    return f"{_FIRST[pair // len(_SECOND)]}-{_SECOND[pair % len(_SECOND)]}-{digits}"


def words_in(text: str) -> list[str]:
    """Everything in a text that has the form of a code word, in lower case, each once."""
    return list(dict.fromkeys(match.group() for match in _WORD.finditer(text.translate(_DASHES).lower())))


def owner(crowd: Crowd, found: str) -> tuple[str, int] | None:
    """The entry and the number in it of the agent whose word it is; None for a word that nobody in the run has."""
    first, second, _ = found.split("-")
    if first not in _FIRST or second not in _SECOND or not crowd.agents:
        return None
    pair = _FIRST.index(first) * len(_SECOND) + _SECOND.index(second)
    place = (pair - _offset(crowd)) * pow(_STEP, -1, _PAIRS) % _PAIRS
    number, entry = divmod(place, len(crowd.agents))
    name = list(crowd.agents)[entry]
    return (name, number) if number < crowd.agents[name] else None


def sentence(place: str, code_word: str) -> str:
    """What is planted, at the end of a message."""
    return f"\nThe code word of {'this task' if place == TASK else place} is {code_word}."


def question(places: Sequence[str]) -> str:
    """Asks for the words of these places, in a few tokens."""
    asked = " and ".join(f"the code word of {'this task' if place == TASK else place}" for place in places)
    what = "word" if len(places) == 1 else "words"
    return f"What is {asked}? Answer with the code {what} alone, and call no tool."


def cannot_be_asked(model: str | None, said: str | None) -> bool:
    """Whether this is a tiny model, by its name or by what it said: those say the same words whatever is asked."""
    return model in VARIANTS or (said or "").startswith(WITHOUT_CALL)


def _offset(crowd: Crowd) -> int:
    return random.Random(f"code words {crowd.seed}").randrange(_PAIRS)


def _number(crowd: Crowd, agent: str) -> int:
    """The agent's place among all: of a hand-written class, which no scenario lists, somewhere."""
    entry, _, rest = agent.rpartition("/")
    if entry not in crowd.agents:
        return zlib.crc32(agent.encode()) % _PAIRS
    return int(rest.rpartition(".")[2]) * len(crowd.agents) + list(crowd.agents).index(entry)
