"""Of several things that were worked at once only some: "just the counter ones", "not the floor
lamp", „die Stehlampe soll anbleiben“, 餐厅灯给我留着. Decides and does nothing.

What was done to the others is taken back. How it is said is in narrowed.yaml.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Entity, Snapshot
from plugins.api import ToolCall

_words = partial(words_beside, __file__)

RESTORE = "home.restore"
FEWEST_LETTERS = 3
"""Of a word that tells a thing from others."""
_CLASSIFIERS = re.compile(r"^(?:那|这)(?:个|盏|些)|的(?:那|这)?(?:个|盏|些)?$")


class Narrowed(NamedTuple):
    """What was done, as it stands then, and what takes back the rest of it."""

    decision: Decision
    restore: ToolCall


def narrowed(
    text: str, last: Decision, undo: Sequence[ToolCall], home: Snapshot
) -> Narrowed | None:
    """What was done last, to those of its things alone that are meant; ``None`` where ``text`` does
    not pick some of them out.

    undo: what would take back all of it
    """
    restore = next((call for call in undo if call.tool == RESTORE), None)
    meant = _meant(text, last, home)
    if restore is None or not meant:
        return None
    spared = [one for one in restore.arguments["states"] if one["id"] not in meant]
    if not spared:
        return None
    kept = [one for one in last.entities if one in meant]
    assert last.call is not None
    call = ToolCall(tool=last.call.tool, arguments={**last.call.arguments, "entities": kept})
    decision = msgspec.structs.replace(
        last,
        entities=kept,
        call=call,
        reason=f"it takes back a part of {last.tool}",
        asks=None,
    )
    return Narrowed(decision, ToolCall(tool=RESTORE, arguments={"states": spared}))


def _meant(text: str, last: Decision, home: Snapshot) -> set[str]:
    """The ids of what is meant, if that is not all of it; else empty."""
    words, said = _words().get(last.language), plain(text)
    things = [entity for entity in home.entities if entity.id in last.entities]
    if words is None or last.call is None or len(things) < 2:
        return set()
    rest = said[match.end() :] if (match := re.match(words["opening"], said)) else said
    if found := re.fullmatch(words["only"], rest):
        meant = _among(things, found["things"], last.language, home)
        return {entity.id for entity in meant} if len(meant) < len(things) else set()
    for pattern in words["not"]:
        found = re.fullmatch(pattern, rest)
        if found and _were_so(found.groupdict().get("state"), last, words):
            spared = _among(things, found["things"], last.language, home)
            return {entity.id for entity in things if entity not in spared} if spared else set()
    return set()


def _were_so(state: str | None, last: Decision, words: Mapping[str, Any]) -> bool:
    """Whether what shall stay as is said was so before: after all was turned off, what shall be on,
    and not what shall be off."""
    spared = words.get("spared", {}).get(last.tool)
    return state is None or spared is None or re.fullmatch(spared, state) is not None


def _among(things: Sequence[Entity], said: str, language: str, home: Snapshot) -> list[Entity]:
    """Those of ``things`` whose name, or else whose room, has all the words of ``said``."""
    known = lexicon(language)
    if known.spaces:
        little = _words()[language]["little"]
        words = [word for word in re.findall(r"\w+", said) if word not in little]
        if language == "en":
            words = [word.removesuffix("s") for word in words]
    else:
        words = [_CLASSIFIERS.sub("", said)]
    rooms = {area.id: [area.name, *area.aliases] for area in home.areas}

    def named(entity: Entity) -> bool:
        return any(_has(name, words) for name in (entity.name, *entity.aliases))

    def placed(entity: Entity) -> bool:
        return any(_has(name, words) for name in rooms.get(entity.area or "", ()))

    if not any(words):
        return []
    return [e for e in things if named(e)] or [e for e in things if placed(e)]


def told_of(text: str, last: Decision, home: Snapshot) -> list[str]:
    """The ids of those of the things worked last of which ``text`` speaks by a word of their names,
    or else of their rooms, that not all of them have: "Ann still needs hers"; empty where it is of
    all or none."""
    things = [entity for entity in home.entities if entity.id in last.entities]
    rooms = {area.id: (area.name, *area.aliases) for area in home.areas}
    by_name = [(one.name, *one.aliases) for one in things]
    by_room = [rooms.get(one.area or "", ()) for one in things]
    for called in (by_name, by_room):
        meant = _spoken_of(text, called, last.language)
        if any(meant) and not all(meant):
            return [one.id for one, is_meant in zip(things, meant, strict=True) if is_meant]
    return []


def _spoken_of(text: str, called: Sequence[Sequence[str]], language: str) -> list[bool]:
    """Which of several things ``text`` speaks of, by how each is called."""
    said, known = plain(text), lexicon(language)
    spoken = set(re.findall(r"\w+", said)) if known.spaces else set[str]()
    own = [_words_of(names, language) for names in called]
    shared = set.intersection(*own) if own else set[str]()

    def is_said(word: str) -> bool:
        return (word in spoken or (not known.spaces and word in said)) and not known.is_noun(word)

    return [any(map(is_said, words - shared)) for words in own]


def _words_of(names: Sequence[str], language: str) -> set[str]:
    if not lexicon(language).spaces:
        return {plain(name) for name in names}
    little = _words()[language]["little"]
    found = {word for name in names for word in re.findall(r"\w+", plain(name))}
    return {word for word in found if len(word) >= FEWEST_LETTERS and word not in little}


def _has(name: str, words: Sequence[str]) -> bool:
    return all(word in plain(name) for word in words)
