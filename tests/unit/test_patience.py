"""How long a client waits: on tokens, not on bytes, unless its own client is fooled by comments."""

import math

import pytest

from locust_agents.outcome import Ending, Outcome
from locust_agents.patience import Leave, Patience, Timeouts
from locust_agents.stream import Answer, Progress, StreamReader

LIMITS = Timeouts(connect_s=10.0, headers_s=60.0, first_token_s=100.0, silence_s=30.0, turn_s=None)
FOR_EVER = Timeouts(connect_s=None, headers_s=None, first_token_s=None, silence_s=None, turn_s=None)
SENT_S, HEADERS_S = 2.0, 5.0

COMMENT = b": keepalive 8/20\n\n"
WORD = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'

QUIET = Answer()
IN_PREFILL = Answer(first_progress_s=50.0, last_byte_s=90.0)
IN_DECODE = Answer(first_token_s=100.0, last_token_s=110.0, last_byte_s=110.0, chunks=4)
COMMENTED = Answer(first_token_s=100.0, last_token_s=110.0, last_byte_s=125.0, chunks=4)


def turn(turn_s: float | None = None, leave_s: float | None = None, fooled: bool = False) -> Patience:
    timeouts = Timeouts(LIMITS.connect_s, LIMITS.headers_s, LIMITS.first_token_s, LIMITS.silence_s, turn_s)
    return Patience(timeouts, fooled, Leave(after_s=leave_s))


@pytest.mark.parametrize(
    ("answer", "fooled", "deadline", "remark"),
    [
        (QUIET, False, (102.0, Outcome.FIRST_TOKEN_TIMEOUT), "from the request's last byte"),
        (QUIET, True, (105.0, Outcome.FIRST_TOKEN_TIMEOUT), "the headers are bytes too"),
        (IN_PREFILL, False, (102.0, Outcome.FIRST_TOKEN_TIMEOUT), "comments are no token"),
        (IN_PREFILL, True, (190.0, Outcome.FIRST_TOKEN_TIMEOUT), "comments restart a client that they fool"),
        (IN_DECODE, False, (140.0, Outcome.STALLED), "from the last token"),
        (IN_DECODE, True, (140.0, Outcome.STALLED), "which was the last byte"),
        (COMMENTED, False, (140.0, Outcome.STALLED), "comments are no token here either"),
        (COMMENTED, True, (155.0, Outcome.STALLED), "nor here for a client that they fool"),
    ],
)
def test_reading(answer: Answer, fooled: bool, deadline: tuple[float, Outcome], remark: str) -> None:
    assert turn(fooled=fooled).reading(SENT_S, HEADERS_S, answer) == deadline, remark


@pytest.mark.parametrize(
    ("headers_s", "first_token_s", "deadline_s", "words"),
    [
        (60.0, 100.0, 62.0, "no headers within 60.0 s"),
        (100.0, 60.0, 62.0, "no token within 60.0 s"),
        (60.0, 60.0, 62.0, "no token within 60.0 s"),
        (60.0, None, 62.0, "no headers within 60.0 s"),
        (None, 60.0, 62.0, "no token within 60.0 s"),
    ],
)
def test_waiting_for_headers(
    headers_s: float | None, first_token_s: float | None, deadline_s: float, words: str
) -> None:
    patience = Patience(Timeouts(headers_s=headers_s, first_token_s=first_token_s))
    assert patience.waiting(SENT_S) == (deadline_s, Outcome.FIRST_TOKEN_TIMEOUT)
    ended = patience.ending(Outcome.FIRST_TOKEN_TIMEOUT, has_headers=False)
    assert ended == Ending(Outcome.FIRST_TOKEN_TIMEOUT, words)


@pytest.mark.parametrize(
    ("headers_s", "first_token_s", "deadline_s", "words"),
    [
        (60.0, 100.0, 62.0, "no headers within 60.0 s"),
        (100.0, 60.0, 102.0, "no headers within 100.0 s"),
        (60.0, None, 62.0, "no headers within 60.0 s"),
        (None, 60.0, math.inf, None),
    ],
)
def test_a_limit_that_begins_with_the_headers_does_not_hold_before_them(
    headers_s: float | None, first_token_s: float | None, deadline_s: float, words: str | None
) -> None:
    patience = Patience(Timeouts(headers_s=headers_s, first_token_s=first_token_s), counts_from_headers=True)
    assert patience.waiting(SENT_S) == (deadline_s, Outcome.FIRST_TOKEN_TIMEOUT)
    if words is not None:
        assert patience.ending(Outcome.FIRST_TOKEN_TIMEOUT, has_headers=False).error == words


