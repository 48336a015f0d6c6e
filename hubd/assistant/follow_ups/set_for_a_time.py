"""What goes on with an alarm, a reminder, an event or a command for later: "and on Saturday",
"move it to Thursday", "make it half past ten", "but not on weekends".

Only after one was set or told of; decides and does nothing.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.corrections import corrects
from hubd.assistant.understanding.plain import NEVER, plain
from plugins import event_words
from plugins.api import ToolCall
from plugins.days import DAILY
from plugins.reminders import task_in
from plugins.spoken import DAYS
from plugins.when import When, as_time, parse
from plugins.when_reader import Cycle

SCORE = 0.85
DAYS_OF_WEEK = 7
LATER = frozenset({"routines.later", "routines.change"})
ALARM, REMINDER = "alarms.set", "reminders.add"
CHANGES = {
    one: f"{one.partition('.')[0]}.change"
    for one in (ALARM, REMINDER, "alarms.change", "reminders.change")
}
"""What changes the one that was set, or changed, last."""
ADDS = {ALARM: ALARM, "alarms.change": ALARM, REMINDER: REMINDER}
"""What sets another one after it."""
SOME_DAYS = {one: change for one, change in CHANGES.items() if one.startswith("reminders.")}
EVENT, MOVED_EVENT = "calendar.add", "calendar.move"
_MOVED = {
    "en": re.compile(
        r"(?:(?:oh|no|wait|sorry|actually|well),? )*(?:it's|it is|that's)"
        r"(?: actually| really| not until| only)* (?P<is>.+)|"
        r"(?:no,? )?(?:and )?(?:move|put|shift|change|reschedule|make|push) (?:it|that)"
        r"(?: back| forward)?(?: to| for)? (?P<to>.+)"
    ),
    "de": re.compile(
        r"(?:(?:ach|oh|nein|nee|halt|moment),? )*(?:der|die|das|er|sie|es) ist"
        r"(?: (?:doch|ja|eigentlich|nicht \w+,? sondern))*(?: erst| schon)? (?P<is>.+)|"
        r"und (?:zwar|das) (?P<days>(?:jede|alle|täglich|unter der woche|an ).*)|"
        r"(?:nein,? )?(?:verschieb|verleg|schieb|mach|leg|änder)e? (?:ihn|sie|es|das|den)"
        r"(?: bitte)?(?: auf| nach)? (?:den )?(?P<to>.+)"
    ),
    "zh": re.compile(
        r"(?:不对?[,，]?|哦|啊)*(?:应该|其实)?是(?P<is>.+)|(?:不,?)?(?:把它)?(?:改到|挪到|推迟到|提前到|改成|换到)(?P<to>.+)"
    ),
}
_ON_DAYS = {
    "en": re.compile(
        r"(?:no,? )?(?:but )?(?P<days>(?:on|at) (?!\d|noon|midnight).+?),? "
        r"(?:make|change|move|set|put|have) (?:it|that) (?:to |for |at |be )?(?:at )?(?P<to>.+)"
        r"|(?:no,? )?(?:make|change|move|set|put) (?:it|that) (?:to |for |at )?"
        r"(?P<then>\S+(?: \S+)?) (?P<when>(?:on|at) .+)"
    ),
    "de": re.compile(
        r"(?:nein,? )?(?:aber )?(?P<days>am .+?|(?:sams|sonn|mon|diens|donners|frei)tags|mittwochs)"
        r" (?:erst |lieber |bitte |dann )*(?P<to>um .+)"
        r"|(?:mach|leg|schieb|verschieb|änder|stell)e? (?:es|sie|ihn|das) (?P<when>am .+?)"
        r" (?:auf|nach) (?P<then>.+)"
    ),
    "zh": re.compile(
        r"(?:不,?)?(?P<days>.{2,8}?)的?(?:就|都)?(?:改到|改成|改为|换成|调到|推迟到)(?P<to>.+)"
    ),
}
"""Another time on some of its days, for what repeats."""
_EXCEPT = {
    "en": re.compile(
        r"(?:but |and )?(?:except|not|leave out|skip)(?: for)?(?: on)? (?P<days>.+?)(?: though)?"
        r"(?: (?:just|only) (?:on )?.+)?"
    ),
    "de": re.compile(
        r"(?:aber |und )?(?:ausser|nicht|nur nicht)(?: am| an)? (?P<days>.+?)(?: nur .+)?"
        r"|(?:aber |und )?(?:am |an )?(?P<first>\S+) (?:aber )?nicht"
    ),
    "zh": re.compile(
        r"(?:但是?)?(?P<days>.+?)(?:就)?(?:不用|除外|不要|别|不)(?:叫|提醒|关|开|响|执行)?(?:我|了)*"
        r"|除了(?P<but>.+?)(?:以外|之外)?"
    ),
}
"""The days that are left out of what comes again."""
_EACH = {"en": ("on ", "every "), "de": ("am ", "jeden "), "zh": ("每", "每")}
"""What stands before days that are left out, and before those that stay."""
_DAILY = {"en": "every day", "de": "jeden Tag", "zh": "每天"}
_OF_COURSE = re.compile(
    r"(?:,? (?:of course|obviously|I mean|natürlich|doch|mein(?:e|te) ich|not \w+|nicht \w+))+$"
    r"|^(?:natürlich|doch|当然是?|应该是?)\s*"
    r"|[，,]?不是(?:今天|明天)$",
    re.IGNORECASE,
)
"""What is said beside a day that is put right, and says nothing else of it."""
_BEFORE: dict[str, tuple[re.Pattern[str], str, str]] = {
    "en": (
        re.compile(
            r"(?:and |then |also |can you |could you |please )*"
            r"(?:(?:remind|warn|nudge|ping|tell) (?:me|us)|let (?:me|us) know|"
            r"give (?:me|us) (?:a|another) (?:reminder|shout|nudge|heads[- ]?up|buzz|ping))"
            r"(?: of (?:it|that)| about (?:it|that))? "
            r"(?P<lead>(?:half an|\S+) (?:minute|hour|day|week|evening|night)s?)"
            r" (?:before|beforehand|ahead)(?: it| that| then| of it)?"
            r"(?: at (?P<at>.+?))?(?: (?:to|about) (?P<task>.+))?"
        ),
        "{lead}{at} before {event}{task}",
        " at {}| to {}",
    ),
    "de": (
        re.compile(
            r"(?:und |dann |auch )*(?:erinnere? (?:mich|uns)|sage? (?:mir|uns)|"
            r"gib (?:mir|uns)|warne? (?:mich|uns))(?: bitte| auch| noch| mal| daran| dran| so)* "
            r"(?P<lead>(?!am |an )\S+(?: halbe)?(?: \w+)?) (?:vorher|davor|zuvor)"
            r"(?: um (?P<at>.+?))?(?: da?ran| bescheid| an (?:den |die |das )?(?P<task>.+))?"
        ),
        "{lead}{at} vor {event}{task}",
        " um {}| an {}",
    ),
    "zh": (
        re.compile(
            r"(?:再|并|那|也|还|就|到时候?|记得|请|帮我|你)*提前(?P<lead>.+?)"
            r"(?:再|给我|跟我)*(?:提醒|叫|喊|通知|告诉|说)(?:我们?|一下|我一下|我一声|一声|大家)+"
            r"(?P<task>.*?)吧?"
            r"|(?P<day>前一天)(?P<at>.*?)提醒(?:我们?|一下)(?P<what>.*)"
        ),
        "{event}{lead}{at}{task}",
        "{}|提醒我{}",
    ),
}
"""A reminder of the event that was spoken of, how it is said in full, and its hour and task."""
_AND_ALSO = re.compile(
    r",? (?:and|und)(?: then| dann)? |, (?=\w)|[，,；](?:并且?|然后|再)?|并且?", re.I
)
_AND = {
    "en": re.compile(
        r"(?:(?:and |also )?(?:set |make |i need |i'd like )*"
        r"(?:another|one more|a second)(?: one| alarm| reminder)?|"
        r"(?:and|also|and also|plus)(?: again| one)?)(?: for)?\s+"
    ),
    "de": re.compile(
        r"(?:(?:und )?(?:stell |setz |ich brauche? )*"
        r"(?:noch eine[nr]?|eine[nr]? (?:zweite|weitere)[nr]?)|"
        r"(?:und|auch|und auch)(?: noch)?(?: eine[nr]?| mal)?)(?: wecker| erinnerung)?\s+"
    ),
    "zh": re.compile(
        "(?:还有|另外|那|然后)?[再另](?:加|来|定|设|弄|要)一?个(?:闹钟|提醒)?\\s*|还有|另外|那|然后"
    ),
}
_ALSO = {
    "en": re.compile(r"(?=.+ (?:too|as well|also)$)"),
    "de": re.compile(r"(?=.+ auch(?: noch)?$)"),
    "zh": re.compile("(?=.+也)"),
}
"""What says so by its end, or in the middle."""
_ONCE_MORE = re.compile(
    r"\b(?:auch|noch ?(?:ein)?mal|noch eine[nr]?|dann|bitte|wieder|again|as well|too|also|please|"
    r"just in case|to be (?:safe|sure|on the safe side)|zur sicherheit|sicherheitshalber|"
    r"für alle fälle)\b"
    r"|的?(?:闹钟)?吧?[ ,，]*(?:以防万一|保险起见)"
    r"|也要?(?:提醒|叫|来|响|设)?我?(?:一次|一个|一下)?我?吧?$|也|再|的(?:闹钟)?吧?$"
)
"""What is said beside the time of another one, and says nothing of it."""
_FOR_WHOM = {
    "en": re.compile(r" for (?:the |my |our |his |her )?(?P<who>(?!\d)[^\W\d]+)$"),
    "de": re.compile(r" für (?:den |die |das |meine[nr]? |unsere[nr]? )?(?P<who>[^\W\d]+)$"),
    "zh": re.compile("给(?P<who>[一-鿿]{1,4}?)(?=再|也|另|定|设|来|加)"),
}
"""Whom another alarm is for, beside its time."""
_THAT_DAY = {"en": ("tomorrow ", "on {} "), "de": ("morgen ", "am {} "), "zh": ("明天", "{}")}
"""The day of the first one, for another that has none: tomorrow, or one of the week."""


def of_what_is_set(
    said: str, memory: Memory, last: Decision, now: datetime, *, asks: bool = False
) -> Decision | None:
    """What ``said`` (plain) changes of the alarm, reminder, event or command for later that was set
    last, or adds to it; ``None`` where it does neither.

    asks: whether it ends as a question: "and at the weekend?" sets no alarm
    """
    if last.call is None or last.tool is None:
        return None
    if last.tool in (EVENT, MOVED_EVENT) and (what := _before(said, last, now)):
        return continuing(last, ToolCall(tool=REMINDER, arguments={"what": what}))
    if last.tool in (EVENT, MOVED_EVENT) and (to := _moved_to(said, last.language, now)):
        arguments = {"event": title_of(last, now), "to": to}
        return continuing(last, ToolCall(tool=MOVED_EVENT, arguments=arguments))
    if last.tool in SOME_DAYS and (on_days := _on_some_days(said, last, now)) and memory.undo:
        days, to = on_days
        changed = {"to": to, "days": days, "which": which_changed(memory)}
        return continuing(last, ToolCall(tool=SOME_DAYS[last.tool], arguments=changed))
    if (
        last.tool in LATER
        and memory.undo
        and (to := _but_not(said, last, now) or _put_at(said, last, now))
    ):
        which = memory.undo[0].arguments.get("instead_of") or memory.undo[0].arguments["which"]
        call = ToolCall(tool="routines.change", arguments={"to": to, "which": which})
        every = to if parse(to, last.language, now).repeat else last.arguments.get("every", "")
        put = continuing(last, call)
        return msgspec.structs.replace(put, arguments={**call.arguments, "every": every})
    if (
        last.tool in CHANGES
        and memory.undo
        and (to := _but_not(said, last, now) or _to_other_days(said, last, now))
    ):
        changed = {"to": to, "which": which_changed(memory)}
        return continuing(last, ToolCall(tool=CHANGES[last.tool], arguments=changed))
    adds = ADDS.get(last.tool) if not asks else None
    said_for, whom = _without_whom(said, last) if adds == ALARM else (said, "")
    if adds and (when := _another_time(said_for, last, now)):
        given = dict(last.call.arguments) if adds == last.tool else {}
        given |= {"what": whom} if whom else {}
        if last.tool == REMINDER and not given.get("when"):
            given["what"] = task_in(parse(str(given["what"]), last.language, now))
        given.pop("instead", None)
        return continuing(last, ToolCall(tool=adds, arguments={**given, "when": when}))
    return None


def and_remind(text: str, language: str) -> tuple[str, str] | None:
    """What is put down, and the reminder of it that is asked for in the same sentence: "put the
    dentist in the calendar on Friday at 3 and remind me an hour before"."""
    pattern, *_ = _BEFORE.get(language, (None, "", ""))
    for joint in _AND_ALSO.finditer(text) if pattern else ():
        rest = text[joint.end() :].strip(" .!。！")
        if pattern and pattern.fullmatch(plain(rest)):
            return text[: joint.start()].strip(), rest
    return None


