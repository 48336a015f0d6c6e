"""How each family of byte-level BPE vocabularies cuts text before merging: one table of data.

After llama.cpp (src/llama-vocab.cpp) and each model's own tokenizer.json, in the latter's form
where the two spell the same rule differently.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from tokenizers import Regex, pre_tokenizers

from engine.errors import TokenizerError
from engine.gguf_header import named

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""Byte-level BPE's first pattern (openai/gpt-2, encoder.py); built into ``tokenizers``."""


class PreTokenization(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one family."""

    patterns: tuple[str, ...] = (GPT2,)
    """Regular expressions of the pieces, each applied to the pieces and gaps of the one before."""
    ignore_merges: bool = False
    """A piece that is a token as a whole is that token, whatever the merges say."""
    nfc: bool = False
    """The text is put into Unicode's composed form first."""
    add_bos: bool = False
    """Default where the file does not say."""


_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_REST = rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def _by_case(ending: str, digits: str) -> str:
    """OpenAI's o200k pattern and its kin: words are cut where lower case turns into upper."""
    edge = r"[^\r\n\p{L}\p{N}]?"
    words = rf"{edge}{_UPPER}*{_LOWER}+{ending}|{edge}{_UPPER}+{_LOWER}*{ending}"
    return rf"{words}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"


_PUNCTUATION = r"[\p{P}\$\+<=>\^~\|`]+"
_CJK = "[一-龥ࠀ-一가-퟿]+"
# The cased letters as DeepSeek's tokenizer.json lists them; escaped where an editor would compose.
_CASED = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅ"
    "ὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛ"
    "Ꜣ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)

_LLAMA3 = PreTokenization(
    patterns=(rf"{_WORDS}|\p{{N}}{{1,3}}|{_REST}",), ignore_merges=True, add_bos=True
)
_LLAMA3_PLAIN = PreTokenization(patterns=_LLAMA3.patterns)
_QWEN2 = PreTokenization(patterns=(rf"{_WORDS}|\p{{N}}|{_REST}",), nfc=True)
_DIGITS_FIRST = PreTokenization(patterns=(r"\p{N}", GPT2))
_GPT4O = PreTokenization(patterns=(_by_case(f"{_CONTRACTIONS}?", r"\p{N}{1,3}"),))
_SENTENCE_MARKS = r" ?[^(\s|.,!?…。，、।۔،)]+"

PRE_TOKENIZERS: dict[str, PreTokenization] = {
    "default": PreTokenization(
        patterns=(r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")
    ),
    **dict.fromkeys(("gpt-2", "phi-2", "jina-es", "jina-de", "jais"), PreTokenization()),
    **dict.fromkeys(("mpt", "olmo"), PreTokenization(nfc=True)),
    **dict.fromkeys(
        ("smollm", "starcoder", "refact", "codeshell", "exaone", "minerva-7b"), _DIGITS_FIRST
    ),
    "command-r": PreTokenization(patterns=_DIGITS_FIRST.patterns, nfc=True),
    **dict.fromkeys(("llama3", "llama-v3", "llama-bpe", "falcon3", "pixtral"), _LLAMA3),
    **dict.fromkeys(("dbrx", "smaug-bpe", "chatglm-bpe", "glm4"), _LLAMA3_PLAIN),
    **dict.fromkeys(("qwen2", "stablelm2", "deepseek-r1-qwen", "megrez"), _QWEN2),
    **dict.fromkeys(("gpt-4o", "llama4"), _GPT4O),
    "tekken": PreTokenization(patterns=(_by_case("", r"\p{N}"),), ignore_merges=True, add_bos=True),
    "falcon": PreTokenization(patterns=(_PUNCTUATION, GPT2, r"[0-9][0-9][0-9]")),
    "deepseek-llm": PreTokenization(
        patterns=(
            r"[\r\n]",
            rf"\s?[{_CASED}]+",
            r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
            r"\s+$",
            _CJK,
            r"\p{N}+",
        )
    ),
    "deepseek-coder": PreTokenization(
        patterns=(r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK, r"\p{N}")
    ),
    "deepseek-v3": PreTokenization(
        patterns=(
            r"\p{N}{1,3}",
            "[一-龥぀-ゟ゠-ヿ]+",
            r"[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}",
        )
    ),
    **dict.fromkeys(
        ("bloom", "poro-chat", "gpt3-finnish"), PreTokenization(patterns=(_SENTENCE_MARKS,))
    ),
    "viking": PreTokenization(patterns=(_SENTENCE_MARKS, r"\p{N}")),
}
"""tokenizer.ggml.pre → rules."""

PART_CHARACTERS = 1 << 16
"""Tokenized at a time: the library takes 180 bytes a character meanwhile, 150 MB for 840 kB."""
_LETTER = "[A-Za-zÀ-ÖØ-öΑ-ΡΣ-ωЀ-ҁ一-龥]"
_CUT_BY_ALL = re.compile(rf"(?<={_LETTER})(?= {_LETTER})|(?<=\S\n)(?={_LETTER})")
"""Before the space between two letters, and after a lone line end before a letter. Letters that
some family does not know as such are left out."""


def pre_tokenization(metadata: Mapping[str, Any]) -> PreTokenization:
    """The rules that the file names. Raises TokenizerError for a name not in the table."""
    name = metadata.get("tokenizer.ggml.pre")
    if name not in PRE_TOKENIZERS:
        known = ", ".join(sorted(PRE_TOKENIZERS))
        where = named(metadata, "tokenizer.ggml.pre")
        raise TokenizerError(f"{where} is {name!r}; this engine knows: {known}")
    return PRE_TOKENIZERS[name]


def parts(text: str) -> Iterator[str]:
    """A long text in parts, cut where the rules of every family cut it."""
    start = 0
    while len(text) - start > PART_CHARACTERS:
        cut = _CUT_BY_ALL.search(text, start + PART_CHARACTERS)
        if cut is None:
            break
        yield text[start : cut.start()]
        start = cut.start()
    yield text[start:]


def pre_tokenizer(rules: PreTokenization) -> pre_tokenizers.PreTokenizer:
    """The rules in the terms of the ``tokenizers`` library."""
    *first, last = rules.patterns
    steps: list[pre_tokenizers.PreTokenizer] = []
    for pattern in first if last == GPT2 else rules.patterns:
        steps.append(pre_tokenizers.Split(Regex(pattern), behavior="isolated"))
    steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=last == GPT2))
    return pre_tokenizers.Sequence(steps)
