"""What cancels or moves an event by the title that somebody gave it: "cancel the dentist", "move
football to Friday at 5", „verschieb den Zahnarzt auf Donnerstag“, 把看牙改到周四. No plugin itself.

The sentence files know those that speak of the calendar, or of an appointment.
"""

import re
from typing import NamedTuple

_POLITE = re.compile(
    r"^(?:(?:please|bitte|(?:can|could|would|will) you|kannst du|könntest du|请|麻烦|帮我),? ?)+|"
    r",? (?:please|bitte|for me|für mich)$",
    re.IGNORECASE,
)
_CANCELLED = {
    "en": r"(?:cancel|call off|delete|remove|scrap) (?:the |my |our )?(?P<event>.+)|"
          r"(?:the |my |our )?(?P<other>.+?)(?: is| has been|'s| got) (?:cancelled|canceled|off|"
          r"called off)",
    "de": r"(?:sage?|streiche?|lösche?|nimm) (?:den |die |das |meinen? |unseren? )?(?P<event>.+?)"
          r"(?: ab| raus| weg)?|(?:der |die |das |mein |unser )?(?P<other>.+?) (?:fällt aus|"
          r"ist (?:abgesagt|ausgefallen))",
    "zh": r"(?:取消|删掉|删除)(?P<event>.+?)|把?(?P<other>.+?)(?:被?取消|删掉|删除)(?:掉|了)?",
    "fr": r"(?:annule|supprime) (?:le |la |l'|mon |ma |notre )?(?P<event>.+)",
    "es": r"(?:cancela|anula|borra) (?:el |la |mi |nuestr[oa] )?(?P<event>.+)",
}  # fmt: skip
_MOVED = {
    "en": r"(?:move|reschedule|shift|push|postpone|change|bring|put) (?:back |forward )?"
          r"(?:the |my |our )?(?P<event>.+?)(?: back| forward| out)? (?:to|until|till) (?P<to>.+)",
    "de": r"(?:verschiebe?|verlege?|schiebe?|ändere?) (?:den |die |das |meinen? |unseren? )?"
          r"(?P<event>.+?) (?:auf|nach) (?:den |die |das )?(?P<to>.+)",
    "zh": r"(?:把|将)?(?P<event>.+?)(?:时间)?"
          r"(?:改到|挪到|推迟到|推到|提前到|移到|换到|改成|改在)(?P<to>.+)",
    "fr": r"(?:déplace|décale|reporte|repousse) (?:le |la |l'|mon |ma |notre )?(?P<event>.+?)"
          r" (?:à|au) (?P<to>.+)",
    "es": r"(?:mueve|cambia|aplaza|pasa) (?:el |la |mi |nuestr[oa] )?(?P<event>.+?)"
          r" (?:al?|para) (?P<to>.+)",
}  # fmt: skip


class Asked(NamedTuple):
    """What shall become of an event."""

    event: str
    """Words of its title, its day or its time."""
    to: str = ""
    """Where it is moved; empty: it is cancelled."""


def asked(text: str, language: str) -> Asked | None:
    """What ``text`` asks to be done to an event, if it is one; ``None``: nothing of the kind."""
    said = text.strip(" .!?。！？")
    while (plain := _POLITE.sub("", said)) != said:
        said = plain.strip(" ,，")
    if found := re.fullmatch(_MOVED.get(language, r"(?!)"), said, re.IGNORECASE):
        return Asked(found["event"], found["to"])
    if found := re.fullmatch(_CANCELLED.get(language, r"(?!)"), said, re.IGNORECASE):
        return Asked(found["event"] or found.groupdict().get("other") or "")
    return None
