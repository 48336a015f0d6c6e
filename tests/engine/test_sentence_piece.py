"""SentencePiece vocabularies against the sentencepiece library itself, and Gemma's real one."""

import io
import struct
import time

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import TokenizerError
from engine.gguf import GGUFFile
from engine.tokenizer import Detokenizer, Tokenizer
from engine.tokenizers import sentence_piece
from engine.tokenizers.vocabulary import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED

SENTENCES = [
    "The boiler's pressure is shown on the gauge: between 1.0 and 1.5 bar when it is cold.",
    "Call the vet before you come; the alarm code is kept in the drawer of the old desk.",
    "Straße, naïve, Łódź. Two  spaces,   three and a tab\tor aaaa aaaaaaa bananana.",
    "锅炉压力过低怎么办？ 日本語のテキスト",
] * 30

CORPUS = [
    "Hello, world!",
    " a leading space",
    "  two   three    four\n\n\nlines\r\n\tand tabs",
    "aaaaaaaaaaa aaaa aaa bananananana",
    "<s> </s> <unk> <0x41> <tool> <tool><tool>x",
    "Straße Łódź 锅炉 👨‍👩‍👧‍👦 \x00 \u200b e\u0301",
    "1234567890 3.14 def f(x): return x**2",
    " ",
    "",
]
# U+2581 is the library's own mark of a space and does not survive there.
texts = st.one_of(
    st.text(st.characters(exclude_characters="▁", exclude_categories=["Cs"]), max_size=80),
    st.text("ab an<tool>\n", max_size=60),
    st.lists(st.sampled_from([*SENTENCES[0].split(), " ", "  ", "é", "<tool>", "a"])).map("".join),
)


def train(add_dummy_prefix):
    """A tiny model of the library's own training."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        model_type="bpe",
        vocab_size=600,
        byte_fallback=True,
        character_coverage=0.99,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=add_dummy_prefix,
        allow_whitespace_only_pieces=True,
        user_defined_symbols=["<tool>", "▁▁▁▁"],
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def kind_of(model, token):
    if model.is_control(token):
        return CONTROL
    if model.is_unknown(token):
        return UNKNOWN
    if model.is_byte(token):
        return BYTE
    return USER_DEFINED if model.id_to_piece(token) in ("<tool>", "▁▁▁▁") else NORMAL


def metadata_of(model, add_space_prefix):
    """As llama.cpp's converter writes it."""
    ids = range(model.get_piece_size())
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [model.id_to_piece(token) for token in ids],
        "tokenizer.ggml.scores": [model.get_score(token) for token in ids],
        "tokenizer.ggml.token_type": [kind_of(model, token) for token in ids],
        "tokenizer.ggml.unknown_token_id": model.unk_id(),
        "tokenizer.ggml.bos_token_id": model.bos_id(),
        "tokenizer.ggml.eos_token_id": model.eos_id(),
        "tokenizer.ggml.add_space_prefix": add_space_prefix,
    }


@pytest.fixture(scope="module", params=[True, False], ids=["space prefix", "no space prefix"])
def oracle_and_metadata(request):
    model = train(request.param)
    return model, metadata_of(model, request.param)


@pytest.fixture(scope="module")
def oracle(oracle_and_metadata):
    return oracle_and_metadata[0]


@pytest.fixture(scope="module")
def metadata(oracle_and_metadata):
    return oracle_and_metadata[1]


@pytest.fixture(scope="module")
def tokenizer(metadata):
    return Tokenizer(metadata)


@pytest.mark.parametrize("text", [*CORPUS, *SENTENCES[:4]])
def test_agrees_with_sentencepiece(tokenizer, oracle, text):
    assert tokenizer.encode(text, add_special=False) == oracle.encode(text)


@given(text=texts)
def test_agrees_with_sentencepiece_on_any_text(tokenizer, oracle, text):
    assert tokenizer.encode(text, add_special=False) == oracle.encode(text)