@pytest.mark.parametrize(
    ("fooled", "from_headers", "answer", "deadline_s", "words"),
    [
        (False, False, QUIET, 102.0, "no token within 100.0 s"),
        (False, True, QUIET, 105.0, "no token within 100.0 s of the headers"),
        (False, True, IN_PREFILL, 105.0, "no token within 100.0 s of the headers"),
        (True, False, IN_PREFILL, 190.0, "no byte for 100.0 s, and no token yet"),
        (True, True, IN_PREFILL, 190.0, "no byte for 100.0 s, and no token yet"),
    ],
)
def test_the_first_token_after_the_headers(
    fooled: bool, from_headers: bool, answer: Answer, deadline_s: float, words: str
) -> None:
    patience = Patience(LIMITS, fooled, counts_from_headers=from_headers)
    assert patience.reading(SENT_S, HEADERS_S, answer) == (deadline_s, Outcome.FIRST_TOKEN_TIMEOUT)
    assert patience.ending(Outcome.FIRST_TOKEN_TIMEOUT, has_headers=True).error == words


@pytest.mark.parametrize("fooled", [False, True])
def test_between_tokens_the_headers_are_forgotten(fooled: bool) -> None:
    patience = Patience(LIMITS, fooled, counts_from_headers=True)
    assert patience.reading(SENT_S, HEADERS_S, IN_DECODE) == (140.0, Outcome.STALLED)


def test_connecting() -> None:
    assert turn().connecting() == (10.0, Outcome.CONNECT_TIMEOUT)


@pytest.mark.parametrize(
    ("patience", "answer", "deadline", "remark"),
    [
        (turn(turn_s=20.0), QUIET, (20.0, Outcome.TURN_TIMEOUT), "the whole turn is shorter than the wait for a token"),
        (turn(turn_s=102.0), QUIET, (102.0, Outcome.FIRST_TOKEN_TIMEOUT), "at the same time: the first in the order"),
        (turn(turn_s=200.0), IN_DECODE, (140.0, Outcome.STALLED), "the whole turn is longer"),
        (turn(leave_s=8.0), QUIET, (8.0, Outcome.ABANDONED), "it leaves before"),
        (turn(leave_s=102.0), QUIET, (102.0, Outcome.ABANDONED), "at the same time: leaving comes first in the order"),
        (turn(leave_s=200.0), QUIET, (102.0, Outcome.FIRST_TOKEN_TIMEOUT), "it would have left after"),
        (turn(turn_s=9.0, leave_s=8.0), IN_DECODE, (8.0, Outcome.ABANDONED), "the soonest of all"),
        (turn(turn_s=7.0, leave_s=8.0), IN_DECODE, (7.0, Outcome.TURN_TIMEOUT), "the soonest of all"),
    ],
)
def test_the_soonest_deadline(patience: Patience, answer: Answer, deadline: tuple[float, Outcome], remark: str) -> None:
    assert patience.reading(SENT_S, HEADERS_S, answer) == deadline, remark


def test_leaving_and_the_turns_end_also_hold_before_the_answer() -> None:
    assert turn(leave_s=1.0).connecting() == (1.0, Outcome.ABANDONED)
    assert turn(turn_s=1.0).connecting() == (1.0, Outcome.TURN_TIMEOUT)
    assert turn(leave_s=3.0).waiting(SENT_S) == (3.0, Outcome.ABANDONED)
    assert turn(turn_s=3.0).waiting(SENT_S) == (3.0, Outcome.TURN_TIMEOUT)


@pytest.mark.parametrize("fooled", [False, True])
def test_none_is_for_ever(fooled: bool) -> None:
    patience = Patience(FOR_EVER, fooled)
    answers = (QUIET, IN_PREFILL, IN_DECODE)
    deadlines = [patience.connecting(), patience.waiting(SENT_S)]
    deadlines += [patience.reading(SENT_S, HEADERS_S, answer) for answer in answers]
    assert [deadline_s for deadline_s, _ in deadlines] == [math.inf] * 5
    assert Patience(FOR_EVER, fooled, Leave(after_s=9.0)).reading(SENT_S, HEADERS_S, QUIET)[0] == 9.0