def title_of(last: Decision, now: datetime) -> str:
    """What the event is called that was put down or moved last."""
    given = last.call.arguments if last.call else {}
    named = str(given.get("event") or f"{given.get('title', '')} {given.get('when', '')}")
    return event_words.title_in(named, last.language, now)


def _before(said: str, last: Decision, now: datetime) -> str:
    """What the reminder of the event is, in full; empty where none is asked for."""
    pattern, full, parts = _BEFORE.get(last.language, (NEVER, "", "|"))
    found = pattern.fullmatch(said)
    if found is None:
        return ""
    given, (at, task) = found.groupdict(), parts.split("|")
    lead = given["lead"] or given.get("day") or ""
    lead = f"前{lead}" if last.language == "zh" and given["lead"] else lead
    hour, what = given["at"], given["task"] or given.get("what")
    return full.format(
        lead=lead,
        event=title_of(last, now),
        at=at.format(hour) if hour else "",
        task=task.format(what) if what else "",
    )


def _moved_to(said: str, language: str, now: datetime) -> str:
    """Where the event that was spoken of is moved; empty where it is not."""
    pattern = _MOVED.get(language)
    found = pattern.fullmatch(said) if pattern else None
    to = said_in(found)
    return to if to and event_words.says_when(to, language, now) else ""


