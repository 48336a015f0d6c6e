"""Commands for later, and several commands by one name: "good night" runs a list."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta

from plugins.api import (
    MissingArgumentError,
    OfferedError,
    Plugin,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
)
from plugins.moments import asked_when, coming
from plugins.routine_words import (
    asked_when_done,
    defined,
    forgotten,
    is_good_night,
    key_of,
    run_beside,
)
from plugins.routine_words import run as run_of
from plugins.scenes import scene_for
from plugins.scheduled import (
    all_scheduled,
    chosen,
    data,
    end,
    find,
    keep,
    later_by,
    line,
    lines,
    next_turn,
    put_at,
    says_when,
    schedule,
    when_told,
)
from plugins.speech import quoted, say, told_of
from plugins.when import When, parse

plugin = Plugin("routines", sentences="routines.{language}.yaml")

MAXIMUM = 100
MAXIMUM_COMMANDS = 20
LONGEST_NAME = 30
"""Characters, in three words, of a name that is said in one sentence with what it stands for."""
LONGEST_GIVEN = 60
LONGEST = timedelta(days=366)
"""Ahead of now, of a command for later."""
LATE = timedelta(hours=1)
_THEN = re.compile(
    r"\s*(?:[,;，；、]\s*)?\b(?:and then|then|und dann|dann|et puis|puis|y luego|luego)\b"
    r"\s*(?:,\s*)?"
    r"|\s*[;；]\s*|\s*(?:然后|再然后|，再|,\s*再)\s*",
    re.IGNORECASE,
)
Command = Annotated[str, Meta(min_length=1, max_length=300)]
Name = Annotated[str, Meta(min_length=1, max_length=60)]
Amount = Annotated[float, Meta(ge=0, le=604_800)]
Moment = Annotated[str, Meta(max_length=100)]
Which = Annotated[str, Meta(max_length=300)]


@plugin.tool(risk="act")
async def later(
    context: ToolContext,
    command: Command,
    hours: Amount = 0,
    minutes: Amount = 0,
    seconds: Amount = 0,
    when: Moment = "",
    every: Moment = "",
    after: Moment = "",
    late: bool = False,
) -> ToolResult:
    """Carry out a command after a while, at a time, or again and again; one that needs a
    confirmation is then not done.

    command: what to say then
    when: for instance at 8 pm, tomorrow at 7, half an hour after sunset
    every: on which days, of one that repeats: every day, every weekday, on Mondays
    after: when what comes before it is done: "at 11" is the one behind that
    late: whether it is rather done in the evening: tomorrow at seven a blind is closed at 19:00
    """
    said = parse(f"{every} {when}", context.language, context.now)
    if (every and not said.said) or (said.said and not said.whole):  # "Mondays between 9 and 5"
        raise MissingArgumentError("when", asked_when(said, context.language))
    if said.said:
        before = parse(f"{every} {after}", context.language, context.now)
        said, due = _due(context, said, before, late=late)
    else:
        due = context.now + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if not timedelta(seconds=1) <= due - context.now <= LONGEST:
        raise ToolError(say(context.language, "later_when"))
    await _room_for_one_more(context)
    one = await schedule(context, command, due, said)
    told = (
        line(context, one)
        if said.said
        else told_of(quoted(command, context.language), f"{due:%H:%M}", context.language)
    )
    undo = ToolCall(tool="routines.cancel", arguments={"which": one.id})
    return ToolResult(text=told, data=data(one), undo=undo)


def _due(context: ToolContext, said: When, before: When, *, late: bool) -> tuple[When, datetime]:
    """When it is, and the first moment of that: "at nine" is whichever comes first, in the morning
    or in the evening, or behind what is done before it."""
    if said.repeat and not before.said:
        return said, coming(context, said)  # every day at seven is in the morning
    first = coming(context, before, either_half=True) if before.said else None
    once = said._replace(repeat=())
    due = coming(context, once, first, either_half=True, late=late)
    if not said.repeat:
        return said, due
    said = said if said.sun else said._replace(at=due.time(), exact=True)
    return said, coming(context, said)


@plugin.tool(risk="read")
async def scheduled(context: ToolContext, which: Which = "") -> ToolResult:
    """Tell the commands that are left for later or repeat.

    which: their ids, with spaces between; empty: all
    """
    found = await all_scheduled(context)
    found = [one for one in found if not which or one.id in which.split()]
    text = lines(context, found) or say(context.language, "none_scheduled")
    shown = [data(one) | {"when": when_told(context, one)} for one in found]
    return ToolResult(text=text, data={"scheduled": shown})


def _is_habit(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether what shall be done no more says on which days or when, so that it is no command for
    now: "stop closing the blinds" is none."""
    habit = str(arguments.get("habit", ""))
    return not habit or says_when(habit, language)


