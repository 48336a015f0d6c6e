"""One of the alarms or reminders that were told of or set, by its time, its day or as "the other":
"the one at eight can go", "move the eight o'clock one to nine", „den anderen zehn Minuten später“.

Decides and does nothing.
"""

import re
from datetime import datetime

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.set_for_a_time import continuing, said_in, which_changed
from hubd.assistant.understanding.plain import NEVER
from plugins.api import ToolCall
from plugins.reminder_entries import BUT, order_of, part_of_day, shift_of
from plugins.when import as_time, parse

SET = frozenset({"alarms", "reminders"})
"""The plugins of what is set, told of and chosen by its time."""
_NOT_NEEDED = {
    "en": re.compile(
        r"(?:the )?(?:one (?:at|for) |alarm (?:at|for) )?(?P<which>.+?)(?: one| alarm| reminder)? "
        r"(?:can go|isn't needed(?: any ?more)?|is not needed(?: any ?more)?)|"
        r"(?:cancel|delete|remove|scrap|drop|turn off|skip|bin|ditch|lose|leave out|get rid of) "
        r"(?:the |that )?"
        r"(?:(?:one|alarm) (?:on |at |for |in )?(?:the )?(?P<of>.+)|(?P<it>.+?)(?: one)?)|"
        r"(?:(?:i|we) )?(?:don't|won't|no longer) need the (?:one (?:at|for|on) )?"
        r"(?P<one>.+?)(?: one)?(?: any ?more)?"
    ),
    "de": re.compile(
        r"(?:der|die|das|den)(?: wecker| erinnerung)? (?P<which>.+?) "
        r"(?:kann|können) (?:auch |ruhig |wieder )?weg|"
        r"(?:der|die|das|den)(?: wecker| erinnerung)? (?P<other>.+?) (?:brauche?|brauchen) "
        r"(?:ich|wir)(?: auch| doch| ja| jetzt| eigentlich)* nicht(?: mehr)?|"
        r"(?:der|die|das|den)(?: wecker| erinnerung)? (?P<left>.+?) (?:lass|lassen wir)"
        r"(?: mal| doch| ruhig| lieber| bitte| einfach)* (?:weg|sein|ausfallen|bleiben)|"
        r"lass (?:den|die|das)(?: wecker| erinnerung)? (?P<out>.+?)"
        r"(?: mal| doch| ruhig| lieber| bitte| einfach)* (?:weg|sein|ausfallen|bleiben)|"
        r"(?:der|die|das|den) (?P<it>.+?) (?:kannst du )?"
        r"(?:lösche?|streiche?|nimm|löschen|streichen|weg)"
        r"(?: wieder| bitte| raus| weg)*|"
        r"(?:lösche?|streiche?|nimm) (?:den|die|das) (?P<one>.+?)(?: wieder| bitte| raus| weg)*"
    ),
    "zh": re.compile(
        r"(?:把)?(?P<which>另外?一?个|.+?(?:的|那个|的那个|那次))"
        r"(?:就|先|也|都)?(?:不用|不要|用不着|不需要|可以去掉|可以删|取消|删掉|删)(?:提醒|叫|响)?我?(?:了|掉|吧)*"
        r"|(?:取消|删掉|去掉)(?P<it>另外?一?个|.+?(?:的|那个|的那个))(?:吧|了)*"
    ),
}
"""Which of those that were told of or set can go."""
_ONE_MOVED = {
    "en": re.compile(
        r"(?:move|put|change|shift|set|make) the (?:one (?:at|for|in|on) )?(?P<which>.+?)"
        r"(?: one to| one (?:at|for)| to| one) (?P<to>.+)"
    ),
    "de": re.compile(
        r"(?:(?:verschieb|verleg|schieb)e? )?(?:der|die|das|den) "
        r"(?P<which>.+?)(?: bitte| lieber| doch| erst| schon)*"
        r"(?: auf|(?<=lieber)|(?<=erst)|(?<=doch)) "
        r"(?P<to>.+?)"
        r"(?: verschieben| verlegen| stellen| ändern| schieben)?"
    ),
    "zh": re.compile(
        r"把?(?P<which>另外?一?个|.+?(?:的|那个|的那个|那次))(?:改到|挪到|改成|改为|换成|推迟到|提前到)(?P<to>.+?)吧?"
    ),
}
"""Which of them is put where."""
_ONE_SHIFTED = {
    "en": re.compile(
        r"(?:(?:move|put|change|shift|set|make|have) )?the (?:one (?:at|for|in|on) )?"
        r"(?P<which>\S.*?)(?: one)?(?: back| forward)?(?: by)? "
        r"(?P<to>(?:half an|an?|one|\S+) (?:minutes?|hours?|quarter of an hour) "
        r"(?:earlier|later|sooner))"
    ),
    "de": re.compile(
        r"(?:und )?(?:(?:verschieb|verleg|schieb|stell|mach)e? )?(?:der|die|das|den) "
        r"(?P<which>\S.*?)(?: bitte| lieber| doch| erst| schon| um)*"
        r" (?P<to>(?:eine? (?:halbe |viertel)?|einer |\S+ )?(?:minuten?|stunden?|viertelstunde) "
        r"(?:früher|später))(?: stellen| verschieben| machen)?"
    ),
    "zh": re.compile(
        r"把?(?P<which>另外?一?个|.+?(?:的|那个|的那个|那次))(?:也|再|就)?"
        r"(?P<to>(?:提前|提早|早|推迟|推后|延后|往后推|晚).+?)(?:吧|再?叫我?)*"
    ),
}
"""Which of them is earlier or later by how much."""
_THE_OTHER = {
    "en": re.compile(r"other(?: one| alarm| reminder)?"),
    "de": re.compile(r"andere[nrs]?"),
    "zh": re.compile("另外?一?个"),
}
"""The one that was not spoken of last."""


