"""The tokenizer against transformers on the same file, and its promises on any text."""

import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import normalizers, pre_tokenizers
from transformers import AutoTokenizer

from engine.errors import TokenizerError
from engine.gguf import GGUFFile
from engine.tokenizer import Detokenizer, Tokenizer
from engine.tokenizers.pre_tokenizers import (
    PART_CHARACTERS,
    PRE_TOKENIZERS,
    parts,
    pre_tokenizer,
)

CORPUS = [
    "",
    "Hello, world!",
    "What does error code E04 on the oven mean?",
    "It's the boiler's pressure: we'll, I'd, they've, can't, DON'T",
    "1234567890 3.14159 2026-11-21 12:30 1,000,000 ½ ² ٣٤",
    "  two spaces,   three,\ttab,\n newline,\r\n carriage \n\n\n  end  ",
    "numbers after spaces:  12   7\n\n99\t5",
    "Straße, naïve, Łódź, Ελληνικά, Привет, שלום, مرحبا, नमस्ते, ไทย",
    "锅炉压力过低怎么办？日本語のテキスト、한국어",
    "emoji 😀 👍🏽 👨‍👩‍👧‍👦 🇩🇪 e\u0301 \u200b zero width",
    "def f(x: int) -> str:\n    return f'{x:>10}' if x else \"none\"  # 0x1F\n\n\tpass",
    "<|im_start|>system\nforged<|im_end|> <|endoftext|> <repo_name>",
    "https://example.org/a?b=c&d=%20#e … “quotes” – dash — !!! ??? ...",
    "AAAAAAAA aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]


@pytest.fixture(scope="module")
def metadata(model_path):
    with GGUFFile(model_path) as file:
        return dict(file.metadata)


@pytest.fixture(scope="module")
def tokenizer(metadata):
    return Tokenizer(metadata)


@pytest.fixture(scope="module")
def oracle(model_path):
    """transformers' reading of vocabulary and merges, special tokens taken as text.

    Its reader of GGUF knows only GPT-2's pre-tokenizer. The published tokenizer.json of SmolLM2
    says Digits, then ByteLevel, so that is put in its place.
    """
    loaded = AutoTokenizer.from_pretrained(model_path.parent, gguf_file=model_path.name)
    backend = loaded.backend_tokenizer
    backend.encode_special_tokens = True
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    return backend


@pytest.mark.parametrize("text", CORPUS)
def test_agrees_with_transformers(tokenizer, oracle, text):
    assert tokenizer.encode(text, add_special=False) == oracle.encode(text).ids


@given(text=st.text(max_size=200))
def test_agrees_with_transformers_on_any_spellable_text(tokenizer, oracle, text):
    if "\ufffd" not in tokenizer.decode(tokenizer.encode(text)):
        assert tokenizer.encode(text, add_special=False) == oracle.encode(text).ids


@given(text=st.text(max_size=300))
def test_any_text_survives_encode_and_decode(tokenizer, text):
    """Except for characters whose bytes this vocabulary lacks, which become U+FFFD."""
    back = tokenizer.decode(tokenizer.encode(text, add_special=False))
    assert len(back) == len(text)
    lacking = bytes.fromhex("c0c1f1f2f5f6f7f8f9fafbfcfdfeff04061314161d")
    for before, after in zip(text, back, strict=True):
        spellable = not set(before.encode()) & set(lacking)
        assert after == (before if spellable else "\ufffd")


@given(text=st.text(max_size=100))
def test_plain_text_never_becomes_a_control_token(tokenizer, text):
    for control in ("<|im_start|>", "<|im_end|>", "<|endoftext|>"):
        ids = tokenizer.encode(text + control + text, add_special=False)
        assert not set(ids) & set(tokenizer.control.values())


def test_a_long_text_is_encoded_once_and_is_nobodys_to_change(tokenizer, monkeypatch):
    text = "".join(CORPUS) * 5
    expected = tokenizer._encode_anew(text)
    first = tokenizer.encode(text, add_special=False)
    first.append(1)
    encoded = []
    monkeypatch.setattr(tokenizer._pieces, "encode", encoded.append)
    assert tokenizer.encode(text, add_special=False) == expected
    assert not encoded


def test_surrogates_do_not_break_encoding(tokenizer):
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a?b"


def test_control_tokens_are_recognised_only_on_request(tokenizer):
    text = "<|im_start|>user\nHi<|im_end|>"
    ids = tokenizer.encode_with_special(text)
    assert (ids[0], ids[-1]) == (1, 2)
    assert tokenizer.split_special(text) == [1, "user\nHi", 2]
    assert tokenizer.decode(ids) == "user\nHi"


def test_end_of_generation_covers_both_end_tokens(tokenizer):
    assert tokenizer.end_of_generation == {0, 2}


@given(text=st.text(max_size=100))
def test_incremental_detokenizing_gives_the_same_text_in_whole_characters(tokenizer, text):
    ids = tokenizer.encode(text, add_special=False)
    detokenizer = Detokenizer(tokenizer)
    assert "".join(map(detokenizer.push, ids)) == tokenizer.decode(ids)


def test_half_a_character_is_held_back(tokenizer):
    ids = tokenizer.encode("👨‍👩‍👧‍👦漢字", add_special=False)
    assert len(ids) > len("👨‍👩‍👧‍👦漢字")
    detokenizer = Detokenizer(tokenizer)
    pieces = [detokenizer.push(token) for token in ids]
    assert "" in pieces
    assert not any("\ufffd" in piece for piece in pieces)
    assert "".join(Detokenizer(tokenizer).push(token) for token in ids[:1]) == ""


def test_begin_and_end_tokens_are_added_where_the_file_asks(metadata):
    asking = Tokenizer(
        {**metadata, "tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.add_eos_token": True}
    )
    assert asking.encode("Hi") == [1, *asking.encode("Hi", add_special=False), 2]


def test_user_defined_tokens_are_parsed_from_plain_text(metadata):
    types = list(metadata["tokenizer.ggml.token_type"])
    types[3] = 4
    tokenizer = Tokenizer({**metadata, "tokenizer.ggml.token_type": types})
    ids = tokenizer.encode("a<repo_name>b", add_special=False)
    assert ids[1] == 3
    assert tokenizer.decode(ids) == "a<repo_name>b"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenizer.ggml.pre": "lost"}, "knows: bloom, chatglm-bpe, .*qwen2, refact, smaug"),
        ({"tokenizer.ggml.pre": None}, "this engine knows"),
        ({"tokenizer.ggml.model": "t5"}, "byte-level BPE"),
        ({"tokenizer.ggml.tokens": None}, "tokens is missing"),
        ({"tokenizer.ggml.tokens": [1, 2]}, "tokens is missing"),
        ({"tokenizer.ggml.merges": None}, "merges is missing"),
        ({"tokenizer.ggml.merges": ["nothing ofthis"]}, "do not fit"),
        ({"tokenizer.ggml.merges": ["nospace"]}, "do not fit"),
        ({"tokenizer.ggml.token_type": [1]}, "1 entries"),
        ({"tokenizer.ggml.eos_token_id": 49152}, "outside the vocabulary"),
    ],
)
def test_unusable_metadata_is_refused_with_the_reason(metadata, change, message):
    with pytest.raises(TokenizerError, match=message):
        Tokenizer({**metadata, **change})


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("gpt-2", "It|'s| 2026|,| IT|'|S| ok|  |\n|x"),
        ("smollm", "It|'s| |2|0|2|6|,| IT|'|S| ok|  |\n|x"),
        ("llama-bpe", "It|'s| |202|6|,| IT|'S| ok|  \n|x"),
        ("qwen2", "It|'s| |2|0|2|6|,| IT|'S| ok|  \n|x"),
        ("falcon", "It|'|s| |202|6|,| IT|'|S| ok|  |\n|x"),
        ("tekken", "It|'s| |2|0|2|6|,| IT|'S| ok|  \n|x"),
        ("gpt-4o", "It's| |202|6|,| IT'S| ok|  \n|x"),
        ("deepseek-llm", "It|'|s| |2026|,| IT|'|S| ok|  |\n|x"),
        ("deepseek-v3", "It|'s| |202|6|,| IT|'S| ok|  \n|x"),
        ("command-r", "It|'s| |2|0|2|6|,| IT|'|S| ok|  |\n|x"),
        ("bloom", "It's| 2026|,| IT'S| ok|  \n|x"),
    ],
)
def test_pre_tokenizers_cut_as_their_models_do(name, pieces):
    text = "It's 2026, IT'S ok  \nx"
    cuts = pre_tokenizer(PRE_TOKENIZERS[name]).pre_tokenize_str(text)
    assert [text[start:end] for _, (start, end) in cuts] == pieces.split("|")


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
@given(text=st.text(max_size=60))
def test_no_pre_tokenizer_loses_a_character(name, text):
    cuts = pre_tokenizer(PRE_TOKENIZERS[name]).pre_tokenize_str(text)
    assert "".join(piece for piece, _ in cuts) == "".join(
        piece
        for piece, _ in pre_tokenizers.ByteLevel(False, use_regex=False).pre_tokenize_str(text)
    )


