"""BERT's WordPiece in the form of GGUF files, against transformers on the same vocabulary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertTokenizer

from engine.errors import TokenizerError
from engine.tokenizer import Tokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "boil", "alarm", "pressure", "a", "vet", "un", "b", "2", ",", ".", "'", "锅"]
ENDINGS = ["er", "s", "ing", "##", "a", "l", "r", "m", "c", "2"]
VOCABULARY = [*SPECIAL, *WORDS, *("##" + ending for ending in ENDINGS if ending != "##")]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    path = tmp_path_factory.mktemp("bert") / "vocab.txt"
    path.write_text("\n".join(VOCABULARY), encoding="utf-8")
    return BertTokenizer(str(path))


def gguf_spelling(token):
    """As llama.cpp's converter writes it: a mark where a word begins, none where it goes on."""
    if token in SPECIAL:
        return token
    return token[2:] if token.startswith("##") else "▁" + token


@pytest.fixture(scope="module")
def metadata():
    return {
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.tokens": [gguf_spelling(token) for token in VOCABULARY],
        "tokenizer.ggml.token_type": [3 if token in SPECIAL else 1 for token in VOCABULARY],
        "tokenizer.ggml.unknown_token_id": 1,
        "tokenizer.ggml.bos_token_id": 2,
        "tokenizer.ggml.seperator_token_id": 3,
    }


@pytest.fixture(scope="module")
def tokenizer(metadata):
    return Tokenizer(metadata)


texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from([*WORDS, *ENDINGS, " ", "The", "é", "Ä"])).map("".join),
)


@given(text=texts)
def test_agrees_with_transformers(tokenizer, oracle, text):
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    if not any(token in text for token in special):
        assert tokenizer.encode(text) == oracle.encode(text)


def test_words_and_their_endings(tokenizer):
    ids = tokenizer.encode("The Boilers, unalarming 锅!")
    spelled = [tokenizer.token_text(token) for token in ids]
    assert spelled == [
        *("[CLS]", "▁the", "▁boil", "er", "s", "▁,"),
        *("▁un", "a", "l", "a", "r", "m", "ing", "▁锅", "[UNK]", "[SEP]"),
    ]
    assert tokenizer.decode(ids[:-2]) == "the boilers , unalarming 锅"


def test_control_tokens_stay_text(tokenizer):
    ids = tokenizer.encode("[SEP]", add_special=False)
    assert 3 not in ids


def test_the_unknown_token_is_needed(metadata):
    with pytest.raises(TokenizerError, match="unknown_token_id is missing"):
        Tokenizer({**metadata, "tokenizer.ggml.unknown_token_id": None})
