"""Decides whether a server is up, whether it can answer a turn, and what answer is one."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from itertools import cycle, islice
from math import ceil

from locust_agents.answers.stream import StreamReader
from locust_agents.cluster import http_calls
from locust_agents.cluster.http_calls import UNHEARD
from locust_agents.cluster.policy import Health, TurnResult
from locust_agents.cluster.watch.heartbeat import Sign
from locust_agents.prompts import request

WORDS = ("return", "value", "class", "import", "result", "self", "name", "list")
"""Words that are one token each, with the space before them, in tokenizers trained on code."""

STEPS = 2.2
"""Prefill steps in the ready turn: two whole ones, and some room for a tokenizer that joins words."""

PAGE, PAGE_BYTES = "/health", 4096


def health(url: str, timeout_s: float) -> Health:
    """What GET /health says. WELL only means that the generation thread lives: it may still be loading, or hang."""
    try:
        status = http_calls.get(url, PAGE, timeout_s).status
    except UNHEARD:
        return Health.SILENT
    return Health.DEAD if status == 503 else Health.WELL


def sign(url: str, timeout_s: float, headers: Mapping[str, str] | None = None) -> Sign:
    """The same of a server that is in use, ours or not: a refusal is told from silence, and 503 from 503."""
    try:
        page = http_calls.get(url, PAGE, timeout_s, headers, PAGE_BYTES)
    except ConnectionRefusedError:
        return Sign.REFUSED
    except UNHEARD:
        return Sign.SLOW
    if page.status in (502, 503):
        return Sign.DEAD if b'"unavailable"' in page.body else Sign.UNWELL
    return Sign.ABSENT if 400 <= page.status < 500 else Sign.WELL


def ready_turn(
    url: str, model_name: str, prefill_step_size: int, timeout_s: float, tick_s: float = 0.25
) -> Iterator[TurnResult | None]:
    """Sends a real streamed turn of two prefill steps and eight tokens.

    Yields None at least every `tick_s` while the answer is on its way, so that the caller can look after other things,
    and the result last.
    """
    yield from _turn(url, ready_body(model_name, prefill_step_size), {}, timeout_s, tick_s)


def probe_turn(
    url: str, model_name: str, timeout_s: float, tick_s: float = 0.05, headers: Mapping[str, str] | None = None
) -> Generator[TurnResult | None]:
    """Asks for a sign of life: a streamed turn of a few words and one token, in ticks as `ready_turn`.

    Let it end: a server that batches nothing (--kv-bits, two ranks) may hang for good when it is left in the middle.
    """
    return _turn(url, probe_body(model_name), headers or {}, timeout_s, tick_s)


def probe_body(model_name: str) -> bytes:
    """The request's JSON, the same each time, so that it takes one place in the prompt cache at most."""
    return request.question("probe", model_name, "Are you there?", 1).body()


def ready_body(model_name: str, prefill_step_size: int) -> bytes:
    """The request's JSON, about 2.2 prefill steps long; no `seed`, since that would keep it out of the batch."""
    prompt = " ".join(islice(cycle(WORDS), ceil(STEPS * prefill_step_size)))
    return request.question("ready", model_name, prompt, 8).body()


def judge(status: int, answer: bytes) -> TurnResult:
    """Whether the bytes are a whole answer, read as a turn of an agent's is: status 200, a finish_reason and [DONE]."""
    text = answer.decode(errors="replace")
    if status != 200:
        return TurnResult(False, f"status {status}, {_shorten(text)}", refused=True)
    reader = StreamReader()
    reader.feed(answer, 0.0)
    heard = reader.answer
    if heard.protocol_error is not None:
        return TurnResult(False, heard.protocol_error, refused=True)
    if heard.finish_reason is None or not heard.done:
        return TurnResult(False, f"the answer ends too early, {_shorten(text)}")
    return TurnResult(True, prompt_tokens=None if heard.usage is None else heard.usage.prompt_tokens)


def _turn(
    url: str, body: bytes, headers: Mapping[str, str], timeout_s: float, tick_s: float
) -> Generator[TurnResult | None]:
    try:
        with closing(http_calls.post(url, request.CHAT, body, headers, timeout_s, tick_s)) as pages:
            for page in pages:
                yield None if page is None else judge(page.status, page.body)
    except UNHEARD as error:
        yield TurnResult(False, http_calls.why(error))


def _shorten(text: str) -> str:
    return repr(text[-200:]) if text else "no text"
