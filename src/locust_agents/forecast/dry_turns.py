"""Decides what the turns of one rehearsed session are, and what its behaviour is told of their answers."""

from locust_agents.answers.stream import ToolCall
from locust_agents.forecast.dry_history import Call, History
from locust_agents.forecast.session_plan import PlannedTurn, Waits
from locust_agents.outcome import Outcome
from locust_agents.patience import Leave
from locust_agents.plugins.api import Hole, Reply, Turn

Made = tuple[PlannedTurn, Reply]


def spoken(history: History, turn: Turn, kind: str, waits: Waits) -> Made:
    """A turn of a conversation: new, or the last request once more."""
    call = history.repeat() if turn.is_again else history.say(turn)
    made = _planned(history, kind, call, history.answer(turn), waits, turn.patience.after_s)
    return made, _reply(history, made, _outcome(turn))


def filled(history: History, turn: Turn, hole: Hole, kind: str, waits: Waits) -> Made:
    """A hole in a file: no history and no system text."""
    call, tokens = history.fill(turn, hole)
    made = _planned(history, kind, call, tokens, waits, turn.patience.after_s)
    return made, Reply("Made up.", (), _outcome(turn), tokens, 0.0, made.prompt_tokens)


def summarised(history: History, keep_tokens: float, summary_tokens: int, waits: Waits) -> Made:
    """The call for a summary, after which the history is the summary and its own end."""
    call, tokens = history.ask_summary(summary_tokens)
    history.compact(keep_tokens, summary_tokens)
    made = _planned(history, "compaction", call, tokens, waits, None)
    return made, _reply(history, made, Outcome.OK)


def _planned(
    history: History,
    kind: str,
    call: Call,
    answer_tokens: int,
    waits: Waits,
    leaves_after_s: float | None,
) -> PlannedTurn:
    prompt, known, new = call
    return PlannedTurn(
        kind=kind,
        prompt_tokens=round(prompt),
        said_tokens=round(new),
        kept_tokens=None if known is None else round(known),
        answer_tokens=answer_tokens,
        waits=waits,
        leaves_after_s=leaves_after_s,
        shared=history.shared,
        shared_tokens=round(history.shared_tokens),
    )


def _outcome(turn: Turn) -> Outcome:
    return Outcome.OK if turn.patience == Leave() else Outcome.ABANDONED


def _reply(history: History, made: PlannedTurn, outcome: Outcome) -> Reply:
    tools = history.profile.tools
    call = ToolCall(f"call_{history.agent.session}_{history.turns}", tools[0] if tools else "", "{}")
    calls = (call,) if tools and outcome is Outcome.OK else ()
    return Reply("Made up.", calls, outcome, made.answer_tokens, 0.0, made.prompt_tokens)
