"""How a word is pronounced, roughly, and how easily two pronunciations are taken for each other.

A letter stands for a sound. Vowels are told apart by a listener much less surely than consonants,
voiced consonants less surely than others from those that are spoken without voice.
"""

import itertools
import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache

_RULES = {
    "en": (
        ("[^a-z]", ""), ("^kn", "n"), ("^wr", "r"), ("^wh", "w"), ("^ps", "s"), ("mb$", "m"),
        ("igh", "ai"), ("ght", "t"), ("gh", ""), ("tch", "C"), ("ch", "C"),
        ("sh|[ts]i(?=on)|ssi(?=on)", "S"), ("th", "T"), ("ph", "f"), ("ck|q", "k"), ("x", "ks"),
        ("dge?(?=$)|dg|j", "J"), ("c(?=[eiy])", "s"), ("c", "k"), ("(?<=.)le$", "el"),
        ("(?<=[^aeiou])ed$", "d"), ("(?<=[a-zCSTJ]{2})e$", ""), ("(?<=[a-zCSTJ]{2})es$", "s"),
        ("ee|ea|ie|ei|ey|y(?=$)", "i"), ("oo|ou|ew|ue|ui", "u"), ("ai|ay", "e"),
        ("oa|ow|au|aw", "o"), ("(?<=[^aeiou])y", "i"),
    ),
    "de": (
        ("[^a-zäöü]", ""), ("sch", "S"), ("ch|chs", "x"), ("ph|v", "f"), ("ck|qu?|c", "k"),
        ("th|dt", "t"), ("tz|z", "ts"), ("äu|oi|oy", "eu"), ("ai|ay|ey|ei", "ei"), ("ie|ih", "i"),
        ("ä", "e"), ("y|ü", "i"), ("ö", "e"), ("(?<=[aeiou])h", ""), ("j", "S"),
        ("d$", "t"), ("b$", "p"), ("g$", "k"), ("(?<=i)x$", "k"), ("(?<=[^aeiou])a$", "er"),
    ),
}  # fmt: skip
_IRREGULAR = {
    "en": {
        "two": "tu", "to": "tu", "too": "tu", "one": "wun", "won": "wun", "once": "wuns",
        "eight": "et", "ate": "et", "four": "for", "for": "for", "fore": "for", "whole": "hol",
        "who": "hu", "hour": "aur", "our": "aur", "clothes": "kloz", "close": "kloz", "know": "no",
        "of": "of", "off": "of", "are": "ar", "sure": "Sor", "scene": "sin", "seen": "sin",
        "minute": "minit", "minutes": "minits", "been": "bin", "their": "Ter", "there": "Ter",
        "flower": "flur", "thyme": "tim",
        "he'll": "hil", "i'll": "ail", "blue": "blu", "blew": "blu", "ewe": "iu", "you": "iu",
    },
    "de": {"timer": "teimer", "timers": "teimers"},
}  # fmt: skip
"""Words that are not spoken as they are written."""
FEWEST = 3
"""Consonants by which a word is found with one of them wrong."""
VOWELS = frozenset("aeiou")
_NEAR = (
    "td", "pb", "kg", "sz", "fv", "mn", "Ss", "CS", "CJ", "Jg", "Tt", "Td", "Tf", "lr", "wv", "Sz",
    "JS", "xk", "xg", "kt", "pt", "kp", "xS", "nl", "Ct", "JC", "fw", "bv",
)  # fmt: skip
VOWEL, VOWEL_MORE, FAINT, NEAR, OTHER, MORE = 0.2, 0.35, 0.4, 0.4, 1.0, 0.8
"""What it costs to take a sound for another: a vowel for a vowel, a vowel or a faint consonant too
many or too few, a consonant for one that is near it or for any other, a consonant too many."""

_CLASSES = str.maketrans({"d": "t", "b": "p", "g": "k", "J": "C", "z": "s", "v": "f", "n": "m"})


@cache
def pronounced(text: str, language: str) -> str:
    """The sounds of a word (lower case)."""
    if said := _IRREGULAR.get(language, {}).get(text):
        return said
    letters = unicodedata.normalize("NFC", text.replace("ß", "ss"))
    if language != "de":
        letters = unicodedata.normalize("NFKD", letters)
    for pattern, sounds in _RULES[language]:
        letters = re.sub(pattern, sounds, letters)
    return re.sub(r"(.)\1+", r"\1", letters)


def said_together(words: Sequence[str], language: str) -> str:
    """The sounds of words that follow each other: "bright her" has no "th"."""
    return re.sub(r"(.)\1+", r"\1", "".join(pronounced(word, language) for word in words))


def frame(sounds: str) -> str:
    """The consonants that are not faint, with a mark for each vowel: "counsel" is framed like
    "cancel", "lauta" not like "laut"."""
    return "".join("-" if s in VOWELS else s for s in sounds if s not in "hwy")


def skeleton(sounds: str) -> str:
    """The consonants, those that are near each other as one: what is compared first."""
    return re.sub(r"(.)\1+", r"\1", frame(sounds).replace("-", "").translate(_CLASSES))


def keys(sounds: str) -> list[str]:
    """What a word is found by among many: its skeleton, and this with one consonant left out, so
    that two words with one that is wrong share a key (the deletion neighborhood of Mor and Fraenkel
    1982)."""
    bones = skeleton(sounds)
    if len(bones) < FEWEST:
        return [bones]
    fewer = [bones[:i] + bones[i + 1 :] for i in range(len(bones))]
    return list(dict.fromkeys([bones, *fewer]))


def difference(one: str, other: str, limit: float) -> float:
    """How unlike two pronunciations are: the least sum of what makes one of the other; infinite
    where it is more than ``limit``."""
    row = [0.0]
    for sound in other:
        row.append(row[-1] + _ALONE.get(sound, MORE))
    for a in one:
        alone, taken = _ALONE.get(a, MORE), _TAKEN_FOR.get(a, {})
        above, last = row[0], row[0] + alone
        row[0] = least = last
        for j, b in enumerate(other, start=1):
            cost = above if a == b else above + taken.get(b, OTHER)
            above = row[j]
            last = min(cost, above + alone, last + _ALONE.get(b, MORE))
            row[j] = last
            least = min(least, last)
        if least > limit:
            return math.inf
    return row[-1] if row[-1] <= limit else math.inf


_ALONE = dict.fromkeys(VOWELS, VOWEL_MORE) | dict.fromkeys("hrwy", FAINT)
_TAKEN_FOR: dict[str, dict[str, float]] = {a: {b: VOWEL for b in VOWELS if b != a} for a in VOWELS}
for _pair in _NEAR:
    for _a, _b in itertools.permutations(_pair):
        _TAKEN_FOR.setdefault(_a, {})[_b] = NEAR
