"""What a conversation remembers between turns: what was done last, and what was asked back.

In memory only: a question back that a restart forgets is asked by nobody, and nothing happens.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Literal

import msgspec

from hubd.assistant.decision import Decision
from hubd.policy import Person
from plugins.api import ToolCall

LATER = "routines.later"
LEFT = frozenset({LATER, "routines.change"})
ON_A_LIST = "lists.add"
PLAYED = "media.search"
ANNOUNCED = "announce.say"
OF_EVENTS = frozenset({"calendar.add", "calendar.move"})
CONVERSATIONS = 256
"""Conversations that are remembered; the one that was silent longest is forgotten first."""
ANSWER_WITHIN = timedelta(seconds=60)
REMEMBERED = timedelta(minutes=10)
"""So long "it" means what was done last."""
EVENT_REMEMBERED = timedelta(hours=1)
"""So long an event is that of which somebody calls, if nothing else was done meanwhile."""
SET_REMEMBERED = timedelta(hours=1)
"""The same of what was set for a time, and is still to come."""
SET = frozenset({"timers", "alarms", "reminders"})
"""The plugins of that."""
ROBOTS = frozenset({"vacuum", "mower"})
"""The plugins of what is at work for a while once it is sent out."""
KEEPS_THE_DAY = SET | {"calendar"}
"""Behind what these do a day is still spoken of."""


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A question back, and what its answer completes."""

    asks: Literal["which", "confirm", "missing"]
    decision: Decision
    text: str
    """What was said first."""
    person: Person
    until: datetime
    argument: str = ""
    """What the tool asked for, where it did."""


class Memory(msgspec.Struct, kw_only=True):
    """What one conversation remembers."""

    last: Decision | None = None
    last_text: str = ""
    last_at: datetime | None = None
    before: Decision | None = None
    """What was done before the last."""
    beside: tuple[Decision, tuple[ToolCall, ...]] | None = None
    """What was done before the last in the same sentence, and what takes it back."""
    undo: tuple[ToolCall, ...] = ()
    """What takes back the last utterance that did something, its last command first."""
    done: str = ""
    """How the last utterance that did something was answered."""
    told: Decision | None = None
    """The question that a tool answered, if the last utterance was one."""
    told_at: datetime | None = None
    day: date | None = None
    """The day that was told or put something on last, if nothing else was done meanwhile."""
    asked_when: str = ""
    """The event of which it was asked just now when it is, and nothing was known."""
    events: tuple[Decision, ...] = ()
    """What put down or moved an event last, and what did before that."""
    events_at: datetime | None = None
    put_on: tuple[Decision, ...] = ()
    """What put items on lists, the last first."""
    put_on_at: datetime | None = None
    played: Decision | None = None
    """What put something on to be heard last."""
    played_at: datetime | None = None
    announced: Decision | None = None
    """What everyone was told last, or would have been if somebody had heard it."""
    announced_at: datetime | None = None
    pending: Pending | None = None
    about: Decision | None = None
    """What it was asked last whether it shall be done, and has not been."""
    about_at: datetime | None = None

    @property
    def announced_last(self) -> bool:
        """Whether nothing was done since everyone was told something."""
        if self.announced_at is None:
            return False
        return self.last_at is None or self.last_at <= self.announced_at

    @property
    def spoken_of(self) -> Decision | None:
        """What "it" is: what was done last, or before a command that was left for later."""
        later = self.last is not None and not self.last.entities and self.last.tool == LATER
        return self.before if later and self.before and self.before.entities else self.last


def _plugin(decision: Decision) -> str:
    return (decision.tool or "").partition(".")[0]


def _is_to_come(last: Decision | None) -> bool:
    """Whether what was done last set or left something for a time, or is still at work."""
    return last is not None and (_plugin(last) in SET | ROBOTS or last.tool in LEFT)


def _day_told(data: Mapping[str, Any], zone: tzinfo | None) -> date | None:
    """The one day that what a tool told is of, by its data; ``None`` where there is none such."""
    if data.get("date"):
        return date.fromisoformat(str(data["date"]))
    days = set()
    for event in data.get("events") or ():
        start = datetime.fromisoformat(str(event["start"]))
        days.add((start.astimezone(zone) if zone else start).date().isoformat())
    return date.fromisoformat(days.pop()) if len(days) == 1 else None


