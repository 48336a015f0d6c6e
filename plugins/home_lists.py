"""Lists that Home Assistant keeps: a to-do list of its own is read and written there. No plugin.

Its services: https://www.home-assistant.io/integrations/todo. A list whose items can be added,
changed and deleted is used, once it is exposed; every other list is the hub's own.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from plugins.api import Entity, HomeError, ToolContext
from plugins.speech import say

SHOPPING = "shopping"
WORKED = 1 | 2 | 4
"""``TodoListEntityFeature``: items are created, deleted and updated."""
OPEN, DONE = "needs_action", "completed"
_LIST = re.compile(
    r"^(?:an?|eine[rm]?|un[ae]?) (?:(?:new|neuen?|neue[nr]?|nouvelle|nueva) )?(?=\S)|"
    r"\b(?:the|my|our|list|liste|lista)\b|清单|列表"
)
_SHOPPING = frozenset({
    "", "groceries", "grocery", "shop", "shop in", "einkauf", "einkaufs", "einkaufsliste",
    "einkaufszettel", "courses", "de courses", "la compra", "de la compra", "compra", "购物",
    "购物单", "买菜",
})  # fmt: skip


class Entry(msgspec.Struct, kw_only=True):
    """An item of a list."""

    text: str
    done: bool = False
    uid: str = ""
    """What Home Assistant knows it by, its text where it has nothing else; empty for what it does
    not know yet."""


class _Item(msgspec.Struct):
    summary: str = ""
    status: str = OPEN
    uid: str = ""


class _Answer(msgspec.Struct):
    items: list[_Item] = []


def key_of(list_name: str) -> str:
    """``the Shopping list`` and ``shopping`` are one list, as are ``to do`` and ``to-do``."""
    name = " ".join(_LIST.sub(" ", list_name.casefold()).split())
    name = re.sub("^(?:too?|two)[ -]?do$", "to-do", name)  # as it is heard
    return SHOPPING if name in _SHOPPING else name


def kept_there(context: ToolContext) -> dict[str, Entity]:
    """The lists of Home Assistant that can be worked, by their keys; the first of each."""
    found: dict[str, Entity] = {}
    for entity in context.home.snapshot().entities:
        features = int(entity.attributes.get("supported_features") or 0)
        if entity.domain == "todo" and features & WORKED == WORKED:
            for name in (entity.name, *entity.aliases):
                found.setdefault(key_of(name), entity)
    return found


async def read(context: ToolContext, place: Entity) -> list[Entry]:
    """What is on a list of Home Assistant.

    Raises:
        HomeError: it does not answer, or not as is known.
    """
    told = await context.home.ask("todo.get_items", place.id, {"status": [OPEN, DONE]})
    try:
        items = msgspec.convert(told, _Answer).items
    except msgspec.ValidationError as error:
        raise HomeError(say(context.language, "not_understood", [place.name])) from error
    return [
        Entry(text=one.summary, done=one.status == DONE, uid=one.uid or one.summary)
        for one in items
    ]


async def write(context: ToolContext, place: Entity, entries: Sequence[Entry]) -> None:
    """Let ``entries`` be what is on a list of Home Assistant, change by change.

    Raises:
        HomeError: a change was not made; those before it were.
    """
    wanted = {entry.uid: entry for entry in entries if entry.uid}
    for entry in await read(context, place):
        kept = wanted.get(entry.uid)
        if kept is None:
            await _call(context, place, "remove_item", item=[entry.uid])
        elif kept.done != entry.done:
            status = DONE if kept.done else OPEN
            await _call(context, place, "update_item", item=entry.uid, status=status)
    for entry in entries:
        if not entry.uid:
            await _call(context, place, "add_item", item=entry.text)


async def _call(context: ToolContext, place: Entity, service: str, **data: Any) -> None:
    result = await context.home.call(f"todo.{service}", [place.id], data)
    if why := result.failed.get(place.id):
        raise HomeError(f"{place.name}: {why}.")
