"""What a run said, as it is kept for the page."""

from locust_agents.locustfiles import sentences
from locust_agents.locustfiles.sentences import Sentences


def told(*texts: str, longest: int = 99) -> list[dict[str, object]]:
    heard = Sentences()
    for at_s, text in enumerate(texts):
        heard.hear(text, float(at_s))
    return heard.told(longest)


def test_a_wait_that_counts_is_one_sentence_with_its_last_time() -> None:
    said = told("the server starts, 1 s: loading", "the server starts, 12 s: warming up", "it is up")
    assert said == [{"at": 1.0, "what": "the server starts, 12 s: warming up"}, {"at": 2.0, "what": "it is up"}]


def test_a_sentence_that_comes_back_later_is_another() -> None:
    assert [one["what"] for one in told("rank 1 is slow", "it is up", "rank 1 is slow")] == [
        "rank 1 is slow",
        "it is up",
        "rank 1 is slow",
    ]


def test_the_last_ones_are_kept_and_long_ones_are_cut() -> None:
    said = told(*("x" * (7 + n) for n in range(sentences.MOST + 2)), longest=9)
    assert [one["at"] for one in said] == [float(n) for n in range(2, sentences.MOST + 2)]
    assert {one["what"] for one in said} == {"x" * 9}
