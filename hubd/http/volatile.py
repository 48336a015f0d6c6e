"""Foreign prompts whose system message says something new each time: the time, the room, a state.

Keys and values of a prompt can be used again as far as it is the same from its first token on. A
client that begins with "Current time is …" therefore pays for thousands of tokens of instructions
and tools with every request. `PromptMemory.rearrange` recognises such lines by comparing with the
client's recent prompts and moves them to the front of the last user message, so that what is
static comes first. Messages are the plain JSON objects of OpenAI's and Ollama's chat requests;
only the system message and the last user message are touched. Knows nothing of HTTP or the engine.

A line is volatile when
- it took the place of a line that reads the same but for its numbers, or, twice, of one that reads
  the same but for one gap (a *frame*: "You are in area … and all generic commands");
- or it came and went at least twice;
- or, in the first prompt of its kind, it tells the hub's own present time or date.
A frame that fits several lines of a prompt proves nothing, and an item of a list means nothing
elsewhere: both stay. So does a device that is added or renamed: the static part changed, once.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec

Messages = Sequence[dict[str, Any]]

MAX_MEMORY_CHARACTERS = 4 * 1024 * 1024
MAX_PROMPT_CHARACTERS = 100_000
"""A longer system message is left as it is: this one takes 25 ms of the event loop."""
MAX_CHANGED_UNITS = 8
"""With more, on either side, a prompt is a new one and not an old one with changes."""
CHANGES = 2
"""So often something has to change before it is held to be volatile."""
MAX_FRAMES = 16
MAX_COMING_AND_GOING = 64
LONG_LINE = 240
"""Characters from which the sentences of a line are looked at one by one."""
CLOCK_TOLERANCE = timedelta(minutes=2)

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SENTENCE = re.compile(r".+?(?:[.!?]\s+|[。！？]|\Z)", re.DOTALL)
_WORD = re.compile(r"\d+|[^\W\d_]+|[^\w\s]|_")
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?:\s*([ap])\.?m\b)?", re.IGNORECASE)
_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")

_ITEM = re.compile(r"\s|$|[-*|,#]")
"""Beginnings of lines that stay where they are: items, rows, headings, and empty ones."""

Words = tuple[str, ...]
Key = TypeVar("Key")


class Frame(msgspec.Struct, frozen=True):
    """What stays of a line whose middle changes: the words before the gap and those after it."""

    before: Words
    after: Words

    def fits(self, words: Words) -> bool:
        """Whether a line with these words is one of the frame's."""
        size = len(self.before) + len(self.after)
        return (
            len(words) >= size
            and words[: len(self.before)] == self.before
            and words[len(words) - len(self.after) :] == self.after
        )


class Rearranged(msgspec.Struct, frozen=True):
    """Messages to send on, and how many lines were moved in them."""

    messages: list[dict[str, Any]]
    moved: int


class _Kind(msgspec.Struct):
    """Prompts of one client that are mostly the same: the latest, and what changed so far."""

    client: str
    units: list[str]
    frames: dict[Frame, int] = {}
    """And how often a line of that frame changed."""
    changes: dict[str, int] = {}
    """Lines that came or went, and how often."""

    @property
    def size(self) -> int:
        return sum(map(len, self.units))

    def learn(self, units: list[str]) -> None:
        """What changed between the latest prompt and this one, which becomes the latest."""
        old, new = set(self.units), set(units)
        gone = [unit for unit in dict.fromkeys(self.units) if unit not in new]
        come = [unit for unit in dict.fromkeys(units) if unit not in old]
        self.units = units
        if max(len(gone), len(come)) > MAX_CHANGED_UNITS:
            return
        for unit in come:
            frame = _best_frame(unit, gone)
            if frame is not None:
                only_numbers = CHANGES if frame == Frame(_shape(unit), ()) else 1
                _count(self.frames, frame, only_numbers, MAX_FRAMES)
        for unit in (*gone, *come):
            _count(self.changes, unit, 1, MAX_COMING_AND_GOING)

    def volatile(self, units: Sequence[str]) -> set[int]:
        """Which of these units change from prompt to prompt."""
        words = [_shape(unit) for unit in units]
        found = {n for n, unit in enumerate(units) if self.changes.get(unit, 0) >= CHANGES}
        for frame, times in self.frames.items():
            fitting = [n for n, shape in enumerate(words) if frame.fits(shape)]
            if times >= CHANGES and len(fitting) == 1:
                found.update(fitting)
        return {n for n in found if not _ITEM.match(units[n])}