def said_in(found: re.Match[str] | None) -> str:
    """What a pattern of which one group matches has found."""
    return next(filter(None, found.groupdict().values()), "") if found else ""


def _to_other_days(said: str, last: Decision, now: datetime) -> str:
    """The days to which the reminder or alarm that was spoken of is put, with a time or without;
    empty where it is not. (A time alone is a value that is corrected.)"""
    pattern = _MOVED.get(last.language)
    found = pattern.fullmatch(said) if pattern else None
    to = said_in(found) if found else _OF_COURSE.sub("", corrects(said, last.language))
    when = parse(to, last.language, now) if to else None
    return to if when and (when.on or when.repeat) and not when.rest else ""


def _but_not(said: str, last: Decision, now: datetime) -> str:
    """The days on which what comes again still comes, where some are left out: "except Friday";
    empty where none are."""
    pattern = _EXCEPT.get(last.language)
    found = pattern.fullmatch(said) if pattern else None
    given = last.arguments | (last.call.arguments if last.call else {})
    asked = (str(given.get(name) or "") for name in ("every", "when", "to", "what"))
    days = next(filter(None, (parse(one, last.language, now).repeat for one in asked)), ())
    if found is None or not days:
        return ""
    left_out = next(filter(None, found.groupdict().values())).strip()
    left_out = re.sub(r"^(?:at|on) (?:the )?(?=weekends?$)", "", left_out)
    left_out = re.sub(r"^weekend$", "weekends", left_out)
    on, _ = _EACH[last.language]
    said_so = (parse(f"{lead}{left_out}", last.language, now) for lead in (on, ""))
    out = next((when for when in said_so if not when.rest), When())
    without = set(out.repeat) or ({out.on.weekday()} if out.on else set())
    kept = tuple(day for day in days if day not in without)
    return days_of_week(kept, last.language) if without and kept else ""


