"""Decides what mlx_lm.server takes on its command line: every option as data, with its type and its default.

Read from the parser of mlx-lm's server; a test compares the two.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Scalar = str | int | float | bool | None
"""What a scenario may give an option; None leaves it out, so that the server's own default holds."""

Kind = Literal["text", "whole number", "number", "flag", "size", "JSON object", "comma-separated list"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option, named as in `--help` without its dashes.

    `default` is the server's own, None where it has none. A size is in bytes, or ends in M, MB (10^6), G or GB (10^9).
    `least`, and `choices` of numbers, are ours: the server would fail or wait at the first request only.
    """

    name: str
    kind: Kind
    default: Scalar
    meaning: str
    unit: str | None = None
    choices: tuple[str | int, ...] = ()
    least: float | None = None


# What mx.quantize takes, tried on mlx 0.32.4.
_KV_BITS = (1, 2, 3, 4, 5, 6, 8)
_KV_GROUPS = (32, 64, 128)

_ALL = (
    Option("model", "text", None, "Folder or hub name of the model that is loaded at start."),
    Option("adapter-path", "text", None, "Folder of trained adapter weights that are put on the model."),
    Option("host", "text", "127.0.0.1", "Address on which rank 0 listens."),
    Option("port", "whole number", 8080, "Port on which rank 0 listens."),
    Option("allowed-origins", "comma-separated list", "*", "Web pages whose scripts may call the server."),
    Option("draft-model", "text", None, "Small model that guesses tokens, which the large one then checks."),
    Option("num-draft-tokens", "whole number", 3, "Guesses of the draft model for each check.", "tokens", least=1),
    Option("trust-remote-code", "flag", False, "Run Python code that comes with the model or its tokenizer."),
    Option(
        "log-level",
        "text",
        "INFO",
        "What rank 0 writes to its log; the run reads progress and cache sizes from INFO.",
        choices=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    ),
    Option("chat-template", "text", "", "Jinja text that turns messages into a prompt, in place of the model's own."),
    Option("use-default-chat-template", "flag", False, "Take the tokenizer class's template where the model has none."),
    Option("temp", "number", 0.0, "Randomness of sampling where a request names none; 0 takes the likeliest.", least=0),
    Option("top-p", "number", 1.0, "Share of probability that sampling keeps; 1 keeps all.", least=0),
    Option("top-k", "whole number", 0, "Likeliest tokens that sampling keeps; 0 keeps all.", "tokens", least=0),
    Option("min-p", "number", 0.0, "Least probability kept, relative to the likeliest token's.", least=0),
    Option("max-tokens", "whole number", 512, "Longest answer where a request names none.", "tokens", least=1),
    Option("chat-template-args", "JSON object", "{}", "Values handed to the template, such as enable_thinking."),
    Option("decode-concurrency", "whole number", 32, "Answers written at the same time.", "requests", least=1),
    Option("prompt-concurrency", "whole number", 8, "Prompts read at the same time.", "requests", least=1),
    Option("prefill-step-size", "whole number", 2048, "Prompt tokens computed in one step.", "tokens", least=1),
    Option("prompt-cache-size", "whole number", 10, "Histories kept for later turns.", "entries", least=0),
    Option("prompt-cache-bytes", "size", None, "Memory that kept histories may take on a rank.", "bytes"),
    Option("kv-bits", "whole number", None, "Bits of each cached value; turns batching off.", "bits", _KV_BITS),
    Option("kv-group-size", "whole number", 64, "Cached values that share one scale.", "values", _KV_GROUPS),
    Option("quantized-kv-start", "whole number", 5000, "Tokens cached before kv-bits begins.", "tokens", least=0),
    Option("pipeline", "flag", False, "Give each rank whole layers instead of a part of each layer."),
)

OPTIONS: Mapping[str, Option] = MappingProxyType({option.name: option for option in _ALL})
"""By name, in the order of `--help`."""
