"""The three hooks that this product adds to Locust's events; plugin code listens to them like to any other."""

from dataclasses import dataclass

from locust.event import EventHook, Events


@dataclass(frozen=True, slots=True)
class Hooks:
    """Also attributes of `environment.events`, under the same names.

    first_token(entry, agent, session, ttft_s) and prefill_progress(entry, agent, session, done, total) fire as the
    bytes are read, in the process that reads them; turn(record) once for each turn as it ends, and at the master too.
    """

    first_token: EventHook
    prefill_progress: EventHook
    turn: EventHook


def ensure_hooks(events: Events) -> Hooks:
    """Gives `events` the hooks that it lacks. `Environment()` makes fresh events, so every environment needs a call."""
    names = ("first_token", "prefill_progress", "turn")
    for name in names:
        if not hasattr(events, name):
            setattr(events, name, EventHook())
    return Hooks(*(getattr(events, name) for name in names))
