"""A request of one message: what asks a server before the load, and for a sign of life."""

import json

from locust_agents.prompts import request
from locust_agents.right import identity


def test_a_question_carries_the_one_model_name_and_no_seed() -> None:
    asked = request.question("probe", "default_model", "Are you there?", 1)
    assert json.loads(asked.body()) == {
        "model": "default_model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "Are you there?"}],
        "max_tokens": 1,
    }
    assert (asked.path, asked.preamble.name) == (request.CHAT, "probe")


def test_parameters_stand_before_the_messages() -> None:
    body = identity.branch("m", "nonce").request.body()
    assert body.startswith(b'{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0,')