@pytest.mark.parametrize(
    ("after_chunks", "chunks", "has_left"),
    [(None, 1000, False), (5, 4, False), (5, 5, True), (5, 6, True), (0, 0, True)],
)
def test_leaving_after_chunks(after_chunks: int | None, chunks: int, has_left: bool) -> None:
    patience = Patience(LIMITS, leave=Leave(after_chunks=after_chunks))
    assert patience.has_left(Answer(chunks=chunks)) is has_left


BEGUN = [Progress(3.0, 0, 20)]


@pytest.mark.parametrize(
    ("leave", "answer", "has_left", "remark"),
    [
        (Leave(in_prefill=True), Answer(), False, "nothing has come"),
        (Leave(in_prefill=True), Answer(progress=BEGUN), True, "the first comment, whatever it says"),
        (Leave(in_prefill=True), Answer(progress=BEGUN, first_token_s=9.0), False, "the prefill is over"),
        (Leave(in_prefill=True), Answer(first_token_s=9.0, chunks=1), False, "a server without comments"),
        (Leave(), Answer(progress=BEGUN), False, "nobody wanted to leave"),
        (Leave(after_chunks=2), Answer(progress=BEGUN), False, "it wanted to see chunks"),
        (Leave(in_prefill=True, after_chunks=2), Answer(progress=BEGUN, first_token_s=9.0, chunks=2), True, "both"),
    ],
)
def test_leaving_in_prefill(leave: Leave, answer: Answer, has_left: bool, remark: str) -> None:
    assert Patience(LIMITS, leave=leave).has_left(answer) is has_left, remark


@pytest.mark.parametrize(
    ("leave", "answer", "deadline", "remark"),
    [
        (Leave(after_silence_s=8.0), QUIET, (102.0, Outcome.FIRST_TOKEN_TIMEOUT), "not before the first token"),
        (Leave(after_silence_s=8.0), IN_PREFILL, (102.0, Outcome.FIRST_TOKEN_TIMEOUT), "nor amid comments"),
        (Leave(after_silence_s=8.0), IN_DECODE, (118.0, Outcome.ABANDONED), "from the last token"),
        (Leave(after_silence_s=8.0), COMMENTED, (118.0, Outcome.ABANDONED), "a comment is no word"),
        (Leave(after_silence_s=30.0), IN_DECODE, (140.0, Outcome.ABANDONED), "leaving comes before a stall"),
        (Leave(after_silence_s=40.0), IN_DECODE, (140.0, Outcome.STALLED), "the client gives up first"),
        (Leave(after_s=112.0, after_silence_s=8.0), IN_DECODE, (112.0, Outcome.ABANDONED), "the sooner of two"),
        (Leave(after_s=120.0, after_silence_s=8.0), IN_DECODE, (118.0, Outcome.ABANDONED), "the sooner of two"),
    ],
)
def test_leaving_in_a_silence(leave: Leave, answer: Answer, deadline: tuple[float, Outcome], remark: str) -> None:
    assert Patience(LIMITS, leave=leave).reading(SENT_S, HEADERS_S, answer) == deadline, remark


@pytest.mark.parametrize(
    ("reads", "left_s", "remark"),
    [
        ([(1.0, COMMENT), (9.0, WORD)], 1.0, "at the first comment"),
        ([(1.0, WORD), (2.0, COMMENT)], None, "a comment behind the first token is too late"),
        ([(1.0, COMMENT + WORD)], None, "both in one read: there was no prefill to leave"),
        ([(1.0, b": ping\n\n"), (2.0, COMMENT)], 2.0, "another comment tells nothing"),
    ],
)
def test_leaving_a_stream_in_prefill(reads: list[tuple[float, bytes]], left_s: float | None, remark: str) -> None:
    patience, reader = Patience(LIMITS, leave=Leave(in_prefill=True)), StreamReader()
    for at_s, data in reads:
        reader.feed(data, at_s)
        if patience.has_left(reader.answer):
            assert at_s == left_s, remark
            return
    assert left_s is None, remark


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome.CONNECT_TIMEOUT, "no connection within 10.0 s"),
        (Outcome.STALLED, "no token for 30.0 s"),
        (Outcome.TURN_TIMEOUT, "no end within 900.0 s"),
        (Outcome.ABANDONED, "the behaviour left, as planned"),
    ],
)
def test_the_words_for_a_deadline(outcome: Outcome, words: str) -> None:
    assert turn(turn_s=900.0).ending(outcome, has_headers=True) == Ending(outcome, words)


def test_a_client_that_comments_fool_stalls_on_bytes() -> None:
    assert turn(fooled=True).ending(Outcome.STALLED, has_headers=True).error == "no byte for 30.0 s"
