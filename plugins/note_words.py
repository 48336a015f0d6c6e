"""What notes and questions about them say: the words that mean something, and a fact that is
another one by now ("no, it's 34 now"). Shared by plugins; no plugin itself.
"""

import re
from functools import lru_cache

from plugins.speech import stop_words

_ASKING = frozenset({
    "so", "well", "again", "now", "wear", "wears", "keep", "keeps", "kept", "stored", "located",
    "find", "found", "live", "lives", "put", "have", "has", "had", "got", "need", "needs", "called",
    "also", "na", "nochmal", "trägt", "hat", "haben", "liegt", "liegen", "steht", "stehen", "wohnt",
    "heißt", "finde", "finden", "hängt", "braucht", "来", "着", "了", "放", "那", "呢",
})  # fmt: skip
"""Words that a question may have which the note has not."""
_IS = re.compile(
    r"\b(?:is|are|was|were|ist|sind|war|waren|liegt|liegen|steht|stehen|hängt|heißt|lautet|beträgt"
    r"|est|sont|es|son|está|están)\b|放在|现在是|是|在",
    re.IGNORECASE,
)
"""What joins the thing that a note is about and what it says of it."""
_NOW = {
    "en": re.compile(
        r"(?:(?:no|actually|oh|sorry|wait|hang on|(?:i|we|he|she|they)(?:'ve| have|'s| has)? "
        r"(?:moved|changed|swapped) (?:it|them|that)|that's (?:changed|old|wrong))[,. ]+)*"
        r"(?:and )?(?:it's|it is|they're|they are|that's|he's|she's) (?P<now>.+?) now",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"(?:(?:nein|nee|ach|oh|moment|(?:ich|wir) hab(?:en?)? (?:ihn|sie|es|das) (?:umgelegt"
        r"|verlegt|geändert|umgeräumt)|das hat sich geändert)[,. ]+)*"
        r"(?:(?:er|sie|es|das|der|die) (?:ist|sind|liegt|steht|hängt|lautet|heißt) )?"
        r"(?:jetzt|inzwischen|mittlerweile) (?P<now>.+)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:(?:不对|不是|不|我?(?:已经)?(?:换|挪|改|移)(?:地方)?了)[，, ]*)*"
        r"(?:它)?现在(?:是|在|放在|改成|换成)?(?P<now>.+?)了?"
    ),
}
"""That the fact told last is another one now."""


@lru_cache(maxsize=1024)  # the times of one event all have its title
def words_of(text: str) -> frozenset[str]:
    """The words that mean something, in lower case; Chinese by characters."""
    words = re.findall(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+", text.casefold())
    return frozenset(_singular(word) for word in words if word not in stop_words())


def is_about(note: str, question: str) -> bool:
    """Whether the note has every word of the question that says what is asked for."""
    asked = words_of(question)
    meant = asked - _ASKING or asked
    return bool(meant) and meant <= words_of(note)


def subject_of(note: str) -> str:
    """What a note is about, and the word that joins it to what it says: "the key is"; empty where
    it says nothing of anything."""
    found = _IS.search(note)
    return note[: found.end()] if found and found.start() > 0 else ""


def said_now(text: str, language: str) -> str:
    """What a fact is by now: "no, it's 34 now" → "34"; empty where ``text`` does not say so."""
    pattern = _NOW.get(language)
    found = pattern.fullmatch(text.strip(" .!。！")) if pattern else None
    return found["now"] if found else ""


def _singular(word: str) -> str:
    """``keys`` and ``key`` are the same word; so are their likes in French and Spanish."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
