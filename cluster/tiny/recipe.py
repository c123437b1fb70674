"""Decides what each tiny model is: its sizes, its vocabulary's source, the words of its answers, and its version."""

import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path

VARIANTS: tuple[str, ...] = ("tiny", "tiny-long", "tiny-hybrid")
SEED = 1

END_OF_TURN = "<|im_end|>"
NO_TOOLS = "<|words|>"
CALL_START, CALL_END = "<tool_call>", "</tool_call>"
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", END_OF_TURN, NO_TOOLS, CALL_START, CALL_END]
# The JSON around the argument is one token on each side: its quotes and colons come twice, and no token may.
CALL_HEAD, CALL_TAIL = '{"name": "read", "arguments": {"filePath": "', '"}}'
WHOLE_TOKENS = [CALL_HEAD, CALL_TAIL]

# No token may come twice in all of these: a token has one successor. None may start with a space, since a space
# after the template's line end would be another token when the answer is read again.
BEFORE_CALL = "I will read that file first to find where it fails"
CALL_ARGUMENT = "src/app.py"
WITHOUT_CALL = "The work is done and every test passes now without any warning"
LONG_ANSWER_TOKENS = 250

CONTEXT = 131072
VOCABULARY = 4096  # divisible by 4 ranks, as mlx-lm's qwen3_5 demands
# How text is cut before it is merged: the Qwen3.5 pattern. Transformers puts it, and NFC, in place of what the
# tokenizer file says for every model of type qwen3_5, so all variants use it. Source: PRETOKENIZE_REGEX in
# transformers/models/qwen3_5/tokenization_qwen3_5.py, Apache-2.0.
WORD_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Python's own library, in every Python from 3.11 to 3.14: the vocabulary suits code and needs no download.
CORPUS = """
    argparse ast asyncio/base_events asyncio/tasks calendar cmd codecs collections/__init__ configparser contextlib
    copy csv dataclasses difflib doctest email/message enum fractions functools gettext heapq html/parser http/client
    http/server inspect ipaddress json/decoder logging/__init__ optparse pdb pickle platform pprint random selectors
    shlex shutil smtplib socket statistics subprocess tarfile tempfile textwrap threading tokenize traceback typing
    unittest/case unittest/mock urllib/parse urllib/request uuid weakref xml/etree/ElementTree
"""

_SHAPE: Mapping[str, object] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 16,
    "rms_norm_eps": 1e-6,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": CONTEXT,
    "tie_word_embeddings": False,
}
_PLAIN: Mapping[str, object] = {"model_type": "qwen3", "rope_theta": 1e6}
# One gated delta layer, whose state cannot be trimmed, and one of attention. Key size 32: the least for Metal's kernel.
_HYBRID: Mapping[str, object] = {
    "model_type": "qwen3_5",
    "full_attention_interval": 2,
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
}


def config(variant: str) -> dict[str, object]:
    """`config.json` of a variant, without its token ids."""
    return {**_SHAPE, **(_HYBRID if variant == "tiny-hybrid" else _PLAIN)}


def folder_name(variant: str, mlx_lm_version: str) -> str:
    """The variant and a hash of all that decides the model's files, so that a changed recipe is another folder."""
    minor = ".".join(mlx_lm_version.split(".")[:2])
    recipe = hashlib.sha256(f"{minor} {platform.python_version()}".encode())
    for module in ("recipe.py", "template.py", "words.py", "build.py"):
        recipe.update(Path(__file__).with_name(module).read_bytes())
    return f"{variant}-{recipe.hexdigest()[:12]}"
