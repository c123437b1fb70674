"""One option and its value: what mlx_lm.server would take, and the sentence where it would not."""

import pytest

from locust_agents.cluster.options.known import OPTIONS, Scalar
from locust_agents.cluster.options.values import mistake

GOOD: list[tuple[str, Scalar, str]] = [
    ("prefill-step-size", 8192, "a number"),
    ("prefill-step-size", "8192", "as text, from --set or quotes"),
    ("prompt-cache-size", 0, "no cache at all"),
    ("kv-bits", None, "left out"),
    ("kv-bits", 8, "one of the sizes of mlx"),
    ("pipeline", True, "the flag"),
    ("pipeline", False, "no flag"),
    ("temp", 1, "a whole number is a number"),
    ("temp", "1e-3", "YAML reads 1e-3 as text"),
    ("prompt-cache-bytes", 8_000_000_000, "bytes"),
    ("prompt-cache-bytes", "1.5 gb", "with a unit"),
    ("prompt-cache-bytes", "500M", "with the short unit"),
    ("chat-template", "", "empty means the model's own"),
    ("chat-template-args", '{"enable_thinking": false}', "a JSON object"),
    ("allowed-origins", "http://a,http://b", "a list as text"),
    ("host", "0.0.0.0", "an address"),
    ("log-level", "DEBUG", "a choice"),
]
WRONG: list[tuple[str, Scalar, str, str]] = [
    (
        "prefil-step-size",
        512,
        "mlx_lm.server 0.32.2 has no such option; did you mean 'prefill-step-size'?",
        "misspelt",
    ),
    (
        "prompt_cache_size",
        20,
        "mlx_lm.server 0.32.2 has no such option; did you mean 'prompt-cache-size'?",
        "as Python writes it",
    ),
    (
        "colour",
        "red",
        "mlx_lm.server 0.32.2 has no such option; remove it, or see python -m mlx_lm server --help",
        "like none of them",
    ),
    ("prompt-cache-size", "lots", "expected a whole number, got 'lots'", "a word"),
    ("prompt-cache-size", 8.5, "expected a whole number, got 8.5", "a fraction"),
    ("prompt-cache-size", True, "expected a whole number, got true", "YAML's yes"),
    ("max-tokens", "32k", "expected a whole number, got '32k'", "the scenario's own unit, which the server lacks"),
    ("temp", "warm", "expected a number, got 'warm'", "a word"),
    ("temp", float("nan"), "expected a number, got nan", "no number"),
    ("pipeline", "true", "expected true or false, got 'true'", "a flag takes no text"),
    ("pipeline", 1, "expected true or false, got 1", "a flag takes no number"),
    ("host", 127, "expected text, got 127", "a number"),
    (
        "prompt-cache-bytes",
        "8GiB",
        "expected a size in bytes such as 8GB, 500MB or 1000000, got '8GiB'",
        "a unit that the server's parser dies of",
    ),
    (
        "chat-template-args",
        "enable_thinking=false",
        "expected a JSON object in quotes, such as '{\"enable_thinking\": false}', got 'enable_thinking=false'",
        "no JSON",
    ),
    (
        "chat-template-args",
        "[1]",
        "expected a JSON object in quotes, such as '{\"enable_thinking\": false}', got '[1]'",
        "a list",
    ),
    ("prefill-step-size", 0, "must be 1 or more, got 0", "a step that goes nowhere"),
    ("prompt-cache-size", -1, "must be 0 or more, got -1", "negative"),
    (
        "log-level",
        "info",
        "expected one of DEBUG, INFO, WARNING, ERROR, CRITICAL, got 'info'; did you mean 'INFO'?",
        "the parser minds capitals",
    ),
    ("kv-bits", 7, "expected one of 1, 2, 3, 4, 5, 6, 8, got 7", "no size of mlx"),
    ("kv-group-size", 16, "expected one of 32, 64, 128, got 16", "no group of mlx"),
]


@pytest.mark.parametrize(("name", "value", "remark"), GOOD)
def test_taken(name: str, value: Scalar, remark: str) -> None:
    assert mistake(name, value) is None, remark


@pytest.mark.parametrize(("name", "value", "text", "remark"), WRONG)
def test_not_taken(name: str, value: Scalar, text: str, remark: str) -> None:
    assert mistake(name, value) == text, remark


@pytest.mark.parametrize("name", OPTIONS)
def test_every_default_would_be_taken(name: str) -> None:
    assert mistake(name, OPTIONS[name].default) is None


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_says_what_it_means(name: str) -> None:
    meaning = OPTIONS[name].meaning
    assert meaning.endswith(".")
    assert "\n" not in meaning