def days_of_week(days: Sequence[int], language: str) -> str:
    """Every one of these days in words: "every Monday, Friday", "every day"."""
    if tuple(days) == DAILY:
        return _DAILY[language]
    joint = "、" if language == "zh" else ", "
    return f"{_EACH[language][1]}{joint.join(DAYS[language][day] for day in days)}"


def _put_at(said: str, last: Decision, now: datetime) -> str:
    """The time or the days to which the command for later is put; empty where it is not."""
    pattern = _MOVED.get(last.language)
    found = pattern.fullmatch(said) if pattern else None
    when = parse(found["to"], last.language, now) if found else None
    timed = when is not None and (when.said or when.on or when.repeat)
    return found["to"] if found and when and timed and not when.rest else ""


def which_changed(memory: Memory) -> str:
    """The id of the reminder or alarm that was set or changed last."""
    which = str(memory.undo[0].arguments.get("which", "")) if memory.undo else ""
    return which.rpartition(" ")[2]  # the one that another was set in the place of comes first


def _on_some_days(said: str, last: Decision, now: datetime) -> tuple[str, str] | None:
    """The days, and the time, where a time is said for some days of what repeats."""
    pattern = _ON_DAYS.get(last.language)
    found = pattern.fullmatch(said) if pattern else None
    if found is None:
        return None
    given = found.groupdict()
    days, to = given["days"] or given.get("when") or "", given["to"] or given.get("then") or ""
    days, to = as_time(days, last.language, now), as_time(to, last.language, now)
    which, when = parse(days, last.language, now), parse(to, last.language, now)
    if not which.repeat or which.said or which.on:
        return None
    return (days, to) if when.at and not (when.on or when.repeat) else None


