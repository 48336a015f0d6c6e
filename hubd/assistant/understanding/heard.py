"""What may have been said, where what was heard means nothing: speech recognition writes words that
sound alike.

Knows nothing of commands. Whoever calls tries the other spelling only after the utterance as it
stands was not understood, and by the same rules, so that nothing is lost by it.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.sounds import sound

LONGEST = 4
"""Characters of a Chinese word."""
SHORTEST_WORD = 3
"""Letters."""

# Spellings that sound the same, in the order in which they are made one.
_ALIKE = {
    "de": (
        ("ph|v", "f"), ("th|dt", "t"), ("tz|z", "s"), ("ck", "k"), ("qu", "kw"), ("chs|cks", "ks"),
        ("ß", "s"), ("äu|oi|oy", "eu"), ("ai|ay|ey", "ei"), ("ä", "e"), ("ie|ih", "i"), ("y", "ü"),
        ("(?<=[aeiouäöü])h", ""), ("(?<=[lrmgtkdbfs])n$", "en"),
        ("d(?=$)", "t"), ("b(?=$)", "p"), ("g(?=$)", "k"), ("(?<=ni|ic)ch?$", "cht"),
    ),
    "en": (
        ("ph", "f"), ("^wh", "w"), ("^kn", "n"), ("^wr", "r"), ("ght", "t"), ("ck", "k"),
        ("c(?=[eiy])", "s"), ("ea|ie|ei", "ee"), ("ou|au", "aw"), ("ai", "ay"),
        ("(?<=[a-z]{2})e$", ""), ("z", "s"), ("y$", "ee"), ("ey$", "ee"),
    ),
}  # fmt: skip


_SOFT = str.maketrans("tpkc", "dbgg")


class Vocabulary(NamedTuple):
    """The words that an utterance may be made of."""

    words: frozenset[str]
    by_sound: Mapping[str, str]
    """Sound → the one word that has it."""


def vocabulary_of(known: Lexicon, phrases: Collection[str], more: Collection[str]) -> Vocabulary:
    """The words of a lexicon, of a household's names and ``more``, found by what they sound like;
    of two that sound alike neither."""
    spoken = {word for phrase in phrases for word in phrase.rstrip("$").split()}
    words = frozenset(known.words | spoken | set(more))
    found: dict[str, str] = {}
    for word in words:
        for key in _keys(word, known.language):
            found[key] = word if found.get(key, word) == word else ""
    return Vocabulary(words, {key: word for key, word in found.items() if word})


def otherwise(text: str, known: Lexicon, vocabulary: Vocabulary) -> str:
    """``text`` (plain) with the words that nobody knows as those that sound like them; empty where
    nothing is otherwise."""
    said = known.misheard(plain(text))
    if known.spaces:
        words = [_word(word, known.language, vocabulary) for word in said.split()]
        meant = " ".join(words)
    else:
        meant = "".join(_characters(said.replace(" ", ""), known, vocabulary))
    return meant if meant != plain(text) else ""


def _word(word: str, language: str, vocabulary: Vocabulary) -> str:
    if word in vocabulary.words or len(word) < SHORTEST_WORD or not word.isalpha():
        return word
    meant = (vocabulary.by_sound.get(key) for key in _keys(word, language))
    return next(filter(None, meant), word)


def _characters(text: str, known: Lexicon, vocabulary: Vocabulary) -> Iterator[str]:
    """The text with its misheard words, the longest first."""
    at = 0
    while at < len(text):
        length = next(
            (n for n in range(LONGEST, 1, -1) if text[at : at + n] in vocabulary.words), 0
        )
        if length:
            yield text[at : at + length]
            at += length
            continue
        for length in range(LONGEST, 1, -1):
            window = text[at : at + length]
            if len(window) < length or not _is_doubtful(window, known):
                continue
            if meant := vocabulary.by_sound.get(key_of(window, "zh")):
                yield meant
                at += length
                break
        else:
            yield text[at]
            at += 1


def _is_doubtful(window: str, known: Lexicon) -> bool:
    """Whether a character of it means nothing by itself: 灯关 is no 灯光."""
    return any(known.means_nothing(character) for character in window)


def _keys(word: str, language: str) -> list[str]:
    """What ``word`` sounds like, and in German also what it does where d and t are not told apart
    and "er" ends as "a" ("lauder", "leisa"): the surer first."""
    key = key_of(word, language)
    if language != "de" or not key:
        return [key] if key else []
    soft = re.sub("(?<=[^aeiou])er$", "a", key)
    return [key, f"~{soft.translate(_SOFT)}"]


def key_of(word: str, language: str) -> str:
    """What ``word`` sounds like, vowels and all; empty where that says too little."""
    if language == "zh":
        return sound(word, "zh") if 2 <= len(word) <= LONGEST else ""
    rules = _ALIKE.get(language)
    if rules is None or len(word) < SHORTEST_WORD:
        return ""
    letters = unicodedata.normalize("NFC", word)
    for pattern, alike in rules:
        letters = re.sub(pattern, alike, letters)
    return re.sub(r"(.)\1+", r"\1", letters)
