"""What is known of a server's prompt cache before anything is sent."""

from collections.abc import Mapping

import pytest

from locust_agents.cluster.options.cache_entries import PromptCache, prompt_cache
from locust_agents.cluster.options.known import Scalar
from locust_agents.cluster.options.model_facts import ModelFacts

PLAIN = ModelFacts("qwen3", 1, trimmable=True)
HYBRID = ModelFacts("qwen3_5", 1, trimmable=False)
WINDOWED = ModelFacts("gemma3", 1, trimmable=False, sliding_window=1024)


@pytest.mark.parametrize(
    ("options", "is_ours", "model", "wanted", "remark"),
    [
        ({}, True, PLAIN, PromptCache(10, False, True), "mlx_lm's own default"),
        ({"prompt-cache-size": 4}, True, PLAIN, PromptCache(4, False, True), "as it was set"),
        ({"prompt-cache-size": None}, True, PLAIN, PromptCache(10, False, True), "left out"),
        ({"prompt-cache-size": 0}, True, None, PromptCache(0), "nothing is kept, of an unknown model"),
        ({"prompt-cache-bytes": "2GB"}, True, HYBRID, PromptCache(10, True, False), "by size too"),
        ({}, True, WINDOWED, PromptCache(10, False, False, 1024), "a window"),
        ({"prompt-cache-size": 4}, False, None, PromptCache(), "a server that somebody else started"),
    ],
)
def test_what_is_known(
    options: Mapping[str, Scalar], is_ours: bool, model: ModelFacts | None, wanted: PromptCache, remark: str
) -> None:
    assert prompt_cache(options, is_ours, model) == wanted, remark


@pytest.mark.parametrize(
    ("cache", "tokens", "wanted", "remark"),
    [
        (PromptCache(trimmable=True), 9999, True, "full attention"),
        (PromptCache(trimmable=False), 1, False, "a state has no way back"),
        (PromptCache(), 1, None, "not known"),
        (PromptCache(trimmable=False, window_tokens=1024), 1023, True, "shorter than the window"),
        (PromptCache(trimmable=False, window_tokens=1024), 1024, False, "the window is full"),
    ],
)
def test_what_can_be_cut_back(cache: PromptCache, tokens: int, wanted: bool | None, remark: str) -> None:
    assert cache.can_be_cut(tokens) is wanted, remark