def _without_whom(said: str, last: Decision) -> tuple[str, str]:
    """What is said of another alarm without whom it is for, and that."""
    found = _FOR_WHOM.get(last.language, NEVER).search(said)
    if found is None:
        return said, ""
    return said[: found.start()] + said[found.end() :], found["who"].capitalize()


def _another_time(said: str, last: Decision, now: datetime) -> str:
    """The time that is all that is said behind an "and"; of a day alone, at the same hour; empty
    where it is none."""
    opening = _AND.get(last.language)
    found = opening.match(said) if opening else None
    found = found or _ALSO.get(last.language, NEVER).match(said)
    if found is None or last.call is None:
        return ""
    rest = " ".join(_ONCE_MORE.sub(" ", said[found.end() :]).split()).strip(" ,，")
    when, before = parse(rest, last.language, now), when_of(last, now)
    if when.rest or not (when.said or when.on or when.repeat):
        return ""
    comes_again = before.repeat and before.cycle == Cycle()
    if comes_again and when.on and names_a_day(rest, last.language):
        rest = days_of_week((when.on.weekday(),), last.language)
    elif comes_again and not (when.on or when.repeat or when.delay):
        rest = f"{days_of_week(before.repeat, last.language)} {rest}"
    elif before.on and not (when.on or when.repeat or when.delay):
        day = day_in_words(when_said(last), last.language, before.on, now)
        return f"{day}{rest}" if day is not None else ""
    if when.said:
        return rest
    return f"{rest} {before.at:%H:%M}" if before.at else ""


def day_in_words(said: str, language: str, day: date, now: datetime) -> str | None:
    """The day of what was set, as far as the words of a week reach; empty for today.

    said: how it was said, which may have named a day of the week
    """
    tomorrow, named = _THAT_DAY[language]
    ahead = (day - now.date()).days
    if names_a_day(plain(said), language) and ahead <= DAYS_OF_WEEK:
        return named.format(DAYS[language][day.weekday()])
    return ("", tomorrow)[ahead] if ahead in (0, 1) else None


def names_a_day(said: str, language: str) -> bool:
    """Whether a day of the week is named."""
    if language == "zh":
        return re.search("(?:周|星期|礼拜)[一二三四五六日天]", said) is not None
    return any(day.casefold() in said for day in DAYS[language])


def when_of(last: Decision, now: datetime) -> When:
    """When the alarm or reminder is that was set last."""
    return parse(when_said(last), last.language, now)


def when_said(last: Decision) -> str:
    """The words that say it, among others."""
    given = last.call.arguments if last.call else {}
    return str(given.get("when") or given.get("what") or given.get("to") or "")


def said_when(what: str, language: str, now: datetime) -> str:
    """The words of ``what`` that say when, where they stand at its beginning or its end: "at two"
    of "ring the dentist at two"; else empty."""
    rest = parse(what, language, now).rest
    if not rest or rest == what:
        return ""
    for said in (what.removeprefix(rest), what.removesuffix(rest)):
        if said != what and (found := as_time(said.strip(" ,，"), language, now)):
            return found
    return ""


def continuing(last: Decision, call: ToolCall) -> Decision:
    """The decision on a call that goes on with what was decided before."""
    return Decision(
        route="words",
        tool=call.tool,
        arguments=call.arguments,
        score=SCORE,
        reason=f"it continues {last.tool}",
        call=call,
        language=last.language,
    )
