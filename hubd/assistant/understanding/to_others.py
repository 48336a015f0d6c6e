"""What is said in the room and not to the hub: "Maisie, have you got your kit?", „Kinder, essen!“,
锅盖烫，别用手去拿！, to a dog, on the telephone.

Somebody of the household is called by name at the beginning or the end, or it says what nobody says
to a hub (to_others.yaml). It is looked at only where nothing is understood of it otherwise.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.people import family_words
from hubd.assistant.understanding.plain import plain

FILE = Path(__file__).with_suffix(".yaml")
_PAUSE = r"[,，!！?？.。…:：]"
"""Behind, or before, a name that is called."""
_REQUESTED = re.compile(
    r"\b(?:please|trouble you|(?:could|can|would|will) (?:you|i)|bitte|"
    r"(?:kannst|könntest|würdest) du|s'il te plaît|peux-tu|por favor|puedes)\b|请|帮|麻烦"
)
"""What is asked of the hub as well: "read me the list, love, could you"."""
_OR = re.compile(r"\b(?:or|oder|ou|o)\b(?!\s*,)|还是")
_AND = re.compile(r"(?:\band|\bund|\bet|\by|\bor|\boder|和|跟|与)\s*$")
"""Before the last of several that are counted up, and not called."""


class _Forms(NamedTuple):
    calls: str
    you: str
    said: Sequence[re.Pattern[str]]


def said_to_others(text: str, language: str, people: Sequence[str]) -> bool:
    """Whether ``text`` is said to somebody else in the room.

    people: how the people of the household are called
    """
    if (forms := _forms().get(language)) is None:
        return False
    said = plain(text)
    if lexicon(language).corrected(text):
        return False  # "Mum, no, I mean you there: …"
    if any(form.search(said) for form in forms.said):
        return True
    return _is_called(text, language, tuple(people), sure=True) or _is_called(
        text, language, family_words(language, "fondly"), sure=False
    )


def without_call(text: str, language: str, people: Sequence[str]) -> str:
    """``text`` without the name that it calls first or last; as it is where it calls nobody."""
    first, last = _calling(language, tuple(people))
    rest = first.sub("", text, count=1)
    found = last.search(rest)
    return rest[: found.start()] if found else rest


def _is_called(text: str, language: str, names: tuple[str, ...], *, sure: bool) -> bool:
    """Whether somebody is called by one of ``names``.

    sure: these are names of people; else it has to be plain besides who is spoken to
    """
    if not names:
        return False
    forms, folded = _forms()[language], text.strip().casefold()
    first, last = _calling(language, names)
    edge, gap = (r"\b", " ") if lexicon(language).spaces else ("", ",?")
    named = f"(?:{'|'.join(map(re.escape, names))})"
    spoken_to = re.match(f"{forms.calls}{named}{gap}{forms.you}{edge}", plain(text)) is not None
    begins = first.match(folded) is not None
    found = last.search(folded)
    counted = _AND.search(folded[: found.start("name")]) if found else None
    several = len(re.findall(rf"{edge}{named}{edge}", plain(text))) > 1 or _OR.search(folded)
    ends = found is not None and not counted and not several
    if sure:
        return spoken_to or begins or ends
    if _REQUESTED.search(plain(text)):
        return False
    addressed = re.search(f"{edge}{forms.you}{edge}", plain(text)) is not None
    return spoken_to or ((begins or ends) and addressed)


@lru_cache(maxsize=32)
def _calling(language: str, names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What calls one of ``names`` at the beginning, and at the end, of an utterance."""
    named = f"(?P<name>{'|'.join(map(re.escape, names)) or '(?!)'})"
    calls = _forms()[language].calls.replace(") )*", r")[,!. ]+)*")
    first = rf"^\s*{calls}{named}\s*(?:{_PAUSE}+\s*|$)"
    last = rf"(?:{_PAUSE}\s*)(?:{calls}){named}[\s.!?。！？…]*$"
    return re.compile(first, re.IGNORECASE), re.compile(last, re.IGNORECASE)


@cache
def _forms() -> Mapping[str, _Forms]:
    """By language."""
    return {
        language: _Forms(parts["calls"], parts["you"], [re.compile(one) for one in parts["said"]])
        for language, parts in texts_in(FILE).items()
    }
