"""Decides which of a turn's messages answer the calls that are open: each call gets one result, in their order."""

from collections.abc import Sequence
from dataclasses import replace

from locust_agents.answers.stream import ToolCall
from locust_agents.plugins.api import Say

# What a client answers a call with that a behaviour says nothing to.
_NOT_RUN = Say("The call was not run.")


def matched(calls: Sequence[ToolCall], says: Sequence[Say]) -> tuple[list[Say], list[Say]]:
    """The answers to every open call, in the order of the calls; and the rest, which the user says."""
    given = {say.answers.id: say for say in says if say.answers is not None}
    answers = [replace(given.get(call.id, _NOT_RUN), answers=call) for call in calls]
    opened = {call.id for call in calls}
    strays = (say for say in says if say.answers is None or say.answers.id not in opened)
    return answers, [replace(say, answers=None) for say in strays]
