"""Prints the share of earlier prompts that the installed mlx-lm's prompt cache finds again when agents take turns.

Run by a test in a process of its own with a JSON list of [entries, histories, starts, trimmable]. The cache is mlx-lm's
own; what it holds is a stand-in. Entries are stored as its server does: the system prompt, the prompt up to its last
two tokens, the prompt with the answer.
"""

import itertools
import json
import sys
from dataclasses import dataclass

from mlx_lm.models.cache import LRUPromptCache

START, ADDED, ANSWER, ROUNDS, WARM_UP = 50, 20, 6, 12, 3
TAIL = [-1, -2]
fresh = itertools.count()


@dataclass
class Held:
    trimmable: bool
    nbytes: int = 1

    def is_trimmable(self) -> bool:
        return self.trimmable

    def trim(self, count: int) -> int:
        return count


def tokens(count: int) -> list[int]:
    return list(itertools.islice(fresh, count))


def turn(cache: LRUPromptCache, history: list[int], trimmable: bool) -> int:
    """Add a question and an answer to the history; return how many tokens of the prompt were found."""
    history += tokens(ADDED) + TAIL
    found = len(history) - len(cache.fetch_nearest_cache("model", list(history))[1])
    if found < START:
        cache.insert_cache("model", history[:START], [Held(trimmable)], cache_type="system")
    cache.insert_cache("model", history[: -len(TAIL)], [Held(trimmable)], cache_type="user")
    history += tokens(ANSWER)
    cache.insert_cache("model", list(history), [Held(trimmable)], cache_type="assistant")
    return found


def found_again(entries: int, histories: int, starts: int, trimmable: bool) -> float:
    cache, shared = LRUPromptCache(entries), [tokens(START) for _ in range(starts)]
    talks = [list(shared[number % starts]) for number in range(histories)]
    found = expected = 0
    for round_ in range(ROUNDS):
        for talk in talks:
            before = len(talk) - ANSWER
            again = turn(cache, talk, trimmable)
            if round_ >= WARM_UP:
                found, expected = found + min(again, before), expected + before
    return found / expected


print(json.dumps([found_again(*row) for row in json.loads(sys.argv[1])]))
