"""Notes, and what the household should remember: kept with their date, found by words, forgotten.

"Remember that the spare key is with Ann", then "where is the spare key?" in the same words. What
nobody noted is left to the documents.
"""

import re
import secrets
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from plugins.api import MissingArgumentError, Plugin, ToolCall, ToolContext, ToolError, ToolResult
from plugins.german_clauses import main_clause
from plugins.note_words import (
    as_of,
    changed,
    is_about,
    moved_to,
    subject_of,
    without_forgetting,
)
from plugins.speech import quoted, say
from plugins.spoken import date_of_year

plugin = Plugin("notes", sentences="notes.{language}.yaml")

MAXIMUM = 1_000
SHOWN = 5
_FORGET = re.compile(
    r"(?:please |bitte )?(?:forget|vergiss|oublie|olvida)(?: about| that)?(?:,? dass)? "
    r"(?P<about>.{2,200})|(?:请)?(?:忘掉|忘记|忘了)(?P<said>.{1,100})|"
    r"(?:das|die sache) (?:mit|von) (?:de[rmn] |die )?(?P<with>.{2,100}?) (?:kannst|darfst) du "
    r"(?:wieder |ruhig |jetzt )*vergessen|"
    r"you can forget (?:about |the one about )?(?P<can>.{2,100})|"
    r"(?P<of>.{1,40}?)(?:的事|的事情|那条|的那条)(?:可以|就)?(?:忘了|忘掉|不用记了|删了)(?:吧)?",
    re.IGNORECASE,
)
_NO_NOTE = re.compile(
    r"\b(?:timers?|alarms?|reminders?|lists?|routines?|schedules?|weckers?|erinnerung(?:en)?|liste|"
    r"routine|minuteur|rappel|temporizador|recordatorio)\b|闹钟|提醒|定时|计时|清单|例程",
    re.IGNORECASE,
)
"""What is forgotten by others."""
_NOW = re.compile(r"\s+(?:now|by now)$|\b(?:jetzt|inzwischen|mittlerweile)\s+|现在", re.IGNORECASE)
"""What says that a fact was another before."""
Text = Annotated[str, Meta(min_length=1, max_length=1_000)]


class Note(msgspec.Struct, kw_only=True):
    id: str
    text: str
    at: datetime


_NO_TEXT = re.compile(
    r"(?:(?:that|this|it|down|up|please|das|es|dies|auf|bitte|ça|eso|esto) ?)+|"
    "[来去这那个下一住吧了]+",
    re.IGNORECASE,
)
"""What only points at what shall be noted: "note that down", 记下来."""


@plugin.tool(risk="act")
async def add(context: ToolContext, text: Text) -> ToolResult:
    """Keep a note, or a fact that the household should remember.

    text: what to keep
    """
    if _NO_TEXT.fullmatch(text.strip()):
        raise MissingArgumentError("text", say(context.language, "which_note"))
    if len(await context.storage.all()) >= MAXIMUM:
        raise ToolError(say(context.language, "notes_full", value=MAXIMUM))
    text = main_clause(text) if context.language == "de" else text
    notes = await _notes(context)
    if (
        same := next((one for one in notes if one.text.casefold() == text.casefold()), None)
    ) is not None:
        await context.storage.delete(same.id)
    note = Note(id=secrets.token_hex(6), text=text, at=context.now)
    await context.storage.put(note.id, msgspec.to_builtins(note))
    return ToolResult(
        text=say(context.language, "noted", [text]),
        data=_data(note),
        undo=ToolCall(tool="notes.drop", arguments={"note": note.id}),
    )


@plugin.understands
async def of_notes(context: ToolContext, text: str) -> ToolCall | None:
    """What shall be forgotten, if it was noted ("forget the spare key"), and a fact that is another
    one by now ("Lily's shoe size is 34 now")."""
    said, notes = text.strip(" .!。！"), await _notes(context)
    found = _FORGET.fullmatch(said)
    about = next(filter(None, found.groups()), "") if found else ""
    if about and not _NO_NOTE.search(about) and _matching(notes, about):
        return ToolCall(tool="notes.forget", arguments={"about": about})
    if elsewhere := moved_to(said, context.language):
        thing, to = elsewhere
        kept = [one for one in notes if is_about(subject_of(one.text), thing)]
        if len(kept) == 1:
            arguments = {"about": kept[0].id, "to": to}
            return ToolCall(tool="notes.change", arguments=arguments)
    fact = _NOW.sub("", said)
    subject = subject_of(fact) if fact != said else ""
    for note in notes if subject else ():
        if subject_of(note.text).casefold() == subject.casefold():
            arguments = {"about": note.id, "to": fact[len(subject) :].strip()}
            return ToolCall(tool="notes.change", arguments=arguments)
    return None


