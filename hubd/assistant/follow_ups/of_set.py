"""What is said of the timer, alarm or reminder that was set last, and of no other: "take it off
again, Tom's doing it", "half an hour later", "when does it ring?", „hat sich erledigt“, 推迟一小时.

Only right after one was set, moved or told of; decides and does nothing. How it is said is in
of_set.yaml.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.continued import all_of
from hubd.assistant.follow_ups.follow import KEPT_BY_TIME, ended
from hubd.assistant.follow_ups.one_of_set import one_of
from hubd.assistant.follow_ups.same_hour import in_that_hour
from hubd.assistant.follow_ups.set_for_a_time import (
    CHANGES,
    REMINDER,
    continuing,
    days_of_week,
    names_a_day,
    said_when,
    when_of,
    which_changed,
)
from hubd.assistant.replies import besides_no
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.reasons import BREAK
from hubd.assistant.understanding.values import NEVER
from plugins.api import ToolCall
from plugins.lengths import length_of
from plugins.numbers import digits
from plugins.reminder_entries import order_of, shift_of
from plugins.running_timers import clean_name
from plugins.when import When, as_time, parse
from plugins.which_timer import LONGEST_NAME, is_called

_words = partial(words_beside, __file__)

MOST_CLAUSES = 3
TIMERS = "timers"
BARE_CANCELS = frozenset({"cancel", "abbrechen"})
"""These end what was set last, and nothing that was only told of."""
SNOOZED = frozenset({"reminders.snooze", "alarms.snooze"})
_LENGTHENS = frozenset({"timers.add", "timers.subtract"})
_RUNNING = frozenset({"timers.start", "timers.add", "timers.subtract", "timers.resume"})
"""After these a timer runs."""


def of_what_was_set(text: str, memory: Memory) -> Decision | None:
    """What ``text`` asks for of what was set last; ``None`` where it is not about that."""
    if (halted := _told_timer_paused(text, memory)) is not None:
        return halted
    last = memory.last
    plugin = (last.tool or "").partition(".")[0] if last else ""
    if last is None or last.call is None or plugin not in KEPT_BY_TIME:
        return None
    known = _words().get(last.language)
    if known is None:
        return None
    for clause, alone in _clauses(text, last.language, known["opening"]):
        said = re.sub(known["ending"] + "$", "", re.sub("^" + known["opening"], "", clause))
        ways = (said, clause, re.sub(known["ending"] + "$", "", clause))
        if memory.told is not None and said in BARE_CANCELS:
            return None
        if alone and memory.undo and re.fullmatch(known["never_mind"], clause):
            return _ended(memory, last)
        if alone and plugin == TIMERS and _is_one([known["ready"]], *ways):
            return _told(last, memory, plugin, timer=timer_spoken_of(memory))
        if alone and _is_one(known["asked"], *ways):
            return _told(last, memory, plugin)
        if alone and plugin != TIMERS and (which := _asked_which(ways, memory, last, known)):
            return continuing(last, ToolCall(tool=f"{plugin}.list", arguments={"which": which}))
        if plugin == TIMERS and (halted := _paused_or_resumed(clause, memory, last, known)):
            return halted  # „stopp ihn kurz“ ends nothing
        ends = [*known["ended"], *([known["timer_ended"]] if plugin == TIMERS else [])]
        if _is_one(ends, *ways) or (not alone and re.fullmatch(known["ended_beside"], said)):
            other = "" if alone else another_done(text, memory)
            return _of_that_timer(other, last) if other else _ended(memory, last)
        if plugin == TIMERS and (name := _called(ways, text, known)):
            return _named(name, memory, last)
        if not alone and (ended_all := all_of(clause, memory)) is not None:
            return ended_all
        now = datetime.now(UTC)
        if (one := one_of(clause, memory, now) or one_of(said, memory, now)) is not None:
            return one
        if plugin == TIMERS and (running := _paused_or_resumed(said, memory, last, known)):
            return running
        if last.tool in CHANGES and (changed := _changed(said, clause, memory, last, known)):
            return changed
    return None


def of_its_order(decision: Decision) -> bool:
    """Whether it is of the earlier or the later of two alarms or reminders."""
    which = decision.call.arguments.get("which") if decision.call else None
    return which is not None and order_of(str(which)) is not None


def all_given_up(text: str, memory: Memory) -> Decision | None:
    """The end of all timers, alarms or reminders, where a question is answered by that: "no, cancel
    everything, we're going out"."""
    language = memory.last.language if memory.last else ""
    if not language or besides_no(text, language) is None:
        return None
    found = (all_of(plain(clause), memory) for clause in BREAK.split(text))
    return next((one for one in found if one is not None), None)