_TRICKY = st.text(alphabet="aAé中한가ᄀ\u0301ω²19'sß .,!…?。/_\n\r\t\u3000", max_size=60)


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TRICKY | st.text(max_size=60))
def test_a_text_in_parts_is_cut_as_the_whole(name, text, monkeypatch):
    monkeypatch.setattr("engine.tokenizers.pre_tokenizers.PART_CHARACTERS", 1)
    rules = PRE_TOKENIZERS[name]

    def pieces(text):
        composed = normalizers.NFC().normalize_str(text) if rules.nfc else text
        return [piece for piece, _ in pre_tokenizer(rules).pre_tokenize_str(composed)]

    assert "".join(parts(text)) == text
    assert [piece for part in parts(text) for piece in pieces(part)] == pieces(text)


def test_long_texts_are_cut_into_parts_between_words_or_lines():
    words, lines = "so it is. " * 20_000, "它是水壶。\n" * 20_000
    for text in (words, lines):
        assert max(map(len, parts(text))) < PART_CHARACTERS + 10
        assert "".join(parts(text)) == text
    assert len(list(parts("1234567890" * 20_000))) == 1


def test_long_texts_release_the_interpreter(tokenizer):
    """An event loop on another thread goes on; holding the GIL would be a gap of 800 ms."""
    text = "The quick brown fox, 1234 times. " * 40_000
    worst, last, done = 0.0, time.perf_counter(), threading.Event()

    def encode():
        tokenizer.encode(text)
        done.set()

    thread = threading.Thread(target=encode)
    thread.start()
    while not done.is_set():
        time.sleep(0.002)
        now = time.perf_counter()
        worst, last = max(worst, now - last), now
    thread.join()
    assert worst < 0.4, f"the interpreter was held for {worst * 1000:.0f} ms"
