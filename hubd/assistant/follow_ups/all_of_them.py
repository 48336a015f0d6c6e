"""All of the things that were told of or worked last: "turn them all off", „mach alle aus“, 都关了
after it was told which lights are on. They are these, and nothing else in the house.

Words and what is remembered: decides and does nothing.
"""

import re

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.home.model import Snapshot

TOLD = "home.state"
_ALL = {
    "en": re.compile(r"\b(?:(?:them|they|those|these) all|all (?:of )?(?:them|those|these)|all)\b"),
    "de": re.compile(r"\b(?:sie |die )?alle(?: (?:davon|drei|vier|fünf))?(?! \w{4})\b"),
    "zh": re.compile("(?:它们|那些)?(?:全部|全都|全|都)(?=[关开打锁拉])"),
    "fr": re.compile(r"\b(?:les )?(?:tous|toutes)\b"),
    "es": re.compile(r"\b(?:tod[oa]s)\b"),
}
_THEM = re.compile(r"\b(?:them|those|these|sie)\b|它们|那些")


def all_of_them(text: str, memory: Memory, home: Snapshot) -> tuple[str, Decision] | None:
    """What ``text`` asks for, and what was told or worked, of several things; ``None`` where it
    does not speak of all of them."""
    said, told = plain(text), memory.told and memory.told.tool == TOLD
    spoken = memory.told if told else memory.last
    if spoken is None or spoken.call is None or len(spoken.entities) < 2:
        return None
    if not told and _THEM.search(said) is None:
        return None  # "turn everything off" behind what was done is of more than that
    rest = " ".join(_ALL.get(spoken.language, NEVER).sub(" ", said).split())
    if rest == said:
        return None
    asked = spoken.call.arguments.get("state") if spoken.tool == TOLD else None
    there = [one for one in home.entities if one.id in spoken.entities]
    so = [one.id for one in there if one.state == asked] or [one.id for one in there]
    return rest, msgspec.structs.replace(spoken, entities=so)