def of_the_timer_meant(decision: Decision, memory: Memory) -> Decision:
    """The decision, of the timer that was asked about last where it says nothing else: "how long on
    the first one?", "give it another minute"; what takes time off or adds some also of the one that
    was set or changed last."""
    call = decision.call
    if call is None or not call.tool.startswith("timers."):
        return decision
    meant = timer_spoken_of(memory) if call.tool in _LENGTHENS else timer_told(memory)
    named = call.arguments.get("timer") or ("latest" if call.tool in _LENGTHENS else "")
    if not meant or named != "latest":
        return decision
    arguments = {**call.arguments, "timer": meant}
    return msgspec.structs.replace(
        decision, call=ToolCall(tool=call.tool, arguments=arguments), arguments=arguments
    )


def timer_told(memory: Memory) -> str:
    """The timer of which alone it was told last how long it runs; empty where none was."""
    told = memory.told
    if told is None or told.call is None or told.tool != "timers.list":
        return ""
    return str(told.call.arguments.get("name") or "")


def timer_spoken_of(memory: Memory) -> str:
    """The same, else the timer that was set or changed last."""
    if timer := timer_told(memory):
        return timer
    last = memory.last.tool if memory.last else None
    undo = memory.undo[0].arguments if memory.undo and last in _RUNNING else {}
    return str(undo.get("timer") or "")


def another_done(text: str, memory: Memory) -> str:
    """What a clause of ``text`` tells to be done, where the timer that was set last is named by
    something else: "the noodles are out, cancel that one" ends no fish timer; empty where it is
    not."""
    last = memory.last
    known = _words().get(last.language) if last else None
    name = str(last.call.arguments.get("name") or "") if last and last.call else ""
    if known is None or last is None or last.tool != TIMER or not name:
        return ""
    told = (re.fullmatch(known["done"], plain(one)) for one in BREAK.split(text))
    which = next((one["which"] for one in told if one), "")
    return which if which and not is_called(clean_name(name), which) else ""


def put_right(text: str, last: Decision) -> str:
    """The time or the number that is all that ``text`` says in its last clause, or its first, where
    something says that it is not as it was: "can't do two, I've got a meeting. Four", "the packet
    says ten", 还是九点吧，周末让我睡会儿; else empty."""
    plugin, known = (last.tool or "").partition(".")[0], _words().get(last.language)
    if known is None or plugin not in KEPT_BY_TIME:
        return ""
    pieces = [plain(one) for one in BREAK.split(text) if plain(one)]
    if not 1 <= len(pieces) <= MOST_CLAUSES or re.search("[?？!！]", text):
        return ""
    source = NEVER if last.tool in _LENGTHENS else known["source"]  # that is of the whole timer
    cue, lead = (known[one].replace("{source}", source) for one in ("cue", "lead"))

    def puts_right(at: int) -> bool:
        """Whether that clause may say how it is, and the others only why."""
        cued = pieces if at else pieces[:1]
        suggests = last.language == "zh" and re.search("吧|就行|就好|改成|改为", pieces[at])
        others = pieces[:at] + pieces[at + 1 :]
        if not suggests and not any(re.search(cue, one) for one in cued):
            return False
        return not any(_wants_other(one, last, known["of_us"]) for one in others)

    for at in dict.fromkeys((len(pieces) - 1, 0)):
        said = re.sub(known["tail"] + "$", "", re.sub("^" + lead, "", pieces[at]))
        if puts_right(at) and (at or len(pieces) == 1 or _is_value(said, last)):
            return said
    return ""


def made_long(text: str, last: Decision) -> str:
    """How long the timer that was set last shall run in the place of what was said: "set it to
    fifteen minutes"; empty where ``text`` does not say that."""
    known = _words().get(last.language)
    if known is None or (last.tool or "").partition(".")[0] != TIMERS:
        return ""
    clause = re.sub(known["ending"] + "$", "", plain(text))
    for one, _ in _clauses(text, last.language, known["opening"]):
        if length := _needed(re.sub("^" + known["opening"], "", one), last, known):
            return length
    for said in (clause, re.sub("^" + known["opening"], "", clause)):
        found = re.fullmatch(known["made"], said)
        length = next(filter(None, found.groups()), "") if found else ""
        if length_of(length, last.language) or digits(length, last.language).isdigit():
            return length
    return ""


def _needed(said: str, last: Decision, known: dict[str, Any]) -> str:
    """How long what the timer that was set last is for is said to need: "the tea only needs five";
    empty where that is of something else."""
    name = str(last.call.arguments.get("name") or "") if last.call else ""
    for found in filter(None, (re.fullmatch(one, said) for one in known["needs"])):
        which, length = found["which"] or "", found["length"]
        its_own = re.fullmatch(known["it"], which) or (name and is_called(clean_name(name), which))
        if its_own and (
            length_of(length, last.language) or digits(length, last.language).isdigit()
        ):
            return length
    return ""