@plugin.tool(risk="act", fits=_is_habit)
async def cancel(context: ToolContext, which: Which = "", habit: Which = "") -> ToolResult:
    """Cancel a command for later, or one that repeats.

    which: words of the command, when it is due, an id, or ``all``; empty: the only one
    habit: what shall be done no more, with its days or its time, in place of that
    """
    meant = chosen(context, await all_scheduled(context), which or habit)
    told = [line(context, one).rstrip(".。") for one in meant]
    for one in meant:
        await end(context, one)
    undo = ToolCall(tool="routines.restore", arguments={"which": " ".join(o.id for o in meant)})
    text = say(context.language, "cancelled" if told else "none_scheduled", told)
    return ToolResult(text=text, undo=undo if told else None)


@plugin.tool(risk="act")
async def change(
    context: ToolContext,
    to: Moment = "",
    which: Which = "",
    by: Annotated[float, Meta(ge=-1_440, le=1_440)] = 0,
) -> ToolResult:
    """Put a command for later at another time, or one that repeats on other days.

    to: for instance half past ten, on weekends; an hour is in the half of the day that it was in
    which: as for cancel
    by: minutes later, or earlier where less than none, in place of that
    """
    said = parse(to, context.language, context.now)
    if not by and (not (said.said or said.on or said.repeat) or said.rest or said.arrival):
        raise MissingArgumentError("to", say(context.language, "when"))
    meant = chosen(context, await all_scheduled(context), which)
    if len(meant) != 1:
        raise ToolError(say(context.language, "reminder_which", value=lines(context, meant)))
    new = await put_at(context, meant[0], later_by(context, meant[0], by) if by else said)
    undo = ToolCall(tool="routines.restore", arguments={"which": meant[0].id, "instead_of": new.id})
    return ToolResult(text=line(context, new), data=data(new), undo=undo)


@plugin.tool(risk="act")
async def restore(context: ToolContext, which: Which, instead_of: Which = "") -> ToolResult:
    """Bring back commands that were cancelled.

    which: their ids, with spaces between
    instead_of: the id of one that ends with that
    """
    if instead_of and (one := await find(context, instead_of)) is not None:
        await end(context, one)
    restored = [one for key in which.split() if (one := await find(context, key)) is not None]
    for one in restored:
        one.ended = None
        if one.repeat:
            if why_not := await next_turn(context, one):
                raise ToolError(why_not)
        elif one.due <= context.now:
            raise ToolError(say(context.language, "time_passed"))
        else:
            await context.jobs.run_at(one.id, one.due)
            await keep(context, one)
    text = lines(context, restored) or say(context.language, "none_scheduled")
    return ToolResult(text=text)


