"""Scripts that are chosen by the body of a request."""

import http.client
from contextlib import closing

import pytest

from locust_agents.cluster.replay import ReplayServer, Script, script_from_json
from locust_agents.errors import ScenarioError
from tests.patience import PATIENCE_S

ANY = [Script(((0.0, text),)) for text in (b"first", b"second")]
BOTH = Script(((0.0, b"both"),), when=("otter", "heron"))
OTTER = Script(((0.0, b"otter"),), when=("otter",))
OF_A_PATH = Script(((0.0, b"path"),), path="/there", when=("heron",))


def _ask(url: str, body: bytes, path: str = "/here") -> bytes:
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE_S)) as connection:
        connection.request("POST", path, body)
        return connection.getresponse().read()


def test_the_first_whose_texts_are_all_there_answers_and_others_are_used_up_only_by_the_rest() -> None:
    with ReplayServer([*ANY, BOTH, OTTER, OF_A_PATH]) as server:
        asked = [b"an otter", b"a heron", b"a heron and an otter", b"an otter", b"nothing"]
        assert [_ask(server.url, body) for body in asked] == [b"otter", b"first", b"both", b"otter", b"second"]
        assert [_ask(server.url, body, "/there") for body in (b"heron", b"otter")] == [b"path", b"second"]


def test_a_script_with_texts_is_read_from_a_file_as_it_was_written() -> None:
    assert script_from_json(BOTH.to_json()) == BOTH
    with pytest.raises(ScenarioError, match=r"script: when: must be a list of texts, not 'otter'"):
        script_from_json({"sends": [], "when": "otter"})
