"""Decides whether an answer was right: both code words and nobody else's, or the same words as were said alone."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from locust_agents.answers.stream import Answer
from locust_agents.right.canary import words_in

RIGHT, WRONG, FOREIGN, LOOPED = "right", "wrong_answer", "foreign_answer", "looped"

# The same few tokens at least four times over, which make up at least half of what was said.
_LOOP = re.compile(r"(.{1,60}?)\1{3,}", re.DOTALL)
_LOOP_SHARE = 0.5
# What is said of an answer, and of a longer one what a loop is looked for in.
_SHOWN_CHARS, _LOOKED_CHARS = 60, 1000


@dataclass(frozen=True, slots=True)
class Checks:
    """What is asked beside the agents' own turns, once in `every` turns of an agent.

    `words`: code words are planted and asked back. `alone` is what the server said to the identity prompt before the
    load; None where it is not asked again.
    """

    every: int
    words: bool = False
    alone: str | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one: the verdict on code words or whether the answer was the `same`; None where it tells neither."""

    canary: str | None = None
    detail: str | None = None
    same: bool | None = None


Judge = Callable[[Answer], Checked]
"""Told an answer that ended properly."""


def of_words(answer: Answer, own: Sequence[str], owner: Callable[[str], str | None]) -> Checked:
    """The verdict on an answer to a question for `own` words; `owner` says whose any other word is, None: nobody's.

    A word of another's is looked for in all that was said, tool calls and reasoning too. The own ones are looked for in
    the content, and in the reasoning where there is no content. What was cut in its reasoning before it came to the
    words, or called a tool instead of answering, is neither right nor wrong: the verdict is None.
    """
    content, reasoning, calls = "".join(answer.content), "".join(answer.reasoning), _calls(answer)
    for word in words_in(f"{content}\n{reasoning}\n{calls}"):
        if word not in own and (whose := owner(word)) is not None:
            return Checked(FOREIGN, f"{word} is a word of {whose}; {_asked(own, content or reasoning or calls)}")
    said = content if content.strip() else reasoning
    if is_looped(said):
        return Checked(LOOPED, _asked(own, said[-_LOOKED_CHARS:]))
    if set(own) <= set(words_in(said)):
        return Checked(RIGHT)
    if not content.strip() and (calls or answer.finish_reason == "length"):
        return Checked(None, "not judged: " + ("a tool was called instead" if calls else "cut in its reasoning"))
    return Checked(WRONG, _asked(own, said))


def of_identity(answer: Answer, alone: str) -> Checked:
    """Whether the same was said as alone, to the letter; a difference with the first characters that differ."""
    told = difference(alone, said(answer))
    return Checked(detail=told, same=told is None)


def is_looped(text: str) -> bool:
    """Whether most of it is the same few tokens over and over."""
    end = text.lstrip()[-_LOOKED_CHARS:]
    return any(len(match.group()) >= _LOOP_SHARE * len(end) for match in _LOOP.finditer(end))


def said(answer: Answer) -> str:
    """All that was said, in one text that can be compared: reasoning, content, and calls without their random ids."""
    return "".join((*answer.reasoning, *answer.content)) + _calls(answer)


def difference(alone: str, crowd: str) -> str | None:
    """Where and how two answers to the same prompt begin to differ; None where they do not."""
    if alone == crowd:
        return None
    place = next(
        (at for at, (a, b) in enumerate(zip(alone, crowd, strict=False)) if a != b), min(len(alone), len(crowd))
    )
    return f"differs at character {place + 1}: alone {_quoted(alone[place:])}, in the crowd {_quoted(crowd[place:])}"


def _calls(answer: Answer) -> str:
    return " ".join(f"{call.name}({call.arguments})" for call in answer.tool_calls.values())


def _asked(own: Sequence[str], text: str) -> str:
    return f"asked for {' and '.join(own)}, it said {_shown(text)}"


def _shown(text: str) -> str:
    return _quoted(" ".join(text.split()))


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…") if text else "nothing"
