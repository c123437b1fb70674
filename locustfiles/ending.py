"""How a run ended: its exit status, what summary.json holds, and what is stopped."""

import dataclasses
import json
from typing import Any

from locust_agents import stored_run, summary, verdict, window
from locust_agents.cluster import this_machine
from locust_agents.forecast import last_curve
from locust_agents.locustfiles import end_text, report_page, self_honesty, senders
from locust_agents.locustfiles.run_state import RunState
from locust_agents.outcome import Outcome
from locust_agents.why import reasons
from locust_agents.why.reasons import Cause
from locust_agents.window import Taken


def sum_up(state: RunState) -> None:
    """Users have been stopped: collects what workers still hold, and writes the summary."""
    senders.collect(state)
    if state.listening is not None:
        state.listening.close()
    if state.receiver is not None:
        state.plugin_faults.extend(fault for told in state.receiver.faults.values() for fault in told)
    if state.lookout is not None:
        state.lookout.close()
    if state.folder is not None and state.running is not None:
        curve = None if state.speed is None else state.speed.prefill
        setting = state.setting
        taken = window.take(state.records, setting)
        state.summary = summary.summarise(state.records, state.running.limits, curve, setting, taken)
        state.causes = _causes(state, taken)
        state.trust = self_honesty.trust(state, taken)
        state.folder.write("summary.json", json.dumps(as_json(state), indent=1))
        state.folder.write("summary.md", end_text.page(state, exit_status(state)))
        state.page = report_page.begin(state.folder.path)


def stop(state: RunState) -> None:
    """Ends the server, if it is ours; says what could not be made sure of."""
    if state.server is not None:
        for sentence in state.server.stop():
            state.say(sentence)
        state.server = None
    if state.folder is not None:
        if state.summary is not None:
            report_page.finish(state.page, state.folder.path, state.say)
        state.folder.close()
        state.folder = None


def exit_status(state: RunState) -> int:
    """As the contract has it: 130, 3, 2, 4, 1, the first that holds."""
    of_error = getattr(state.error, "exit_status", 3) if state.error is not None else 0
    of_workers = any(state.receiver.faults.values()) if state.receiver is not None else False
    earned = {
        4 if state.untrusted else 0,
        130 if state.interrupted else 0,
        of_error,
        2 if state.plugin_faults or of_workers else 0,
        _of_records(state) if not of_error else 0,
    }
    return next((status for status in (130, 3, 2, 4, 1) if status in earned), 0)


def as_json(state: RunState) -> dict[str, Any]:
    """What summary.json holds: how the run ended, what was known before it, then the figures."""
    error = None if state.error is None else str(state.error)
    peaks = None if state.lookout is None else state.lookout.peaks()
    return {
        "exit_status": exit_status(state),
        "error": error,
        "plugin_faults": state.plugin_faults,
        "untrusted": state.untrusted,
        "trust": _fields(state.trust),
        "missing": state.missing,
        "gaps": [dataclasses.asdict(gap) for gap in state.gaps],
        "vitals": _fields(peaks),
        "forecast": _fields(state.forecast),
        "curve": _curve(state),
        "benchmark": _fields(state.benchmark),
        "machine": _fields(this_machine.facts()),
        "cache_entries": None if state.blamer is None else state.blamer.entries,
        "why": [dataclasses.asdict(cause) for cause in state.causes],
        **(_fields(state.summary) or {}),
    }


def _of_records(state: RunState) -> int:
    """Before the summary is made, there are no judgements."""
    if state.summary is None:
        return verdict.exit_status(window.measured(state.records, state.setting), ())
    return verdict.earned(Outcome.OK in state.summary.outcomes, state.summary.judgements)


def _causes(state: RunState, taken: Taken) -> tuple[Cause, ...]:
    """Why the worst turns of each entry waited."""
    if state.path is None or state.running is None:
        return ()
    return reasons.why(
        state.records,
        stored_run.notes(state.path),
        None if state.blamer is None else state.blamer.entries,
        None if state.speed is None else state.speed.prefill,
        state.running.server.attach is not None,
        taken.measured,
    )


def _curve(state: RunState) -> dict[str, Any] | None:
    """The timed prompts and the tokens/s of an answer, with the run in which they were timed."""
    if state.timed is None or (speed := state.timed.speed).prefill is None:
        return None
    return {"run": state.timed.run, **last_curve.fields_of(speed.prefill, speed.decode_tok_s)}


def _fields(value: Any) -> dict[str, Any] | None:
    return None if value is None else dataclasses.asdict(value)
