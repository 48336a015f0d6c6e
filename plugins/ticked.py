"""What is said of an item of a list once it is there or done: "Nan's got the bread already", „das
Brot hat die Oma schon geholt“, 水龙头弄好了. No plugin itself.

Whether it is on a list is for the one who knows the lists.
"""

import re
from typing import NamedTuple

_WHO = {
    "en": r"(?:i|we|he|she|they|the \w+|\w+)(?:'ve|'s| have| has)?(?: already| just)*",
    "de": r"(?:ich|wir|er|sie|die \w+|der \w+|\w+)"
    r"(?: doch| ja)?(?: schon| gerade| eben| bereits| heute| gestern| vorhin| inzwischen)*",
    "zh": "(?:[我他她]们?|妈妈?|爸爸?|外婆|外公|奶奶|姥姥|姥爷|爷爷|[哥姐弟妹]+|叔叔|阿姨)",
}
_GOT = {
    "en": (
        r"{who} (?:got|bought|picked up|fetched|brought) (?:the |some |our )?(?P<item>.+?)"
        r"(?: already| now| too| today| yesterday)?",
        r"(?:the |our )?(?P<item>.+?)(?:'s| is| are| has| have)(?: already| now| been)* "
        r"(?:bought|got|picked up|in the (?:bag|trolley|basket))",
    ),
    "de": (
        r"(?:die |der |das |den )?(?P<item>.+?) (?:hab|habe|hat|haben) {who} "
        r"(?:geholt|gekauft|besorgt|mitgebracht|eingepackt|gekriegt|bekommen)",
        r"(?:ich|wir|die \w+|der \w+|\w+) (?:hab|habe|hat|haben)(?: schon| gerade| eben)* "
        r"(?:die |das |den )?(?P<item>.+?)(?: schon| gerade| eben)* "
        r"(?:geholt|gekauft|besorgt|mitgebracht|eingepackt|gekriegt|bekommen)",
        r"(?:die |der |das |den )?(?P<item>.+?) (?:ist|sind)(?: schon| bereits| jetzt)* "
        r"(?:gekauft|geholt|besorgt|eingepackt|im wagen|im korb)",
    ),
    "zh": (
        r"(?P<item>[^,，]{1,12}?){who}?(?:已经|刚刚?|都)*(?:买|拿|带)(?:好|到|回来|来|齐)?了",
        r"{who}(?:已经|刚刚?)*把(?P<item>[^,，]{1,12}?)(?:都|也|已经)*"
        r"(?:买|拿|带)(?:好|到|回来|来|齐)?了",
    ),
}  # fmt: skip
_DONE = {
    "en": (
        r"(?:the |our )?(?P<item>.+?)(?:'s| is| are| has| have)(?: already| now| been| all)* "
        r"(?:done|fixed|sorted|mended|repaired|finished|packed)",
        r"{who} (?:done|fixed|sorted(?: out)?|mended|repaired|finished|packed|paid|posted) "
        r"(?:the |our )?(?P<item>.+?)(?: already| now)?",
    ),
    "de": (
        r"(?:die |der |das |den )?(?P<item>.+?) (?:ist|sind)(?: schon| bereits| jetzt)* "
        r"(?:erledigt|repariert|gemacht|fertig|eingepackt|bezahlt)",
        r"(?:die |der |das |den )?(?P<item>.+?) (?:hab|habe|hat|haben) {who} "
        r"(?:erledigt|repariert|gemacht|eingepackt|bezahlt)",
    ),
    "zh": (
        r"(?P<item>[^,，]{2,12}?)(?:我|我们|他|她|妈妈?|爸爸?)?(?:已经|刚刚?|都)?"
        r"(?:弄|修|做|办|换|装|搞|交|洗|收拾)(?:好|完)了",
    ),
}  # fmt: skip
_BOUGHT = {
    "en": re.compile(
        r"\b(?:i|we|he|she|they|[a-z]+)(?:'ve|'s| have| has)?(?: already| just)* "
        r"(?:bought|picked up|got (?:it|them|that|those)|(?:got|picked) (?:it|them) up)\b|"
        r"\b(?:is|are|'s|'re|been)(?: already| just)* bought\b"
    ),
    "de": re.compile(
        r"\b(?:hab|habe|hat|haben|ist|sind)\b.*\b(?:gekauft|besorgt|geholt|mitgebracht|"
        r"eingekauft)\b|\b(?:gekauft|besorgt|geholt|mitgebracht) (?:hab|habe|hat|haben)\b"
    ),
    "zh": re.compile("(?<![要得该去])买(?:回来|回家|到手?|好|过|齐)?了"),
}
"""What says that something was bought, whatever it is called."""
_NOT = re.compile(r"\b(?:not|no|never|nicht|kein\w*|noch)\b|n't\b|[没不]|[?？吗]")
"""What says that it is not so, or asks."""


class Ticked(NamedTuple):
    """An item that somebody says is dealt with."""

    item: str
    bought: bool
    """Whether it was got, as things are; else it was done, as tasks are."""


def is_bought(text: str, language: str) -> bool:
    """Whether a clause says that something was bought."""
    said = text.casefold().replace("’", "'")
    bought = _BOUGHT.get(language)
    return bought is not None and bought.search(said) is not None and not _NOT.search(said)


def ticked_in(text: str, language: str) -> list[Ticked]:
    """The items of which ``text`` may say that they are there or done, likeliest first."""
    said = text.strip(" .!。！").casefold().replace("’", "'")
    if _NOT.search(said):
        return []
    who = _WHO.get(language, "")
    forms = [(form, True) for form in _GOT.get(language, ())]
    forms += [(form, False) for form in _DONE.get(language, ())]
    found = ((re.fullmatch(form.replace("{who}", who), said), got) for form, got in forms)
    return [Ticked(one["item"], got) for one, got in found if one]