@given(text=st.text(max_size=200))
def test_any_text_survives_encode_and_decode(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


@given(text=st.text(max_size=60))
def test_incremental_detokenizing_gives_the_same_text(tokenizer, text):
    ids = tokenizer.encode_with_special("<s>" + text)
    detokenizer = Detokenizer(tokenizer)
    assert "".join(map(detokenizer.push, ids)) in (text, " " + text)


@given(text=st.text(max_size=40))
def test_plain_text_never_becomes_a_control_or_byte_token_of_its_spelling(tokenizer, text):
    for special in ("<s>", "</s>", "<unk>"):
        ids = tokenizer.encode(text + special + text, add_special=False)
        assert not set(ids) & {0, 1, 2}
    letter = tokenizer.encode("x<0x41>", add_special=False)
    assert tokenizer.decode(letter) == "x<0x41>"


def test_begin_token_and_control_tokens_on_request(tokenizer, oracle):
    assert tokenizer.encode("Call")[0] == oracle.bos_id()
    ids = tokenizer.encode_with_special("<s>Call</s>")
    assert (ids[0], ids[-1]) == (oracle.bos_id(), oracle.eos_id())
    assert ids[1:-1] == oracle.encode("Call")
    assert tokenizer.decode(ids) == "Call"
    assert oracle.eos_id() in tokenizer.end_of_generation


def test_long_texts_are_cut_between_words_only(tokenizer, oracle, monkeypatch):
    monkeypatch.setattr(sentence_piece, "PART_CHARACTERS", 10)
    text = " ".join(SENTENCES)
    assert tokenizer.encode(text, add_special=False) == oracle.encode(text)


def test_without_byte_tokens_the_unknown_token_stands_in(metadata):
    types = [NORMAL if kind == BYTE else kind for kind in metadata["tokenizer.ggml.token_type"]]
    tokenizer = Tokenizer({**metadata, "tokenizer.ggml.token_type": types})
    ids = tokenizer.encode("a👍b", add_special=False)
    assert ids.count(0) == 1
    assert tokenizer.decode(ids) == "a\ufffdb"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenizer.ggml.scores": None}, "scores is missing"),
        ({"tokenizer.ggml.scores": [0.0]}, "scores has 1 entries for 600"),
        ({"tokenizer.ggml.scores": ["x"] * 600}, "no list of numbers"),
        ({"tokenizer.ggml.token_type": [BYTE] * 600}, "is not of the form <0x00>"),
        ({"tokenizer.ggml.unknown_token_id": 600}, "outside the vocabulary"),
    ],
)
def test_unusable_metadata_is_refused_with_the_reason(metadata, change, message):
    with pytest.raises(TokenizerError, match=message):
        Tokenizer({**metadata, **change})


def test_scores_that_are_no_numbers_break_nothing(metadata):
    broken = {**metadata, "tokenizer.ggml.scores": [float("nan"), float("inf")] * 300}
    tokenizer = Tokenizer(broken)
    assert tokenizer.decode(tokenizer.encode(SENTENCES[0])) == SENTENCES[0]


# --- Gemma 3: 262 144 entries -------------------------------------------------------------------


@pytest.fixture(scope="module")
def gemma_metadata(gemma_path):
    with GGUFFile(gemma_path) as file:
        return dict(file.metadata)


@pytest.fixture(scope="module")
def gemma(gemma_metadata):
    return Tokenizer(gemma_metadata)


@pytest.fixture(scope="module")
def gemma_oracle(gemma_metadata):
    """The same vocabulary as a SentencePiece model file, in protobuf's wire format."""

    def varint(number):
        return (
            bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)
        )

    def block(field, content):
        return varint(field << 3 | 2) + varint(len(content)) + content

    pieces = b"".join(
        block(
            1,
            block(1, token.replace(" ", "▁").encode())
            + b"\x15"
            + struct.pack("<f", score)
            + b"\x18"
            + bytes([UNKNOWN if token == "<unk>" else kind]),
        )
        for token, score, kind in zip(
            gemma_metadata["tokenizer.ggml.tokens"],
            gemma_metadata["tokenizer.ggml.scores"],
            gemma_metadata["tokenizer.ggml.token_type"],
            strict=True,
        )
    )
    ids = b"".join(varint(field << 3) + varint(i) for field, i in ((40, 3), (41, 2), (42, 1)))
    trainer = block(2, b"\x18\x02" + varint(35 << 3) + b"\x01" + ids)  # BPE, byte fallback
    normalizer = block(3, block(1, b"identity") + b"\x18\x00\x20\x00")  # no prefix, keep spaces
    return sentencepiece.SentencePieceProcessor(model_proto=pieces + trainer + normalizer)


@pytest.mark.download
@pytest.mark.parametrize("text", [*CORPUS, *SENTENCES[:4], "<div>\n\n\n</div>   x\t\ty=====z"])
def test_gemma_agrees_with_sentencepiece(gemma, gemma_oracle, text):
    assert gemma.encode(text, add_special=False) == gemma_oracle.encode(text)


@pytest.mark.download
@given(text=texts)
def test_gemma_agrees_with_sentencepiece_on_any_text(gemma, gemma_oracle, text):
    assert gemma.encode(text, add_special=False) == gemma_oracle.encode(text)


@pytest.mark.download
@given(text=st.text(max_size=200))
def test_gemma_gives_any_text_back(gemma, text):
    assert gemma.decode(gemma.encode(text)) == text


@pytest.mark.download
def test_gemma_opens_quickly(gemma_path):
    """0.1 s to read the file's metadata and 0.1 s for the vocabulary, of the CPU's time."""
    took = []
    for _ in range(3):
        began = time.process_time()
        with GGUFFile(gemma_path) as file:
            Tokenizer(file.metadata)
        took.append(time.process_time() - began)
    assert min(took) < 0.6, took  # a busy box may take twice as long as a free one


@pytest.mark.download
def test_gemma_turns_are_control_tokens(gemma):
    ids = gemma.encode_with_special("<bos><start_of_turn>user\nHi<end_of_turn>\n")
    assert ids[:2] == [2, 105]
    assert 106 in gemma.end_of_generation
    assert np.all(np.array(gemma.encode("<start_of_turn>", add_special=False)) != 105)