class Dialogues:
    """The memories of all conversations, at most ``CONVERSATIONS``."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._memories: OrderedDict[str, Memory] = OrderedDict()

    def of(self, conversation: str) -> Memory:
        """What ``conversation`` remembers; what is too old is forgotten here."""
        memory = self._memories.setdefault(conversation, Memory())
        self._memories.move_to_end(conversation)
        while len(self._memories) > CONVERSATIONS:
            self._memories.popitem(last=False)
        now = self._clock()
        if memory.pending and now > memory.pending.until:
            memory.pending = None
        remembered = SET_REMEMBERED if _is_to_come(memory.last) else REMEMBERED
        if memory.last_at and now - memory.last_at > remembered:
            memory.last, memory.before, memory.undo, memory.last_at = None, None, (), None
            memory.done = ""
        if memory.about_at and now - memory.about_at > REMEMBERED:
            memory.about = memory.about_at = None
        if memory.told_at and now - memory.told_at > REMEMBERED:
            memory.told = memory.told_at = None
        if memory.told is None and memory.last is None:
            memory.day = None
        if memory.put_on_at and now - memory.put_on_at > REMEMBERED:
            memory.put_on, memory.put_on_at = (), None
        if memory.played_at and now - memory.played_at > REMEMBERED:
            memory.played = memory.played_at = None
        if memory.announced_at and now - memory.announced_at > REMEMBERED:
            memory.announced = memory.announced_at = None
        if memory.events_at and now - memory.events_at > EVENT_REMEMBERED:
            memory.events, memory.events_at = (), None
        return memory

    def ask(
        self,
        conversation: str,
        decision: Decision,
        text: str,
        person: Person,
        *,
        argument: str = "",
    ) -> None:
        """Remember what was asked back; the answer counts for a minute."""
        assert decision.asks is not None
        memory = self.of(conversation)
        if decision.asks == "confirm" and decision.entities:
            memory.about, memory.about_at = decision, self._clock()
        memory.pending = Pending(
            asks=decision.asks,
            decision=decision,
            text=text,
            person=person,
            until=self._clock() + ANSWER_WITHIN,
            argument=argument,
        )

    def announced(self, conversation: str, decision: Decision) -> None:
        """Remember what everyone was told, heard or not: it may be told once more."""
        memory = self.of(conversation)
        memory.announced, memory.announced_at = decision, self._clock()

    def not_told(self, conversation: str, decision: Decision) -> None:
        """Remember a question that its tool could not answer: it may be asked of another day."""
        memory = self.of(conversation)
        memory.told, memory.told_at = decision, self._clock()

    def done(
        self,
        conversation: str,
        decision: Decision,
        text: str,
        undo: ToolCall | None,
        *,
        told: str = "",
        data: Mapping[str, Any] | None = None,
        reads: bool = False,
        further: bool = False,
    ) -> None:
        """Remember what was done, so that "it" means something.

        told: what was said of it
        data: the same for programs
        reads: it only told something; then what was done before can still be taken back, and is
        still "it" unless things were spoken of
        further: it was another command of the same sentence
        """
        memory = self.of(conversation)
        if decision.entities:
            memory.about = memory.about_at = None
        memory.told, memory.told_at = (decision, self._clock()) if reads else (None, None)
        if not reads:
            taken_back = (undo,) if undo else ()
            known = further and len(memory.undo) <= 1
            memory.beside = (memory.last, memory.undo) if known and memory.last else None
            memory.undo = (*taken_back, *memory.undo) if further else taken_back
            memory.done = f"{memory.done} {told}" if further and memory.done else told
        day = _day_told(data or {}, self._clock().tzinfo)
        if day or not (reads or _plugin(decision) in KEEPS_THE_DAY):
            memory.day = day
        if decision.tool == ON_A_LIST:
            memory.put_on, memory.put_on_at = (decision, *memory.put_on[:4]), self._clock()
        if decision.tool == PLAYED:
            memory.played, memory.played_at = decision, self._clock()
        if decision.tool in OF_EVENTS:
            memory.events, memory.events_at = (decision, *memory.events[:1]), self._clock()
        if not reads or decision.entities or memory.last is None:
            memory.before, memory.last = memory.last, decision
            memory.last_text, memory.last_at = text, self._clock()
