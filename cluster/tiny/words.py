"""Decides the tiny models' vocabulary, what they answer, and which token follows which."""

import re
import sysconfig
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from locust_agents.cluster.tiny import recipe as recipe

_REPEATS = 2000  # of the answers' words in the training text: enough that each word becomes one token


def _training_text() -> Iterator[str]:
    library = Path(sysconfig.get_path("stdlib"))
    for module in recipe.CORPUS.split():
        source = library / f"{module}.py"
        if source.is_file():
            yield source.read_text(encoding="utf-8")
    for sentence in (recipe.BEFORE_CALL, recipe.WITHOUT_CALL, recipe.CALL_ARGUMENT):
        yield f"{sentence}\n" * _REPEATS


def train_tokenizer() -> Tokenizer:
    """A byte-level BPE vocabulary of exactly `recipe.VOCABULARY` tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(recipe.WORD_PATTERN), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.VOCABULARY - len(recipe.WHOLE_TOKENS),
        special_tokens=recipe.SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_training_text(), trainer)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in recipe.WHOLE_TOKENS])
    return tokenizer


def answers(tokenizer: Tokenizer, variant: str) -> tuple[str, str]:
    """What the model writes when it was offered tools and when it was not, without the end of turn."""
    if variant == "tiny-long":
        long = _long_answer(tokenizer)
        return long, long
    call = recipe.CALL_START + recipe.CALL_HEAD + recipe.CALL_ARGUMENT + recipe.CALL_TAIL + recipe.CALL_END
    return recipe.BEFORE_CALL + call, recipe.WITHOUT_CALL


def _long_answer(tokenizer: Tokenizer) -> str:
    # "Ġ" is how byte-level BPE spells a leading space
    vocabulary = tokenizer.get_vocab()
    spaced = sorted(text for text in vocabulary if len(text) > 3 and re.fullmatch("Ġ[a-z]+", text))
    words = [text for text, after in pairwise([*spaced, ""]) if not after.startswith(text)]  # no stumps such as "retur"
    words.sort(key=vocabulary.__getitem__)
    # the first word and the end of turn are tokens too
    return "".join(["The", *words[: recipe.LONG_ANSWER_TOKENS - 2]]).replace("Ġ", " ")


def successors(tokenizer: Tokenizer, variant: str) -> dict[int, int]:
    """The one token that follows each token of the answers.

    Raises ValueError when a token would need two: then the recipe's words share one.
    """
    following: dict[int, int] = {}
    for start, answer in zip(("\n", recipe.NO_TOOLS), answers(tokenizer, variant), strict=True):
        chain = tokenizer.encode(start + answer + recipe.END_OF_TURN).ids
        for token, after in pairwise(chain):
            if following.setdefault(token, after) != after:
                raise ValueError(f"two tokens would follow {tokenizer.id_to_token(token)!r}")
    return following