class PromptMemory:
    """The recent system messages of every client, within a few megabytes."""

    def __init__(self) -> None:
        self._kinds: list[_Kind] = []
        """The one used last comes last."""

    def rearrange(
        self, client: str, messages: Messages, *, tools: bool, now: datetime
    ) -> Rearranged:
        """The messages with volatile lines of the system message moved to the last user message.

        client: whoever sends the same prompts again; tools: whether descriptions of tools follow
        the system message in the prompt; now: aware, in the household's zone. Messages that have no
        such lines, or a form that is not known here, come back as they are.
        """
        unchanged = Rearranged(messages=list(messages), moved=0)
        user = _last_user(messages)
        if user is None or not _is_system(messages[0]):
            return unchanged
        text = messages[0]["content"]
        if len(text) > MAX_PROMPT_CHARACTERS:
            return unchanged
        units = split(text)
        volatile = self._volatile(client, units, now)
        if not _worth_moving(units, volatile, tools):
            return unchanged
        moved = "\n".join(units[n].strip() for n in sorted(volatile))
        static = "".join(unit for n, unit in enumerate(units) if n not in volatile)
        result = list(messages)
        result[0] = result[0] | {"content": static}
        result[user] = result[user] | {"content": _preceded(moved, messages[user]["content"])}
        return Rearranged(messages=result, moved=len(volatile))

    def _volatile(self, client: str, units: list[str], now: datetime) -> set[int]:
        kind = self._kind_of(client, units)
        if kind is None:
            told = [Frame(_shape(unit), ()) for unit in units if _tells(unit, now)]
            kind = _Kind(client, units, dict.fromkeys(told[:MAX_FRAMES], CHANGES))
        else:
            self._kinds.remove(kind)
            kind.learn(units)
        self._kinds.append(kind)
        while sum(known.size for known in self._kinds) > MAX_MEMORY_CHARACTERS:
            del self._kinds[0]
        return kind.volatile(units)

    def _kind_of(self, client: str, units: Sequence[str]) -> _Kind | None:
        """The client's kind of prompt that has most in common with this one, at least half."""
        kinds = [kind for kind in self._kinds if kind.client == client]
        best = max(kinds, key=lambda kind: _in_common(kind.units, units), default=None)
        return best if best and _in_common(best.units, units) >= 0.5 else None


def split(text: str) -> list[str]:
    """Lines, and sentences of long lines; joined they are the text."""
    units: list[str] = []
    for line in _LINE.findall(text):
        units += _SENTENCE.findall(line) if len(line) > LONG_LINE else [line]
    return units


def frame_of(one: str, other: str) -> Frame | None:
    """What two lines have in common around one gap, if that is a third of them and two words."""
    a, b = _shape(one), _shape(other)
    shorter = min(len(a), len(b))
    before = _same(a, b)
    after = min(_same(a[::-1], b[::-1]), shorter - before)
    if before + after < max(2, shorter / 3):
        return None
    return Frame(a[:before], a[len(a) - after :])


def _best_frame(unit: str, others: Iterable[str]) -> Frame | None:
    frames = [frame for other in others if (frame := frame_of(unit, other))]
    return max(frames, key=lambda frame: len(frame.before) + len(frame.after), default=None)


def _count(counts: dict[Key, int], key: Key, times: int, limit: int) -> None:
    """Add to a count; only those of the last `limit` keys are kept."""
    counts[key] = counts.pop(key, 0) + times
    while len(counts) > limit:
        del counts[next(iter(counts))]


def _shape(unit: str) -> Words:
    """The words of a line, with the same word for every number."""
    return tuple("#" if word.isdigit() else word for word in _WORD.findall(unit))


def _same(a: Words, b: Words) -> int:
    """How many words at the start are the same."""
    pairs = zip(a, b, strict=False)
    return next((n for n, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))


def _in_common(a: Sequence[str], b: Sequence[str]) -> float:
    """The share of the longer text that is in units of both."""
    longer = max(sum(map(len, a)), sum(map(len, b)), 1)
    both = Counter(a) & Counter(b)
    return sum(len(unit) * count for unit, count in both.items()) / longer


def _worth_moving(units: Sequence[str], volatile: set[int], tools: bool) -> bool:
    """Whether something static follows the volatile lines, and they are the smaller part."""
    if not volatile or 2 * sum(len(units[n]) for n in volatile) > sum(map(len, units)):
        return False
    last_static = max((n for n in range(len(units)) if n not in volatile), default=-1)
    return tools or last_static > min(volatile)


def _tells(unit: str, now: datetime) -> bool:
    """Whether the line tells the present time or date."""
    if any(match.groups() == _date_parts(now) for match in _DATE.finditer(unit)):
        return True
    return any(_is_now(match, now) for match in _CLOCK.finditer(unit))


def _date_parts(now: datetime) -> tuple[str, str, str]:
    return f"{now:%Y}", f"{now:%m}", f"{now:%d}"


def _is_now(match: re.Match[str], now: datetime) -> bool:
    hour, minute, half = int(match[1]), int(match[2]), (match[3] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59:
        return False
    told = now.replace(hour=hour, minute=minute)
    apart = abs(told - now)
    return min(apart, timedelta(days=1) - apart) <= CLOCK_TOLERANCE


def _is_system(message: dict[str, Any]) -> bool:
    return message.get("role") in ("system", "developer") and isinstance(
        message.get("content"), str
    )


def _last_user(messages: Messages) -> int | None:
    """Where the last message of the user is, if its content has a form that is known."""
    if not all(isinstance(message, dict) for message in messages):
        return None
    found = [n for n, message in enumerate(messages) if message.get("role") == "user"]
    if not found or not isinstance(messages[found[-1]].get("content"), str | list):
        return None
    return found[-1]


def _preceded(text: str, content: Any) -> Any:
    """The content with the text as its first paragraph, or as its first part."""
    if isinstance(content, list):
        return [{"type": "text", "text": f"{text}\n\n"}, *content]
    return f"{text}\n\n{content}"
