"""What is said while an alarm or a reminder rings: "not now, again in a quarter of an hour", „ja,
bin schon wach“, 再睡十分钟. No plugin itself.

The same words mean something else while nothing rings: "in ten minutes" may be a timer.
"""

import re
from datetime import timedelta

from plugins.lengths import length_of

_BESIDE = {
    "en": r"(?:(?:not (?:now|yet)|no|oh|okay|ok|please|just|can you|could you|busy),? )*",
    "de": r"(?:(?:(?:jetzt|noch) nicht|nein|ach|okay|ok|gleich|bitte|kannst du),? )*",
    "zh": r"(?:(?:现在不行|现在不|等一下|等等|先别|不)[,，]?)*",
}
_AGAIN = {
    "en": (
        r"(?:remind|tell|wake|ask|call)(?: me)?(?: again)? in (?P<length>.+?)(?: again| please)*",
        r"(?:again )?in (?P<length>.+?)(?: again| please)*",
        r"(?:give me |i need )?(?:another )?(?P<length>.+?)(?: more| longer)(?: please)?",
        r"(?:give me |i need )?another (?P<length>.+?)(?: please)?",
        r"(?:give me )?(?P<length>.+?) more",
        r"snooze(?: it)? (?:for )?(?P<length>.+)",
    ),
    "de": (
        r"(?:erinnere? mich |sag(?: es)? mir |weck mich )?in (?P<length>.+?)"
        r"(?: bitte)? (?:noch ?(?:ein)?mal|nochmals?|wieder|erneut)(?: bitte)?",
        r"(?:erinnere? mich |weck mich )(?:wieder |nochmal |noch einmal )*in (?P<length>.+)",
        r"(?:gib mir |lass mich )?noch (?P<length>.+?)(?: schlafen| bitte| liegen)*",
    ),
    "zh": (
        r"(?:再|等)?过?(?P<length>.+?)(?:之?后|以后)?(?:再)?(?:提醒|叫|喊|通知|响)我?(?:一次|一下|一遍)?(?:吧)?",
        r"(?:让我)?再(?:睡|躺|眯|等)(?:个|上)?(?P<length>.+?)(?:吧)?",
        r"(?P<length>.+?)(?:之?后|以后)再(?:说|来|响)(?:吧)?",
    ),
}
"""What lets it ring again after a while."""
_STOPPED = {
    "en": r"(?:(?:ok(?:ay)?|yes|yeah|yep|right|all ?right|i'm (?:up|awake|on it|going)|i know|"
    r"got it|i've got it|it's done|done(?: it)?|done that|stop(?: it)?|thanks|thank you|"
    r"that's enough|enough|cheers|i heard(?: you)?)[, ]*)+",
    "de": r"(?:(?:ja|jaja|ok(?:ay)?|gut|schon gut|alles klar|(?:ich )?bin (?:ja )?(?:schon )?wach|"
    r"(?:ich )?weiß(?: ich)?(?: schon)?|danke|(?:schon )?erledigt|ist (?:schon )?erledigt|"
    r"hat sich erledigt|stopp?|genug|hab(?:'s| es)? (?:schon )?(?:gemacht|gehört)|mach ich)[, ]*)+",
    "zh": r"(?:(?:好了?|好的|好啦|知道了?|行了?|起来了|起床了|醒了|听到了|听见了|停|停下|停了吧|"
    r"别响了|关了吧|做完了|弄好了|谢谢)[,， ]*)+",
}
"""What says that it was heard."""
LONGEST = timedelta(hours=24)


def again_after(text: str, language: str) -> int:
    """After how many minutes it shall ring again; 0 where that is not said."""
    said = re.sub(r"\bmore (minutes?|hours?)\b", r"\1 more", _plain(text))
    for pattern in _AGAIN.get(language, ()):
        found = re.fullmatch(_BESIDE[language] + pattern, said)
        length = length_of(found["length"], language) if found else None
        if length is not None and length <= LONGEST:
            return max(1, round(length.total_seconds() / 60))
    return 0


def says_heard(text: str, language: str) -> bool:
    """Whether ``text`` says that it was heard, and nothing else."""
    return re.fullmatch(_STOPPED.get(language, "(?!)"), _plain(text)) is not None


def _plain(text: str) -> str:
    said = re.sub(r"[.!?。！？…]+(?=\s|$)|[。！？]", " ", text.casefold().replace("’", "'"))
    return " ".join(said.split()).strip(" ,，")
