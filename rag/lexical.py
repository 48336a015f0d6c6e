"""Words, numbers and codes of a text in a form that can be compared: the ground of scoring.

A question's "wi-fi passwords" and a page's "WiFi password" must meet, "E24" and "E25" never. Must
not know of passages, databases or models.
"""

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from rag.language import CJK_FUNCTION_WORDS, CJK_RANGES, FUNCTION_WORDS
from rag.thesaurus import SYNONYMS

Kind = Literal["word", "number", "code", "cjk"]


class Term(NamedTuple):
    """One comparable piece of a text."""

    key: str
    """What is compared: a stem, a number, a lower-case code, one or two CJK characters."""
    start: int
    end: int
    kind: Kind
    capital: bool
    """Written with a capital letter, or all in capitals: perhaps a name."""


_TOKEN = re.compile(
    r"(?P<plain>[A-Za-z]+(?![\w'’‑-]))"  # most words: tried first, because that is fastest
    rf"|(?P<cjk>[{CJK_RANGES}]+)"
    r"|(?P<code>[A-Za-z]{1,5}+[-‑]?\d+[A-Za-z0-9]*(?:-\d+[A-Za-z0-9]*)*)"
    r"|(?P<number>\d+(?:[.,:]\d+)*)"
    rf"|(?P<word>[^\W\d_ºª{CJK_RANGES}]+(?:[-‑'’][^\W\d_ºª{CJK_RANGES}]+)*)"
)
_HYPHENS = re.compile(r"[-‑]")
_FUNCTION_WORDS = FUNCTION_WORDS["en"] | {"st", "nd", "rd", "th"}

_SMALL_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_SMALL_NUMBERS.split())} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "ninety": "90",
    "twice": "2",
}

_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "been being",
        "become": "became",
        "begin": "began begun",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "burn": "burnt",
        "buy": "bought",
        "child": "children",
        "choose": "chose chosen",
        "come": "came",
        "cost": "costs",
        "die": "dying",
        "draw": "drew drawn",
        "fall": "fell fallen",
        "find": "found",
        "foot": "feet",
        "freeze": "froze frozen",
        "give": "gave given",
        "go": "goes went gone",
        "grow": "grew grown",
        "hold": "held",
        "keep": "kept",
        "knife": "knives",
        "leaf": "leaves",
        "lead": "led",
        "leave": "left",
        "lose": "lost",
        "make": "made making",
        "man": "men",
        "mean": "meant",
        "meet": "met",
        "pay": "paid",
        "person": "people",
        "rise": "rose risen",
        "run": "ran running",
        "say": "said",
        "sell": "sold",
        "send": "sent",
        "show": "shown",
        "sleep": "slept",
        "speak": "spoke spoken",
        "spend": "spent",
        "take": "took taken",
        "teach": "taught",
        "tooth": "teeth",
        "wear": "wore worn",
        "win": "won",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}

_UNRELATED = frozenset({"gps", "tired"})
"""Not the plural of "gp", nor what has been done to a tyre."""

