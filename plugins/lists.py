"""Shopping and to-do lists: "milk and two dozen eggs" is two items.

A list that Home Assistant keeps stays there; the others are the hub's own.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from plugins.api import Plugin, ToolCall, ToolContext, ToolError, ToolResult
from plugins.home_lists import SHOPPING, Entry, kept_there, key_of, read, write
from plugins.note_words import words_of
from plugins.speech import say
from plugins.ticked import ticked_in

plugin = Plugin("lists", sentences="lists.{language}.yaml")

MAXIMUM_ITEMS = 500
_NO_ITEM = re.compile(
    r"(?:and|oh(?: yeah)?|um|uh|er|also|what else|what(?: else)?(?: was|'s) it(?: again| called)?|"
    r"let me (?:see|think)|und|ach(?: ja)?|ähm?|was noch|wie heißt(?:'s| es)? (?:noch|gleich)|"
    r"wart(?:e|en sie)?(?: mal)?|moment(?: mal)?|genau|hm+|(?:lass mich |mal )überlegen|"
    r"was war das(?: noch)?|schade|(?:na )?gut|ok(?:ay)?|right|well|then|dann|那就?|好吧?|"
    r"was (?:war(?:'s| es)?|wollt(?:e ich|en wir)|brauch(?:e ich|en wir)) (?:denn )?noch|"
    r"(?:they|it|there)(?:'\w+)? .*|"
    r"(?:de[nrs]|die|das|da|es) (?:müss|muss|sollt|brauch|hab|hat|ist|sind|war|wär).*|"
    r"y|et|euh|全?都|[那这]个|(?:还有)?(?:啥子?|什么|哪些)[喃呢呀啊]?|(?:叫)?什么来着|.{1,6}的话|还有|然后|嗯|呃|哦|"
    r"[哦啊]?对了?)?",
    re.IGNORECASE,
)
"""What is said between items, and what is nothing."""
_AND = re.compile(
    r"\s*(?:,|;|、|，|\band\b|(?<=\w )an(?= [b-df-hj-np-tv-z])|\bund\b|\bet\b|\by\b|和|还有)\s*",
    re.IGNORECASE,
)
"""What stands between items; "an" before a consonant is an "and" that was heard so."""
_AROUND = re.compile(
    r"^(?:(?:we|i)(?:'ll)? (?:also )?need |(?:wir|ich) brauchen? |so (?:is|are) (?:the )?|"
    r"(?:some|a few|any|more|etwas|noch|halt|eben|mal|doch|点|些)\s*)|"
    r"^(?:(?:ein|eine|einen|den|die|das)\s+(?=[\w-]+$)|kein(?:e|en)?\s+)|"
    r"^(?:(?:du|de la|des)\s+|de l['’])|"
    r"\s+(?:too|as well|auch)$|"
    r"\s+(?:nimm|streich|setz|schreib|pack)e?(?: wieder| bitte| mal| noch)*$|"
    r"(?<=\w),? (?:den|die|das|ihn)$|"
    r"\s+(?:really )?(?:ought to|should|must|needs? to|ha(?:s|ve) to)(?: really)?(?: be| go)?$|"
    r"\s+(?:müssten?|sollten?|muss|müssen)(?: (?:mal|wieder|noch|auch|unbedingt))*$|"
    r"(?<=[一-龥])[又也都]$|"
    r"^(?:麻烦|拜托|请)?[你您]?(?:帮我|帮忙|给我)?[把将]|^(?:家里|咱家|家中)的?(?=.)",
    re.IGNORECASE,
)
"""What an item is not: "so is the butter", "baking powder too", "eine Gurke"; "ein Bund Dill" says
how much."""
_WISH = re.compile(
    r"^(?:那|好|行|嗯|就)[^，,]*[，,](?:那?就|你|请|麻烦)*(?:帮我|给我)?[把将](?=[^，,]+)"
    r"|^(?=dann |then |.+[.,!] )(?:(?:schade|okay|ok|(?:na )?gut|also|oh|right|well|shame|pity)"
    r"[.,!]* )*(?:dann |then )?(?:schreib|setz|pack|tu|nimm|put|add|write|stick|pop)e? "
    r"(?:bitte |noch |please |some )*",
    re.IGNORECASE,
)
"""What stands before the items: 那就火锅，把毛肚和粉丝…, „Schade. Dann schreib …“."""
NO_NAME = frozenset({"neue", "neu", "new", "another", "weitere", "andere", "新", "新的"})
"""What no list is called."""
IN_ONE_WORD = frozenset({"pack", "putz", "merk", "lese", "wunsch", "gäste", "einkaufs"})
"""What is no name of a list in German without the word for it."""
ENDINGS = frozenset({"n", "en", "s", "es", "e"})
"""Endings by which an item and what is said of it may differ."""
SHORTEST_STEM = 3
ONE_THING = ("mac and cheese", "fish and chips", "gin and tonic", "bed and breakfast")

Item = Annotated[str, Meta(min_length=1, max_length=200)]
Asked = Annotated[str, Meta(max_length=200)]
Name = Annotated[str, Meta(max_length=60)]


@plugin.tool(risk="act")
async def add(
    context: ToolContext,
    items: Annotated[list[Item], Meta(min_length=1, max_length=50)],
    list_name: Name = SHOPPING,
) -> ToolResult:
    """Put things on a list.

    items: what to put on it
    list_name: shopping, to-do, or any other
    """
    async with context.storage.alone():
        entries = await _entries(context, list_name)
        wanted = items_of(items)
        if len(entries) + len(wanted) > MAXIMUM_ITEMS:
            raise ToolError(say(context.language, "list_full", value=len(entries)))
        known = {entry.text.casefold() for entry in entries if not entry.done}
        new = [item for item in wanted if item.casefold() not in known]
        entries = [e for e in entries if not e.done or e.text not in wanted]
        await _keep(context, list_name, [*entries, *(Entry(text=item) for item in new)])
    text = _say(context, "added", list_name, wanted)
    together = ", ".join(new)
    undone = len(new) == 1 or (new and split(together) == new)  # as it will be taken apart again
    undo = ToolCall(tool="lists.remove", arguments={"item": together, "list_name": list_name})
    data = {"list": key_of(list_name), "items": wanted}
    return ToolResult(text=text, data=data, undo=undo if undone else None)


@plugin.tool(risk="act")
async def complete(context: ToolContext, item: Item, list_name: Name = SHOPPING) -> ToolResult:
    """Tick things off a list.

    item: what is done or bought
    """
    return await _off(context, item, list_name, forget=False)


@plugin.tool(risk="act")
async def remove(context: ToolContext, item: Item, list_name: Name = SHOPPING) -> ToolResult:
    """Take things off a list.

    item: what to take off
    """
    return await _off(context, item, list_name, forget=True)


@plugin.tool(risk="read")
async def show(context: ToolContext, list_name: Name = SHOPPING, asked: Asked = "") -> ToolResult:
    """Tell what is on a list, or whether one thing is.

    asked: that thing; empty: all of it
    """
    waiting = [entry for entry in await _entries(context, list_name) if not entry.done]
    open_items = [entry.text for entry in waiting]
    asked = "" if _NO_ITEM.fullmatch(asked) else asked  # 清单上有啥
    text = _say(context, "shown" if open_items else "empty", list_name, open_items)
    if asked and open_items:
        there = [entry.text for entry in _meant(waiting, _plain(asked))]
        text = _say(context, "present" if there else "absent", list_name, there or [asked])
    return ToolResult(text=text, data={"list": key_of(list_name), "items": open_items})


@plugin.tool(risk="read")
async def all_(context: ToolContext) -> ToolResult:
    """Tell what is on every list, with what is ticked off."""
    names = {*await context.storage.all(), *kept_there(context)}
    lists = {name: await _entries(context, name) for name in sorted(names)}
    waiting = {name: [e.text for e in entries if not e.done] for name, entries in lists.items()}
    told = [_say(context, "shown", name, items) for name, items in waiting.items() if items]
    text = " ".join(told) or _say(context, "empty", SHOPPING)
    data = [
        {"list": name, "items": msgspec.to_builtins(entries)} for name, entries in lists.items()
    ]
    return ToolResult(text=text, data={"lists": data})


@plugin.tool(risk="read")
async def names(context: ToolContext) -> ToolResult:
    """Tell which lists there are, and how many things are on each."""
    found = {*await context.storage.all(), *kept_there(context)}
    told = []
    for name in sorted(found):
        count = sum(not entry.done for entry in await _entries(context, name))
        told.append(f"{_shown(context, name)} ({count})")
    key = "lists_named" if told else "lists_none"
    text = say(context.language, key, told, count=False)
    return ToolResult(text=text, data={"lists": sorted(found)})


def _has_a_name(arguments: Mapping[str, Any], language: str) -> bool:
    name = key_of(str(arguments["list_name"]))
    return bool(name) and name not in NO_NAME


@plugin.tool(risk="act", fits=_has_a_name)
async def create(context: ToolContext, list_name: Name) -> ToolResult:
    """Begin a list.

    list_name: what it is for, for instance packing
    """
    async with context.storage.alone():
        await _keep(context, list_name, await _entries(context, list_name))
    return ToolResult(text=_say(context, "begun", list_name))


@plugin.tool(risk="dangerous")
async def clear(context: ToolContext, list_name: Name = SHOPPING) -> ToolResult:
    """Delete everything on a list."""
    async with context.storage.alone():
        await _keep(context, list_name, [])
    return ToolResult(text=_say(context, "empty", list_name))


@plugin.understands
async def ticked(context: ToolContext, text: str) -> ToolCall | None:
    """An item that somebody says was got, or done, if it is on a list: "the bread Nan has got"."""
    for said in ticked_in(text, context.language):
        named = []
        for name in sorted({*await context.storage.all(), *kept_there(context)}):
            waiting = [one for one in await _entries(context, name) if not one.done]
            if (name == SHOPPING) == said.bought and _meant(waiting, said.item):
                named.append(name)
        if len(named) == 1:
            arguments = {"item": said.item, "list_name": named[0]}
            return ToolCall(tool="lists.complete", arguments=arguments)
    return None


def split(said: str) -> list[str]:
    """``milk, bread and two dozen eggs`` → the three items; a dish with "and" stays one."""
    if said.casefold().strip() in ONE_THING:
        return [said.strip()]
    items = [item.strip(" .!?。") for item in _AND.split(_WISH.sub("", said))]
    items = [item for item in items if not _NO_ITEM.fullmatch(item)]
    return [_plain(item) for item in items] or [said.strip()]


def items_of(said: Sequence[str]) -> list[str]:
    """The items of all that was said; what is none ("… and they are for the cake") alone is one."""
    items = [item for one in said for item in split(one)]
    return [item for item in items if not _NO_ITEM.fullmatch(item)] or items


def _plain(item: str) -> str:
    return _AROUND.sub("", item) or item


async def _off(context: ToolContext, item: str, list_name: str, *, forget: bool) -> ToolResult:
    async with context.storage.alone():
        entries = await _entries(context, list_name)
        open_ones = [entry for entry in entries if not entry.done]
        found = [one for part in split(item) for one in _meant(open_ones, part)]
        if not found:
            raise ToolError(_say(context, "absent", list_name, [item]))
        if forget:
            entries = [entry for entry in entries if entry not in found]
        for entry in found:
            entry.done = True
        await _keep(context, list_name, entries)
    names = [entry.text for entry in found]
    undo = ToolCall(tool="lists.add", arguments={"items": names, "list_name": list_name})
    text = _say(context, "removed" if forget else "ticked", list_name, names)
    return ToolResult(text=text, data={"list": key_of(list_name), "items": names}, undo=undo)


def _meant(entries: list[Entry], said: str) -> list[Entry]:
    """The entry of that name; else the only one that says more: "eggs" are the two dozen eggs."""
    exact = [entry for entry in entries if entry.text.casefold() == said.casefold()]
    words = words_of(said)
    more = [entry for entry in entries if words and words <= words_of(entry.text)]
    ended = [entry for entry in entries if _differ_in_ending(entry.text, said)]
    return exact or next((found for found in (more, ended) if len(found) == 1), [])


def _differ_in_ending(one: str, other: str) -> bool:
    """Whether one is the other with an ending: "egg" and "eggs", "Eier" and "Eiern"."""
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    return len(short) >= SHORTEST_STEM and long.startswith(short) and long[len(short) :] in ENDINGS


async def _entries(context: ToolContext, list_name: str) -> list[Entry]:
    key = key_of(list_name)
    stored: dict[str, Any] = await context.storage.get(key) or {"items": []}
    own = msgspec.convert(stored["items"], list[Entry])
    if (place := kept_there(context).get(key)) is None:
        return own
    there = await read(context, place)
    if stored["items"]:  # from before Home Assistant kept it: nothing is lost
        known = {entry.text.casefold() for entry in there if not entry.done}
        new = [one for one in own if not one.done and one.text.casefold() not in known]
        await write(context, place, [*there, *new])
        await context.storage.delete(key)
        there = await read(context, place)
    return there


async def _keep(context: ToolContext, list_name: str, entries: list[Entry]) -> None:
    key = key_of(list_name)
    if place := kept_there(context).get(key):
        await write(context, place, entries)
    else:
        await context.storage.put(key, {"items": msgspec.to_builtins(entries)})
    context.emit("list", {"list": key, "items": [e.text for e in entries if not e.done]})


def _say(context: ToolContext, key: str, list_name: str, items: Sequence[str] = ()) -> str:
    shown = _shown(context, key_of(list_name))
    return say(context.language, f"list_{key}", items, shown, count=False)


def _shown(context: ToolContext, name: str) -> str:
    """What a list is called; in German by its name alone, unless that is only part of a word:
    "Skiurlaub", but "Packliste"."""
    if name == SHOPPING:
        return say(context.language, SHOPPING)
    if context.language != "de" or name in kept_there(context):
        return name
    return (f"{name}liste" if name in IN_ONE_WORD else name).capitalize()
