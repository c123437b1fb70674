"""Builds a profile's preamble from a calibration: the same bytes in every process that has the same values."""

import random

from locust_agents import conversation, filler, tools
from locust_agents.conversation import Preamble
from locust_agents.profile import Profile
from locust_agents.sizing import Calibration


def nonce(rng: random.Random) -> str:
    """A run's mark: three groups of three digits, which are the same number of tokens whatever the digits are."""
    return " ".join(f"{rng.randrange(1000):03}" for _ in range(3))


def key(profile: Profile, scale: float) -> str:
    """The name of a profile's preamble at a scale, in a calibration and in the table of shared prefixes."""
    return profile.name if scale == 1 else f"{profile.name} x {scale:g}"


def guess(profile: Profile, scale: float, calibration: Calibration) -> tuple[int, int]:
    """The (system, tools) characters that should give the profile's scaled tokens, before any request said so."""
    per_char = calibration.tokens_per_char
    return round(profile.system_tokens * scale / per_char), round(profile.tool_tokens * scale / per_char)


def build(profile: Profile, model: str, system_chars: int, tool_chars: int, nonce: str, tokens: int | None) -> Preamble:
    """The preamble with so much filler; the nonce opens it, so that nothing of an earlier run is found in a cache."""
    rng = random.Random(f"system of {profile.name}")
    opening = f"# run {nonce}\n" if nonce else ""
    system_text = opening + filler.text(system_chars - len(opening), rng) if profile.system_tokens else None
    tool_list = tools.build(profile.tools, tool_chars, nonce)
    parameters = dict(profile.parameters) if tool_list else {}
    return conversation.preamble(profile.name, model, system_text, tool_list, parameters, tokens)


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