_DERIVED = re.compile(
    r"(?<=.{4})(?:isations?|izations?|ations?|itions?|ments?|ness|ions?|ors?|ers?|als?|ives?|ables?"
    r"|ibles?|ity|ities|ances?|ences?|ful|ous|ly|ate|at)$"
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A crude English stem of a lower-case word: inflections, then common derivations, removed.

    Errs towards joining ("heater", "heating" and "heated" are "heat"); words with letters outside
    ASCII, and words of three letters or fewer, are left as they are.
    """
    word = _IRREGULAR.get(word, word)
    word = SYNONYMS.get(word) or SYNONYMS.get(_without_ending(word), word)
    if len(word) <= 3 or not word.isascii():
        return word
    word = _uninflected(word)
    for _ in range(2):
        word = _DERIVED.sub("", word)
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    if len(word) <= 3:
        return word
    return word[:-1] + "i" if word.endswith("y") else word.removesuffix("e")


def _without_ending(word: str) -> str:
    """A plural or a past as it stands in a group: "kids", "reimbursed", but not "band"."""
    inflected = word.endswith(("s", "ed")) and word not in _UNRELATED
    return word[:-1] if inflected else word


def _uninflected(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in ("ing", "ed"):
        root = word.removesuffix(suffix)
        if root != word and len(root) >= 3 and any(c in "aeiouy" for c in root):
            if root[-1] == root[-2] and root[-1] not in "lsz":
                return root[:-1]
            return root
    return word


def terms_of(text: str) -> list[Term]:
    """All terms of ``text`` in order, function words left out."""
    found: list[Term] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if match.lastgroup == "plain":
            key, kind = _key_of(token)
            if key:
                capital = kind == "word" and token[0].isupper()
                found.append(Term(key, match.start(), match.end(), kind, capital))
        else:
            found.extend(_terms_of_token(match.lastgroup, token, match.start()))
    return found


def places_of(text: str, wanted: frozenset[str]) -> list[tuple[int, str]]:
    """Where those of ``terms_of(text)`` begin whose key is ``wanted``, with the key, in its order.

    A search reads some fifty chunks for the few terms of a question.
    """
    found: list[tuple[int, str]] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if match.lastgroup == "plain":
            key = _key_of(token)[0]
            if key in wanted:
                found.append((match.start(), key))
        elif match.lastgroup == "cjk":
            run, start = _without_function_words(token), match.start()
            for size in (2, 1):
                for at in range(len(run) - size + 1):
                    if run[at : at + size] in wanted:
                        found.append((start + at, run[at : at + size]))
        else:
            terms = _terms_of_token(match.lastgroup, token, match.start())
            found.extend((term.start, term.key) for term in terms if term.key in wanted)
    return found


@lru_cache(maxsize=4_096)
def keys(text: str) -> frozenset[str]:
    """The distinct term keys of ``text``."""
    return frozenset(term.key for term in terms_of(text))


def name_words(document: str) -> str:
    """The words of a document's name: ``boiler-manual_2024.pdf`` is ``boiler manual 2024``."""
    return document.rsplit(".", 1)[0].replace("-", " ").replace("_", " ")


def number(token: str) -> str:
    """A number normalised: ``1,000`` is ``1000``, ``1,5`` is ``1.5``, ``07:30`` is ``7:30``."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+", token):
        token = token.replace(",", "")
    token = token.replace(",", ".")
    if ":" not in token and token.startswith("0"):
        return token
    return token.lstrip("0") or "0"


def inverse_frequency(sets: Iterable[frozenset[str]]) -> dict[str, float]:
    """Weight of each key by how few of ``sets`` hold it: ``ln(1 + (n - df + ½) / (df + ½))``.

    The key ``""`` holds the weight of a term that none of them holds.
    """
    sets = list(sets)
    frequency: dict[str, int] = {}
    for one in sets:
        for key in one:
            frequency[key] = frequency.get(key, 0) + 1
    count = len(sets)
    weights = {key: math.log(1 + (count - df + 0.5) / (df + 0.5)) for key, df in frequency.items()}
    weights[""] = math.log(1 + (count + 0.5) / 0.5)
    return weights


def coverage(wanted: Iterable[str], present: frozenset[str], weights: Mapping[str, float]) -> float:
    """The share, by weight, of ``wanted`` keys that are ``present``; 0 when none is wanted."""
    total = found = 0.0
    for key in wanted:
        weight = weights.get(key, weights[""])
        total += weight
        found += weight if key in present else 0.0
    return found / total if total else 0.0


def _terms_of_token(kind: str | None, token: str, start: int) -> list[Term]:
    """The terms of one match of ``_TOKEN`` in its group ``kind``."""
    end = start + len(token)
    if kind == "cjk":
        return _characters(token, start)
    if kind == "code":
        code = _HYPHENS.sub("", token).lower()
        code = code.removesuffix("s") if code[-2:-1].isdigit() else code
        return [Term(code, start, end, "code", True)]
    if kind == "number":
        return [Term(number(token), start, end, "number", False)]
    if "-" in token or "‑" in token:
        return _parts(token, start)
    key, word_kind = _key_of(token)
    capital = word_kind == "word" and token[0].isupper()
    return [Term(key, start, end, word_kind, capital)] if key else []


def _parts(token: str, start: int) -> list[Term]:
    """The terms of a hyphenated word: its parts when they are words, else joined."""
    parts = _HYPHENS.split(token)
    if all(len(part) > 2 for part in parts):
        found: list[Term] = []
        for part in parts:
            found.extend(
                term._replace(start=term.start + start, end=term.end + start)
                for term in terms_of(part)
            )
            start += len(part) + 1
        return found
    key, kind = _key_of("".join(parts))
    capital = kind == "word" and token[0].isupper()
    return [Term(key, start, start + len(token), kind, capital)] if key else []


@lru_cache(maxsize=50_000)
def _key_of(word: str) -> tuple[str, Kind]:
    """The key of one word, and whether it is a number's; "" of a function word.

    Remembered, because a library's chunks are made of few words: half of the time of a search.
    """
    lower = word.lower().replace("’", "'")
    if lower in _FUNCTION_WORDS:
        return "", "word"
    if lower in _NUMBER_WORDS:
        return _NUMBER_WORDS[lower], "number"
    lower = lower.removesuffix("'s").replace("'", "")
    return (stem(lower) if lower else ""), "word"


def _characters(run: str, start: int) -> list[Term]:
    """Bigrams and single characters: together they rank better than either alone."""
    found = []
    kept = _without_function_words(run)
    for size in (2, 1):
        for i in range(len(kept) - size + 1):
            if " " not in kept[i : i + size]:
                found.append(Term(kept[i : i + size], start + i, start + i + size, "cjk", False))
    return found


def _without_function_words(run: str) -> str:
    """``run`` with white space of the same length in their place."""
    return CJK_FUNCTION_WORDS.sub(lambda match: " " * len(match[0]), run)
