"""Builds a profile's preamble from a calibration: the same bytes in every process that has the same values."""

import random
from collections.abc import Sequence
from dataclasses import replace

from locust_agents.profile import Profile
from locust_agents.prompts import conversation, filler, messages, slots, tools
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.sizing import Calibration
from locust_agents.prompts.slots import Slot

# Questions and answers in turn.
_EXAMPLES = 4


def nonce(rng: random.Random) -> str:
    """A run's mark: three groups of three digits, which are the same number of tokens whatever the digits are."""
    return slots.fill(rng)


def key(profile: Profile, scale: float) -> str:
    """The name of a profile's preamble at a scale, in a calibration and in the table of shared prefixes."""
    return profile.name if scale == 1 else f"{profile.name} x {scale:g}"


def wanted_tokens(profile: Profile) -> int:
    """The unscaled tokens of a profile's preamble: system text, examples and tools."""
    return profile.system_tokens + profile.few_shot_tokens + profile.tool_tokens


def guess(profile: Profile, scale: float, calibration: Calibration) -> tuple[int, int]:
    """The characters that should give the profile's scaled tokens, before any request said so.

    The first are those of the system text and the examples, the second those of the tools.
    """
    per_char = calibration.tokens_per_char
    said = profile.system_tokens + profile.few_shot_tokens
    return round(said * scale / per_char), round(profile.tool_tokens * scale / per_char)


def build(profile: Profile, model: str, system_chars: int, tool_chars: int, nonce: str, tokens: int | None) -> Preamble:
    """The preamble with so much filler; the nonce opens it, so that nothing of an earlier run is found in a cache.

    `system_chars` are those of the system text and the examples together.
    """
    prose_chars = _prose_chars(profile, system_chars)
    planned = slots.planned(profile, prose_chars, tool_chars)
    marks = {slot.share: slot.text for slot in planned if slot.part == "tools"}
    tool_list = tools.build(profile.tools, tool_chars, nonce, marks)
    made = conversation.preamble(
        profile.name,
        model,
        _system(profile, prose_chars, nonce, planned) if profile.system_tokens else None,
        tool_list,
        {name: value for name, value in profile.parameters.items() if tool_list or name not in conversation.OF_TOOLS},
        tokens,
        examples=_examples(profile, system_chars - prose_chars),
        stream=profile.stream,
        include_usage=profile.include_usage,
        nonce=nonce,
    )
    placed = slots.placed(planned, made.head, prose_chars / max(1, system_chars + tool_chars))
    return replace(made, slots=placed, texts=tuple(slot.text for slot in placed))


def calibrated(profile: Profile, model: str, scale: float, calibration: Calibration) -> Preamble:
    """The preamble of a run: measured sizes where the calibration has them, else the guess."""
    name = key(profile, scale)
    system_chars, tool_chars = guess(profile, scale, calibration)
    return build(
        profile,
        model,
        calibration.system_chars.get(name, system_chars),
        calibration.tool_chars.get(name, tool_chars),
        calibration.nonce,
        calibration.preamble_tokens.get(name),
    )


def _prose_chars(profile: Profile, system_chars: int) -> int:
    said = profile.system_tokens + profile.few_shot_tokens
    return round(system_chars * profile.system_tokens / said) if said else 0


def _system(profile: Profile, chars: int, nonce: str, planned: Sequence[Slot]) -> str:
    """Filler behind a first line with the nonce, and a line for each slot at its share of the text."""
    marks = " ".join([f"run {nonce}"] * bool(nonce) + [slot.text for slot in planned if slot.part == "system_head"])
    opening = f"# {marks}\n" if marks else ""
    lines = [(slot.share, f"# {slot.text}\n") for slot in planned if slot.part == "system"]
    room = chars - len(opening) - sum(len(line) for _, line in lines)
    text = filler.text(room, random.Random(f"system of {profile.name}"))
    for share, line in reversed(lines):
        place = text.rfind("\n", 0, max(0, int(share * chars) - len(opening))) + 1
        text = text[:place] + line + text[place:]
    return opening + text


def _examples(profile: Profile, chars: int) -> list[bytes]:
    rng = random.Random(f"examples of {profile.name}")
    texts = [filler.text(chars / _EXAMPLES, rng) for _ in range(_EXAMPLES if profile.few_shot_tokens else 0)]
    return [messages.assistant(text) if place % 2 else messages.user(text) for place, text in enumerate(texts)]