def _is_named(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether what was said as a name is short enough for one, and something is to be done."""
    name = str(arguments.get("name", "")).strip(" ,，")
    return (
        0 < len(name) <= LONGEST_NAME
        and len(name.split()) <= 3
        and bool(str(arguments.get("commands", "")).strip())
    )


@plugin.tool(risk="act", fits=_is_named)
async def define(
    context: ToolContext,
    name: Name,
    commands: Annotated[list[Command], Meta(min_length=1, max_length=MAXIMUM_COMMANDS)] | Command,
) -> ToolResult:
    """Give several commands one name.

    name: what to say, for instance good night
    commands: what is then carried out, in this order; in one text with "then" between them, too
    """
    wanted = [commands] if isinstance(commands, str) else commands
    steps = [step for one in wanted for step in _THEN.split(one) if step.strip(" .。")]
    if not steps or len(steps) > MAXIMUM_COMMANDS:
        raise ToolError(say(context.language, "routine_steps", value=MAXIMUM_COMMANDS))
    await _room_for_one_more(context)
    before = await context.storage.get(key_of(name))
    kept = {"name": name, "commands": steps, "permissions": context.permissions}
    await context.storage.put(key_of(name), kept)
    return ToolResult(
        text=_told({"name": name, "commands": steps}, context.language),
        data={"name": name, "commands": steps},
        undo=_again(before)
        if before
        else ToolCall(tool="routines.forget", arguments={"name": name}),
    )


@plugin.tool(risk="act")
async def run(context: ToolContext, name: Name) -> ToolResult:
    """Carry out the commands of that name, one after the other."""
    stored = await context.storage.get(key_of(name))
    if stored is None and (scene := scene_for(name, context.home.snapshot())) is not None:
        call = ToolCall(tool="home.activate", arguments={"entities": [scene.id]})
        raise OfferedError(call, say(context.language, "start_scene", [scene.name]))
    if stored is None:
        greeting = say(context.language, "good_night") if is_good_night(name) else ""
        raise ToolError(f"{greeting} {say(context.language, 'no_routine_yet', [name])}".strip())
    within = stored.get("permissions")
    replies = [await context.carry_out(one, within=within) for one in stored["commands"]]
    return ToolResult(text=" ".join(replies), data={"replies": replies})


@plugin.tool(risk="read")
async def list_(context: ToolContext) -> ToolResult:
    """Tell the routines that there are, and the commands that are left for later or repeat."""
    stored = [s for s in (await context.storage.all()).values() if "commands" in s]
    waiting = lines(context, await all_scheduled(context))
    text = " ".join(filter(None, [*(_told(one, context.language) for one in stored), waiting]))
    told = [{"name": one["name"], "commands": one["commands"]} for one in stored]
    return ToolResult(text=text or say(context.language, "no_routines"), data={"routines": told})


@plugin.tool(risk="act")
async def forget(context: ToolContext, name: Name) -> ToolResult:
    """Forget a routine."""
    stored = await context.storage.get(key_of(name))
    if stored is None or not await context.storage.delete(key_of(name)):
        raise ToolError(say(context.language, "no_routine", [name]))
    return ToolResult(text=say(context.language, "forgotten", [name]), undo=_again(stored))


@plugin.answers
async def answer(context: ToolContext, question: str) -> ToolCall | None:
    """What is left for later for a thing of which it is asked when it goes on or off."""
    asked = asked_when_done(question, context.language)
    if asked is None:
        return None
    found = [one for one in await all_scheduled(context) if asked.is_of(one.command)]
    which = " ".join(one.id for one in found[:4])
    return ToolCall(tool="routines.scheduled", arguments={"which": which}) if found else None


@plugin.understands
async def named(context: ToolContext, text: str) -> ToolCall | None:
    """The routine that a text runs, forgets or defines by the name that somebody gave it."""
    if (new := defined(text, context.language)) is not None:
        arguments = {"name": new.name, "commands": new.commands}
        return ToolCall(tool="routines.define", arguments=arguments)
    names = (run_of(text), *run_beside(text, context.language))
    ways = [*((name, "routines.run") for name in names), (forgotten(text), "routines.forget")]
    for name, tool in ways:
        if 0 < len(name) <= LONGEST_GIVEN and (stored := await context.storage.get(key_of(name))):
            return ToolCall(tool=tool, arguments={"name": stored["name"]})
    return None


@plugin.job
async def due(context: ToolContext, key: str) -> None:
    """A command's time has come. Forgotten, or set to its next time first: twice is worse than not
    at all. One that repeats is left out where the hub was off at its time for long."""
    one = await find(context, key)
    if one is None or one.ended:
        return
    late, why_it_ends = context.now - one.due, ""
    if one.repeat:
        why_it_ends = await next_turn(context, one)
    else:
        await context.storage.delete(key)
        one.ended = context.now
        context.emit("scheduled", data(one))
    replies = [f"{quoted(one.command, one.language)}: {why_it_ends}"] if why_it_ends else []
    if not (one.repeat and late > LATE):
        done = await context.carry_out(one.command, one.language, one.area, one.permissions)
        replies.insert(0, done)
    for reply in replies:
        context.emit("announcement", {"text": reply, "at": context.now.isoformat()})


async def _room_for_one_more(context: ToolContext) -> None:
    if len(await context.storage.all()) >= MAXIMUM:
        raise ToolError(say(context.language, "routines_full", value=MAXIMUM))


def _again(stored: Mapping[str, Any]) -> ToolCall:
    """The call that brings a routine back."""
    arguments = {"name": stored["name"], "commands": stored["commands"]}
    return ToolCall(tool="routines.define", arguments=arguments)


def _told(routine: Mapping[str, Any], language: str) -> str:
    steps = ("；" if language == "zh" else "; ").join(routine["commands"])
    return told_of(quoted(routine["name"], language), steps, language)