@plugin.answers
async def answer(context: ToolContext, question: str) -> ToolCall | None:
    """What was noted, if one note has every word of the question that means something."""
    asked = without_forgetting(" ".join(question.split())[:300])
    if not asked or not _matching(await _notes(context), asked):
        return None
    return ToolCall(tool="notes.recall", arguments={"about": asked})


@plugin.tool(risk="read")
async def recall(context: ToolContext, about: Text) -> ToolResult:
    """Tell what was noted about something, with the day it was noted.

    about: what to look for, or the note itself
    """
    found = _meant(await _notes(context), about)[:SHOWN]
    if not found:
        raise ToolError(say(context.language, "not_noted", [about]))
    return ToolResult(text=_told(context, found), data={"notes": [_data(note) for note in found]})


@plugin.tool(risk="read")
async def list_(context: ToolContext) -> ToolResult:
    """Tell the latest notes."""
    notes = (await _notes(context))[:SHOWN]
    if not notes:
        return ToolResult(text=say(context.language, "no_notes"), data={"notes": []})
    return ToolResult(text=_told(context, notes), data={"notes": [_data(note) for note in notes]})


@plugin.tool(risk="act")
async def change(context: ToolContext, about: Text, to: Text) -> ToolResult:
    """Say what a fact that was noted is by now.

    about: the note, or what finds it
    to: what it is now, for instance 34, in the drawer
    """
    notes = await _notes(context)
    found = _meant(notes, about)
    if not found:
        raise ToolError(say(context.language, "not_noted", [about]))
    note = found[0]
    text = changed(note.text, to, context.language)
    await context.storage.put(
        note.id, msgspec.to_builtins(Note(id=note.id, text=text, at=context.now))
    )
    return ToolResult(
        text=say(context.language, "note_changed", [text], quoted(note.text, context.language)),
        data={"id": note.id, "text": text, "at": context.now.isoformat()},
        undo=ToolCall(tool="notes.put", arguments={"note": note.id, "text": note.text}),
    )


@plugin.tool(risk="act")
async def put(
    context: ToolContext, note: Annotated[str, Meta(max_length=40)], text: Text
) -> ToolResult:
    """Give a note the text that it had, by its id: what undo calls."""
    if await context.storage.get(note) is None:
        raise ToolError(say(context.language, "no_notes"))
    kept = Note(id=note, text=text, at=context.now)
    await context.storage.put(note, msgspec.to_builtins(kept))
    return ToolResult(text=say(context.language, "noted", [text]))


@plugin.tool(risk="dangerous")
async def forget(context: ToolContext, about: Text) -> ToolResult:
    """Forget what was noted about something.

    about: what to forget
    """
    found = _matching(await _notes(context), about)
    if not found:
        raise ToolError(say(context.language, "not_noted", [about]))
    for note in found:
        await context.storage.delete(note.id)
    return ToolResult(text=say(context.language, "forgotten", [note.text for note in found]))


@plugin.tool(risk="act")
async def drop(context: ToolContext, note: Annotated[str, Meta(max_length=40)]) -> ToolResult:
    """Take one note back, by its id: what undo calls."""
    stored = await context.storage.get(note)
    if stored is None:
        raise ToolError(say(context.language, "no_notes"))
    await context.storage.delete(note)
    return ToolResult(text=say(context.language, "forgotten", [stored["text"]]))


async def _notes(context: ToolContext) -> list[Note]:
    """All of them, the latest first."""
    notes = [msgspec.convert(stored, Note) for stored in (await context.storage.all()).values()]
    return sorted(notes, key=lambda note: note.at, reverse=True)


def _meant(notes: list[Note], about: str) -> list[Note]:
    """The note of that id, else those that have its words."""
    return [one for one in notes if one.id == about] or _matching(notes, about)


def _matching(notes: list[Note], about: str) -> list[Note]:
    return [note for note in notes if is_about(note.text, about)]


def _told(context: ToolContext, notes: list[Note]) -> str:
    language, zone = context.language, context.now.tzinfo
    told = []
    for note in notes:
        noted = note.at.astimezone(zone).date()
        text = as_of(note.text, noted, context.now.date(), language)
        told.append(f"{quoted(text, language)} ({date_of_year(noted, language)})")
    return " ".join(told)


def _data(note: Note) -> dict[str, Any]:
    return {"id": note.id, "text": note.text, "at": note.at.isoformat()}
