"""What cancels or moves an event by the title that somebody gave it: "cancel the dentist", "move
football to Friday at 5", „verschieb den Zahnarzt auf Donnerstag“, 把看牙改到周四. No plugin itself.

The sentence files know those that speak of the calendar, or of an appointment.
"""

import re
from typing import NamedTuple

from plugins.event_words import besides_the_same_time
from plugins.note_words import words_of

_POLITE = re.compile(
    r"^(?:(?:oh|ah|right|okay|ok|ach|na|so|please|bitte|"
    r"(?:can|could|would|will) you|kannst du|könntest du|请|麻烦|帮我),? ?)+|"
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
          r"(?:the |my |our )?(?P<event>.+?)(?: back| forward| out)? (?:to|until|till) (?P<to>.+)|"
          r"(?:the |my |our )?(?P<told>[^,]+?),? (?:(?:they|he|she|the \w+)(?:'ve| have|'s| has) |"
          r"(?:has|have) been |(?:they|he|she) (?:say|said|says) (?:it's |it has )?(?:been )?)"
          r"(?:moved|changed|put back|put off|shifted)(?: it| that)? to (?P<then>.+)",
    "de": r"(?:verschiebe?|verlege?|schiebe?|ändere?) (?:den |die |das |meinen? |unseren? )?"
          r"(?P<event>.+?) (?:auf|nach) (?:den |die |das )?(?P<to>.+)|"
          r"(?:der |die |das |mein |unser )?(?P<told>[^,]+?),? "
          r"(?:wurde|wird|ist|(?:den|die|das) haben (?:sie|die))(?: jetzt)? "
          r"auf (?:den |die |das )?(?P<then>.+?) (?:verschoben|verlegt)|"
          r"(?:den |die |das |meinen? |unseren? )?(?P<named>.+?) (?:auf|nach) (?:den |die |das )?"
          r"(?P<until>.+?) (?:verschieben|verlegen)",
    "zh": r"(?:把|将)?(?P<event>[^，,]+?)(?:的事情?|这事|那个)?"
          r"(?:[，,]?(?:他们|她们|人家|对方|老师|学校|医生|医院|他|她)(?:刚刚?|刚才)?说)?"
          r"(?:[，,]?(?:要|得|想|时间|现在))*"
          r"(?:改到|挪到|推迟到|推到|提前到|移到|换到|改成|改在)(?P<to>.+)",
    "fr": r"(?:déplace|décale|reporte|repousse) (?:le |la |l'|mon |ma |notre )?(?P<event>.+?)"
          r" (?:à|au) (?P<to>.+)",
    "es": r"(?:mueve|cambia|aplaza|pasa) (?:el |la |mi |nuestr[oa] )?(?P<event>.+?)"
          r" (?:al?|para) (?P<to>.+)",
}  # fmt: skip


_ONE_OFF = {
    "en": r"(?:you can |you may |please |can you |could you )*"
          r"(?:cancel|drop|delete|remove|scrap|forget|lose|bin|skip|take (?:off|out)|get rid of) "
          r"(?:the |that |my |our )(?P<event>.+?) one(?: now| again| then| off| out)*|"
          r"(?:the |that |my |our )(?P<other>.+?) one "
          r"(?:can go|isn't needed|is done|is sorted|is not needed|can be (?:cancel|delet)\w+)"
          r"(?: now| any ?more)*|"
          r"(?:i|we) (?:don't|do not|no longer) need (?:the |that )"
          r"(?P<needless>.+?) one(?: now| any ?more)*",
    "de": r"(?:de[nr]|die|das)(?: termin)? (?:mit|wegen|an|für|vom|von|zum|zur|beim)"
          r"(?: de[nrm]| die| das)? (?P<event>.+?) (?:kannst du|kann|könntest du)"
          r"(?: (?:wieder|jetzt|auch|ruhig))* "
          r"(?:streichen|löschen|vergessen|rausnehmen|weg|wegmachen|absagen|raus)|"
          r"(?:streiche?|lösche?|vergiss|nimm) (?:de[nr]|die|das)(?: termin)? "
          r"(?:mit|wegen|an|für|vom|von|zum|zur|beim)(?: de[nrm]| die| das)? (?P<other>.+?)"
          r"(?: wieder| raus| weg)*|"
          r"(?:de[nr]|die|das)(?: termin)? (?:mit|wegen|an|für|vom|von|zum|zur|beim)"
          r"(?: de[nrm]| die| das)? (?P<needless>.+?) (?:brauche?n?|brauch) (?:ich|wir) nicht mehr",
    "zh": r"把?(?P<event>[^，,]+?)的?[那这](?:个|条|项)(?:就|可以|给我)*"
          r"(?:取消|删掉|删除|删了|删|不用|不要|去掉|划掉)(?:提醒)?(?:了|掉|吧)*",
}  # fmt: skip
"""One of several, by a word of it: "you can drop the MOT one", 签字那个取消吧."""
_DONE = re.compile(
    r",? +(?:(?!but|only|except|aber|nur|und|and)[^,]+(?:['’](?:s|ve)| has| have|) "
    r"(?:already |just |all )*(?:done|did|sorted|booked|paid|called|rung|made|finished|been|signed|"
    r"bought|got|gone)\b[^,]*"
    r"|(?:(?:das|den|die|es|ich|wir|er|sie) )?(?:hat|haben|hab|habe|ist|war|bin)\b[^,]*)$"
    r"|[，,][^，,]*(?<![不别])(?:[^不别，,]*)[了过]$",
    re.IGNORECASE,
)
"""What tells that it is done already, and why it is not needed."""

_POINTING = frozenset({
    "these", "those", "last", "first", "second", "other", "same", "one", "any", "all", "every",
    "dieser", "diesen", "diese", "jener", "jenen", "jene", "nächster", "nächsten", "nächste",
    "letzten", "letzte", "ersten", "erste", "anderen", "andere", "einen", "keinen", "alle",
    "把", "这", "那", "个", "的", "所", "有",
})  # fmt: skip
"""Words that only point at an event."""


class Asked(NamedTuple):
    """What shall become of an event."""

    event: str
    """Words of its title, its day or its time."""
    to: str = ""
    """Where it is moved; empty: it is cancelled."""
    one: bool = False
    """Whether it is the one of several that has these words in its title."""


def asked(text: str, language: str) -> Asked | None:
    """What ``text`` asks to be done to an event, if it is one; ``None``: nothing of the kind."""
    said = text.strip(" .!?。！？")
    while (plain := _POLITE.sub("", said)) != said:
        said = plain.strip(" ,，")
    if found := re.fullmatch(_MOVED.get(language, r"(?!)"), said, re.IGNORECASE):
        event, to = filter(None, found.groups())
        return Asked(event, besides_the_same_time(to, language))
    needless = _DONE.sub("", said)
    if found := re.fullmatch(_ONE_OFF.get(language, r"(?!)"), needless, re.IGNORECASE):
        return Asked(next(filter(None, found.groups())), one=True)
    if found := re.fullmatch(_CANCELLED.get(language, r"(?!)"), said, re.IGNORECASE):
        return Asked(found["event"] or found.groupdict().get("other") or "")
    return None


def names_one(said: str) -> bool:
    """Whether it is said which event it is: "the dentist", not "this appointment"."""
    return bool(words_of(said) - _POINTING)