def in_its_place(text: str, last: Decision) -> Decision | None:
    """The reminder that is meant in the place of the one that was set last: of something else ("no,
    to ring Ann"), or before its event by another while ("the evening before would be better")."""
    known = _words().get(last.language)
    if known is None or last.tool != REMINDER or last.call is None:
        return None
    given, now = dict(last.call.arguments), datetime.now(UTC)
    whole = " ".join(text.split()).strip(" .!。！")
    said = re.sub(known["ending"] + "$", "", re.sub("^" + known["opening"], "", plain(text)))
    before = re.fullmatch(known["before"], said)
    event = re.fullmatch(known["before_event"], str(given.get("what", "")))
    if before and event and not given.get("when"):
        what = known["before_form"].format(lead=before["lead"], event=event["event"])
        return continuing(last, ToolCall(tool=REMINDER, arguments={**given, "what": what}))
    other = re.fullmatch(known["other_task"], whole, re.IGNORECASE)
    if other is None or parse(other["what"], last.language, now).said:
        return None
    when = str(given.get("when") or said_when(str(given["what"]), last.language, now))
    if not when:
        return None
    return continuing(
        last, ToolCall(tool=REMINDER, arguments={"when": when, "what": other["what"]})
    )


def _wants_other(clause: str, last: Decision, of_us: str) -> bool:
    """Whether a clause asks for something, or sets a time of its own, so that another one is not
    all that is said. of_us: what people are let do, and the hub has no part in"""
    lexis = lexicon(last.language)
    if lexis.commands(clause) and not re.search(of_us, clause):
        return True
    when = parse(clause, last.language, datetime.now(UTC))
    return when.said and not lexis.negates(clause)


def _is_value(said: str, last: Decision) -> bool:
    """Whether it is a time or a length, and nothing else."""
    when = parse(as_time(said, last.language, datetime.now(UTC)), last.language, datetime.now(UTC))
    return (when.at is not None and not when.rest) or length_of(said, last.language) is not None


def _clauses(text: str, language: str, opening: str) -> Iterator[tuple[str, bool]]:
    """The whole, and where it has two or three clauses the first and the last of which the others
    only tell why; each with whether it is the whole. opening: what a clause may be that says
    nothing."""
    whole = plain(text)
    yield whole, True
    said = [one for one in BREAK.split(text) if plain(one)]
    pieces = [one for one in said if not re.fullmatch(opening, f"{plain(one)} ")]
    if len(pieces) == 1 < len(said):
        yield plain(pieces[0]), True
    if not 2 <= len(pieces) <= MOST_CLAUSES:
        return
    known = lexicon(language)
    for at in (0, len(pieces) - 1):
        rest = [one for number, one in enumerate(pieces) if number != at]
        if not any(_asks_for_more(one, known) for one in rest):
            yield plain(pieces[at]), False


def _asks_for_more(clause: str, known: Lexicon) -> bool:
    """Whether a clause that stands beside may be a wish of its own: 水开了 only tells."""
    told = known.language == "zh" and clause.strip(" .!。！").endswith("了")
    return clause.rstrip().endswith(("?", "？")) or (known.commands(clause) and not told)


def _is_one(patterns: list[str], *said: str) -> bool:
    return any(re.fullmatch(pattern, one) for pattern in patterns for one in said if one)


def _of_that_timer(name: str, last: Decision) -> Decision:
    """The end of the timer of that name, which may be none."""
    return continuing(last, ToolCall(tool="timers.cancel", arguments={"timer": name}))


def _ended(memory: Memory, last: Decision) -> Decision | None:
    """The end of what was set last, or was put off while it rang; not of what was only told of."""
    if (last.tool or "").endswith(".cancel"):
        return None
    if last.tool in SNOOZED:
        call = ToolCall(tool="reminders.cancel", arguments={"which": "snoozed"})
        return continuing(last, call)
    return ended(memory) if memory.undo else None


def _told(last: Decision, memory: Memory, plugin: str, *, timer: str = "") -> Decision:
    """The question for what is set, or for one timer: when it is, and for whom, stands there."""
    arguments: dict[str, object] = {"until": True} if plugin == TIMERS else {}
    if timer:
        arguments["name"] = timer
    return continuing(last, ToolCall(tool=f"{plugin}.list", arguments=arguments))


def _asked_which(
    ways: tuple[str, ...], memory: Memory, last: Decision, known: dict[str, Any]
) -> str:
    """Which alarm or reminder it is asked of when it is: the day, or that which was set last; empty
    where that is not asked."""
    if _is_one([known["asked_it"]], *ways):
        return which_changed(memory)
    for found in (re.fullmatch(known["asked_on"], one) for one in ways):
        day = next(filter(None, found.groups()), "") if found else ""
        when = parse(day, last.language, datetime.now(UTC)) if day else When()
        if when.on and not (when.said or when.rest):
            return day
    return ""


