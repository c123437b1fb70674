"""When a host is asked, connected to again and given up, played with a clock and a line of our own."""

from collections.abc import Mapping

import pytest

from locust_agents.cluster.remote import host as remote_host
from locust_agents.cluster.remote.host import RemoteHost
from locust_agents.cluster.remote.line import Answer
from locust_agents.errors import ClusterError

ALIVE = "1796015093\n 7 7 S 00:00:01 Mon Nov 30 05:01:33 2026\n"


class FakeLine:
    """Answers nothing until it is told to; `made` has all of them, the newest last."""

    made: list["FakeLine"]
    is_refused = False

    def __init__(self, host: str) -> None:
        self.host = host
        if self.is_refused:
            raise ClusterError("ssh could not be started")
        self.lost: str | None = None
        self.asked: list[str] = []
        self.said: dict[int, Answer] = {}
        self.made.append(self)

    def ask(self, command: str) -> int:
        self.asked.append(command)
        return len(self.asked)

    def answer(self, number: int) -> Answer | None:
        return self.said.pop(number, None)

    def close(self) -> None:
        self.lost = "it was closed"


class Play:
    """A host, and the notes that it made."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, Mapping[str, object]]] = []
        self.host = RemoteHost("mac2", lambda *note: self.notes.append(note), 100.0)

    def look(self, now_s: float) -> None:
        self.host.look([7], now_s)

    def say(self, text: str = ALIVE, status: int = 0) -> None:
        line = FakeLine.made[-1]
        line.said[len(line.asked)] = Answer(text, status)

    def lose(self) -> None:
        FakeLine.made[-1].lost = "Connection reset"


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    FakeLine.made = []
    monkeypatch.setattr(remote_host, "Line", FakeLine)
    monkeypatch.setattr(FakeLine, "is_refused", False)
    return Play()


def test_it_is_asked_once_a_second_and_only_when_it_has_answered(play: Play) -> None:
    counts = []
    for now_s, answers in ((100.0, True), (100.3, True), (101.0, False), (102.5, False), (103.0, True), (103.1, True)):
        play.look(now_s)
        counts.append(len(FakeLine.made[-1].asked))
        if answers:
            play.say()
    assert counts == [1, 1, 2, 2, 2, 3]
    assert len(FakeLine.made) == 1


def test_what_it_says_is_about_who_was_asked_for(play: Play) -> None:
    play.host.look([], 100.0)
    assert "-p 1" in FakeLine.made[0].asked[0]
    play.say("1796015093\n", 1)
    play.host.look([7], 101.0)
    assert play.host.asked_for == {1}
    assert not play.host.seen
    play.say()
    play.host.look([7], 102.0)
    assert play.host.asked_for == {7}
    assert play.host.seen[7].is_alive


def test_a_lost_line_is_made_again_later_and_later(play: Play) -> None:
    play.look(100.0)
    made_at: list[float] = []
    for tenth in range(1000, 1400):
        play.lose()
        play.look(tenth / 10)
        if len(FakeLine.made) > len(made_at) + 1:
            made_at.append(tenth / 10)
    assert made_at == [101.0, 103.1, 108.2, 118.3, 128.4, 138.5]
    assert [event for event, _ in play.notes] == ["ssh_lost"] * 7
    assert play.notes[0][1] == {"host": "mac2", "why": "Connection reset"}


def test_an_answer_ends_all_trouble(play: Play) -> None:
    play.look(100.0)
    play.lose()
    play.look(101.0)
    play.look(102.0)
    play.say()
    play.look(125.0)
    assert play.host.trouble(131.0) is None
    play.lose()
    play.look(126.0)
    play.look(127.0)
    assert len(FakeLine.made) == 3


@pytest.mark.parametrize(
    ("remark", "lose", "text", "why"),
    [
        ("silent", False, None, "for 30 s"),
        ("lost", True, None, "for 30 s, Connection reset"),
        ("it has no ps", False, "date: not found\n", "for 30 s, date and ps said 'date: not found'"),
    ],
)
def test_who_does_not_answer_for_long_is_trouble(
    play: Play, remark: str, lose: bool, text: str | None, why: str
) -> None:
    for now_s in range(100, 130):
        play.look(float(now_s))
        assert play.host.trouble(float(now_s)) is None, remark
        if lose:
            play.lose()
        if text:
            play.say(text, 127)
    assert play.host.trouble(130.0) == (
        f"mac2 does not answer over ssh ({why}): see that `ssh mac2 true` works without a password"
    ), remark


def test_a_long_pause_of_ours_is_no_silence_of_the_host(play: Play) -> None:
    play.look(100.0)
    play.say()
    play.look(500.0)
    assert play.host.trouble(500.0) is None


def test_nothing_runs_on_a_lost_line(play: Play) -> None:
    play.look(100.0)
    play.lose()
    play.look(100.1)
    with pytest.raises(ClusterError, match=r"^mac2 does not answer over ssh \(Connection reset\)"):
        play.host.run("true")


def test_no_ssh_is_a_loss_like_others(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeLine, "is_refused", True)
    play.look(100.0)
    play.look(100.5)
    assert play.notes == [("ssh_lost", {"host": "mac2", "why": "ssh could not be started"})]
    assert "ssh could not be started" in str(play.host.trouble(131.0))


def test_the_line_for_the_end_is_the_kept_one_while_it_lives(play: Play) -> None:
    play.look(100.0)
    assert play.host.fresh() is FakeLine.made[0]  # type: ignore[comparison-overlap]
    play.lose()
    assert play.host.fresh() is FakeLine.made[1]  # type: ignore[comparison-overlap]
    play.host.close()
    assert FakeLine.made[1].lost
