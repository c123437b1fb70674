"""The tiny models' words: how a conversation is written, and that a replayed answer is what the model generated."""

import json
from typing import Any

import pytest
from mlx_lm.tokenizer_utils import load
from tokenizers import Tokenizer

from locust_agents.cluster.tiny import model, recipe, words

TOOL = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
CALL = {"id": "1", "type": "function", "function": {"name": "read", "arguments": {"filePath": "src/app.py"}}}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load(model.ensure("tiny", print, tmp_path_factory.mktemp("cache")))


def test_mlx_lm_parses_its_tool_calls_and_expects_no_reasoning(tokenizer: Any) -> None:
    assert (tokenizer.has_tool_calling, tokenizer.has_thinking) == (True, False)
    assert len(tokenizer.get_vocab()) == recipe.VOCABULARY


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param({"role": "user", "content": "a\n b"}, "user\na\n b", id="text as it is"),
        pytest.param({"role": "tool", "content": "ok", "tool_call_id": "1"}, "tool\nok", id="a tool's result"),
        pytest.param({"role": "assistant", "content": None}, "assistant\n", id="null content"),
        pytest.param({"role": "assistant"}, "assistant\n", id="no content"),
        pytest.param(
            {"role": "assistant", "content": "I look", "tool_calls": [CALL]},
            'assistant\nI look<tool_call>{"name": "read", "arguments": {"filePath": "src/app.py"}}</tool_call>',
            id="content and a call, nothing between",
        ),
        pytest.param(
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "ls", "arguments": ""}}] * 2},
            "assistant\n" + '<tool_call>{"name": "ls", "arguments": {}}</tool_call>' * 2,
            id="two calls without arguments",
        ),
        pytest.param(
            {"role": "assistant", "content": "x", "reasoning": "hm"},
            "assistant\n<think>hm</think>\nx",
            id="reasoning as mlx-lm names it",
        ),
        pytest.param(
            {"role": "assistant", "content": "x", "reasoning_content": "hm"},
            "assistant\n<think>hm</think>\nx",
            id="reasoning as others name it",
        ),
    ],
)
def test_a_message_is_written_as(message: dict[str, Any], text: str, tokenizer: Any) -> None:
    written = tokenizer.apply_chat_template([message], tools=[TOOL], tokenize=False)
    assert written.split("<|im_start|>")[2] == text + "<|im_end|>\n"


def test_the_tools_come_after_the_system_text(tokenizer: Any) -> None:
    written = tokenizer.apply_chat_template([{"role": "system", "content": "Be brief."}], tools=[TOOL], tokenize=False)
    before, after = written.split(json.dumps(TOOL))
    assert before.startswith("<|im_start|>system\nBe brief.\n\n")
    assert after == "\n<|im_end|>\n"


@pytest.mark.parametrize("variant", recipe.VARIANTS)
@pytest.mark.parametrize("tools", [None, [TOOL]])
def test_a_replayed_answer_is_the_tokens_that_were_generated(variant: str, tools: Any, tokenizer: Any) -> None:
    vocabulary = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    following = words.successors(vocabulary, variant)
    asked = [{"role": "user", "content": "Fix it."}]
    sequence = list(tokenizer.apply_chat_template(asked, tools=tools, add_generation_prompt=True))
    while sequence[-1] != tokenizer.eos_token_id:
        sequence.append(following[sequence[-1]])
    answer = words.answers(vocabulary, variant)[0 if tools else 1]
    calls = [CALL] if "<tool_call>" in answer else None
    replayed = [*asked, {"role": "assistant", "content": answer.split("<tool_call>")[0], "tool_calls": calls}]
    assert tokenizer.apply_chat_template([*replayed, *asked], tools=tools)[: len(sequence)] == sequence


@pytest.mark.parametrize("sentence", [recipe.BEFORE_CALL, recipe.WITHOUT_CALL])
def test_each_word_of_an_answer_is_one_token(sentence: str, tokenizer: Any) -> None:
    assert len(tokenizer.encode(sentence)) == len(sentence.split())


def test_answers_that_share_a_word_are_refused(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "WITHOUT_CALL", "The work is done where it ends")
    vocabulary = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    with pytest.raises(ValueError, match="two tokens would follow"):
        words.successors(vocabulary, "tiny")