def _called(ways: tuple[str, ...], text: str, known: dict[str, Any]) -> str:
    """What the timer shall be called, or is for; empty where neither is said."""
    found = (re.fullmatch(known["called"], one) for one in ways)
    name = next((next(filter(None, one.groups()), "") for one in found if one), "")
    plainly = 0 < len(name) <= LONGEST_NAME and not re.search(r"\d", name)
    said = re.search(re.escape(name), text, re.IGNORECASE) if plainly else None
    return (said[0] if said else name) if plainly else ""


def _named(name: str, memory: Memory, last: Decision) -> Decision | None:
    """The timer that was set or changed last, called so."""
    timer = next((call.arguments.get("timer") for call in memory.undo), None)
    if timer is None or last.tool not in _RUNNING:
        return None
    return continuing(
        last, ToolCall(tool="timers.rename", arguments={"timer": timer, "name": name})
    )


def _paused_or_resumed(
    said: str, memory: Memory, last: Decision, known: dict[str, Any]
) -> Decision | None:
    """The timer that was set last, paused or let run on."""
    timer = next((call.arguments.get("timer") for call in memory.undo), None)
    if timer is None:
        return None
    which: dict[str, object] = {"timer": timer}
    if last.tool in _RUNNING and re.fullmatch(known["paused"], said):
        return continuing(last, ToolCall(tool="timers.pause", arguments=which))
    if last.tool == "timers.pause" and re.fullmatch(known["resumed"], said):
        return continuing(last, ToolCall(tool="timers.resume", arguments=which))
    return None


def _told_timer_paused(text: str, memory: Memory) -> Decision | None:
    """The timer of that name paused, of which it was told last how long it runs."""
    timer, told = timer_told(memory), memory.told
    if not timer or told is None:
        return None
    known = _words().get(told.language)
    if known is None or not any(
        re.fullmatch(known["paused"], re.sub("^" + known["opening"], "", clause))
        for clause, _ in _clauses(text, told.language, known["opening"])
    ):
        return None
    return continuing(told, ToolCall(tool="timers.pause", arguments={"timer": timer}))


def _changed(
    said: str, clause: str, memory: Memory, last: Decision, known: dict[str, Any]
) -> Decision | None:
    """The reminder or alarm that was set last, at another time, on each of some days, before its
    event by another while, or of something else."""
    now, language = datetime.now(UTC), last.language
    if not memory.undo or last.call is None:
        return None
    to, before = "", when_of(last, now).at
    if found := re.fullmatch(known["remind_at"], clause):
        to = as_time(next(filter(None, found.groups()), ""), language, now)
    elif at := in_that_hour(said, language, before) or in_that_hour(clause, language, before):
        to = at
    elif found := re.fullmatch(known["shifted"], said):
        to = found["shift"] if shift_of(found["shift"], language) is not None else ""
    elif shift := _shifted(said, known, language):
        to = shift
    elif found := re.fullmatch(known["only"], clause):
        to = _only_on(found["days"], known, last, now)
    elif found := re.fullmatch(known["weekly"], said) or re.fullmatch(known["weekly"], clause):
        days = found["days"]
        if re.fullmatch(known["every_week"], days):
            on = when_of(last, now).on
            days = days_of_week((on.weekday(),), language) if on else ""
        when = parse(days, language, now)
        to = days if when.repeat and not when.rest else ""
    if to:
        changed: dict[str, object] = {"to": to, "which": which_changed(memory)}
        return continuing(last, ToolCall(tool=CHANGES[last.tool or ""], arguments=changed))
    return None


def _shifted(said: str, known: dict[str, Any], language: str) -> str:
    """By how much it is put off or brought forward; empty where it is not."""
    for way in ("later", "earlier"):
        if found := re.fullmatch(known[way], said):
            shift = known[f"{way}_form"].format(next(filter(None, found.groups())))
            return shift if shift_of(shift, language) is not None else ""
    return ""


def _only_on(days: str, known: dict[str, Any], last: Decision, now: datetime) -> str:
    """The days on which what comes again shall come and no others; empty where it does not come on
    these now."""
    before = when_of(last, now)
    for said in (f"{known['on']}{days}", days):
        when = parse(said, last.language, now)
        if when.on and names_a_day(said, last.language) and when.on.weekday() in before.repeat:
            return "" if when.rest else days_of_week((when.on.weekday(),), last.language)
        if when.repeat and not (when.rest or when.said) and set(when.repeat) <= set(before.repeat):
            return said
    return ""
