"""Decides what the record of an attempt says."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from locust_agents import records
from locust_agents.answers import prefill_speed, tool_calls
from locust_agents.answers.stream import Answer
from locust_agents.locustfiles import missed
from locust_agents.locustfiles.attempt_values import Attempt, Over
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.transport import Exchange
from locust_agents.outcome import Outcome
from locust_agents.prompts.branch import Branch
from locust_agents.prompts.dialogue import Dialogue
from locust_agents.records import TurnRecord
from locust_agents.right.answer_check import Checked


def record(swarm: Swarm, dialogue: Dialogue | Branch, attempt: Attempt, over: Over) -> TurnRecord:
    """Its record; who a miss is blamed on, and what was capped, is added by those who know."""
    exchange = over.exchange
    return TurnRecord(
        schema=records.SCHEMA,
        run=swarm.plan.run,
        turn=dialogue.turns,
        attempt=attempt.number,
        epoch=swarm.plan.epoch,
        worker=swarm.worker,
        wall_time=over.wall_time,
        late_s=attempt.late_s,
        end_s=over.end_s,
        loop_lag_s=swarm.lag.worst_since(exchange.started),
        expected_tokens=missed.expected_tokens(swarm, dialogue, exchange),
        miss=None,
        miss_detail=None,
        miss_tokens=None,
        capped_tokens=None,
        outcome=over.outcome,
        error=over.error,
        tool_call_kinds=_faults(exchange.answer, dialogue),
        no_call=attempt.no_call,
        **dataclasses.asdict(attempt.identity),
        **_when(exchange),
        **_how_much(exchange),
        **_how_it_ended(exchange),
        **_checked(attempt, over),
    )


def _when(exchange: Exchange) -> dict[str, Any]:
    answer = exchange.answer
    return {
        "connect_s": exchange.connect_s,
        "sent_s": exchange.sent_s,
        "headers_s": exchange.headers_s,
        "first_progress_s": answer.first_progress_s,
        "prefill_end_s": answer.prefill_end_s,
        "first_token_s": answer.first_token_s,
        "first_channel": answer.first_channel,
        "first_answer_s": answer.first_answer_s,
        "last_token_s": answer.last_token_s,
        "stall_s": answer.stall_s,
        "tool_silence_s": answer.tool_silence_s,
        "itl_hist": answer.itl_hist,
    }


def _how_much(exchange: Exchange) -> dict[str, Any]:
    answer, usage = exchange.answer, exchange.answer.usage
    prompt, cached = (None, None) if usage is None else (usage.prompt_tokens, usage.cached_tokens)
    speed, is_bound = prefill_speed.of(answer.progress, exchange.sent_s)
    return {
        "chunks": answer.chunks,
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "computed_tokens": _computed(answer, prompt, cached),
        "completion_tokens": None if usage is None else usage.completion_tokens,
        "request_bytes": exchange.request_bytes,
        "response_bytes": answer.bytes,
        "wasted_prefill_tokens": _wasted(answer),
        "prefill_tokens_s": speed,
        "prefill_is_bound": is_bound,
    }


def _how_it_ended(exchange: Exchange) -> dict[str, Any]:
    answer = exchange.answer
    return {
        "finish_reason": answer.finish_reason,
        "http_status": exchange.http_status,
        "tool_calls": (len(answer.tool_calls), sum(call.is_bad for call in answer.tool_calls.values())),
        "reasoning_chunks": answer.reasoning_chunks if answer.is_streamed else None,
        "streamed": answer.is_streamed,
    }


def _checked(attempt: Attempt, over: Over) -> dict[str, Any]:
    judge = attempt.judge
    found = Checked() if judge is None or over.outcome is not Outcome.OK else judge(over.exchange.answer)
    return {"canary": found.canary, "canary_detail": found.detail, "same": found.same}


def _faults(answer: Answer, dialogue: Dialogue | Branch) -> Mapping[str, int]:
    found = tool_calls.checked(list(answer.tool_calls.values()), dialogue.preamble.tools)
    return {str(kind): number for kind, number in found.items()}


def _wasted(answer: Answer) -> int | None:
    """Tokens that were prefilled for an answer of which no token came; None where none was, or nobody said so."""
    return answer.progress[-1].done if answer.progress and answer.first_token_s is None else None


def _computed(answer: Answer, prompt: int | None, cached: int | None) -> int | None:
    if answer.progress:
        step = answer.progress[-1]
        return step.total if answer.first_token_s is not None else step.done
    return None if prompt is None or cached is None else prompt - cached