def one_of(said: str, memory: Memory, now: datetime) -> Decision | None:
    """What cancels one of the alarms or reminders that were told of or set, or puts it elsewhere:
    "the one at eight can go", "move the eight o'clock one to nine", "the other one an hour later".
    """
    for spoken in (memory.told, memory.last):
        plugin = (spoken.tool or "").partition(".")[0] if spoken else ""
        if spoken is None or plugin not in SET:
            continue
        gone, moved, shifted = (
            table.get(spoken.language, NEVER).fullmatch(said)
            for table in (_NOT_NEEDED, _ONE_MOVED, _ONE_SHIFTED)
        )
        if gone:
            which, to = said_in(gone), ""
        elif shifted and shift_of(shifted["to"], spoken.language) is not None:
            which, to = shifted["which"], shifted["to"]
        elif moved and (to := as_time(moved["to"], spoken.language, now)):
            which = moved["which"]
        else:
            return None
        which = _which_one(_plainly(which, spoken.language), memory, spoken.language, now)
        if not which:
            return None
        given = {"which": which, "to": to} if to else {"which": which}
        tool = f"{plugin}.{'change' if to else 'cancel'}"
        return continuing(spoken, ToolCall(tool=tool, arguments=given))
    return None


def _which_one(which: str, memory: Memory, language: str, now: datetime) -> str:
    """What says which of them is meant, for the tools; empty where it says nothing of that."""
    if _THE_OTHER[language].fullmatch(which):
        return _besides(memory)
    when = parse(which, language, now)
    by_time = (when.said or when.on or when.repeat) and not when.rest
    return which if by_time or part_of_day(which) or order_of(which) is not None else ""


def _besides(memory: Memory) -> str:
    """The one besides that which was set, changed or cancelled last."""
    of_set = memory.undo and memory.undo[0].tool.partition(".")[0] in SET
    return f"{BUT}{which_changed(memory)}" if of_set else ""


def _plainly(which: str, language: str) -> str:
    """What says which, without what a day is said with: „am samstag“."""
    if language == "zh":
        return re.sub("(?:的|那个|那次)+$", "", which)
    return re.sub(r"^(?:on|at|for|from|the) |'s$", "", which) if language == "en" else which
