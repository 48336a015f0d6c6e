"""What goes on with the list that was spoken of: "what's left?", "tick it off",
"I meant the Christmas list", "put socks and a towel on it", „Schinken haben wir noch, nimm ihn
runter“, 老抽家里还有，去掉.

Decides and does nothing.

How it is said is in of_lists.yaml; revise.py knows what else goes on it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.listed import ADD, list_call, put_on
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.misread import TAKES_OFF
from hubd.assistant.route import Router
from hubd.assistant.understanding.data_files import first_match, words_beside
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import as_said, plain
from hubd.assistant.understanding.reasons import BREAK
from plugins.api import ToolCall
from plugins.lists import items_of
from plugins.note_words import words_of
from plugins.ticked import ticked_in

_words = partial(words_beside, __file__)

CLEAR, SHOW, TICK, REMOVE = "lists.clear", "lists.show", "lists.complete", "lists.remove"
LISTS = "lists."


def of_lists(text: str, memory: Memory) -> Decision | None:
    """What ``text`` asks for of the list that was spoken of last; ``None`` where it is not about
    that."""
    last, words = _spoken_of(memory)
    if last is None or last.call is None or words is None:
        return None
    whole = plain(text)
    for said in dict.fromkeys((whole, re.sub(f"^{words['opening']}", "", whole))):
        if call := _found(said, text, words, last, shown=memory.told in (last, None)):
            asks = "confirm" if call.tool == CLEAR else None
            return msgspec.structs.replace(continuing(last, call), asks=asks)
    return None


def on_other_list(router: Router, text: str, memory: Memory) -> list[tuple[str, Decision]]:
    """The items that were put on a list last off it and on the one that was meant, or as many of
    the only one as are wanted, or others on a list that is only pointed at, or off it again; each
    with the words for it, and empty where it is none of these."""
    last, words = _spoken_of(memory)
    if last is None or last.call is None or words is None:
        return []
    if further := _pointed_at(router, text, words, last, sure=memory.told in (last, None)):
        return [(text, further)]
    if got := _got(router, text, last, memory) or _ticked_for(router, text, words, last, memory):
        return [(text, got)]
    if off_again := _off_again(router, text, words, last, memory):
        return [(text, off_again)]
    if there_is := _there_is_some(router, text, words, last, memory):
        return [(text, there_is)]
    if last is not memory.last or last.tool != ADD:
        return []
    said = re.sub(f"^{words['opening']}", "", plain(text))
    items, which = _items(last), _list(last)
    off: dict[str, object] = {"item": ", ".join(items), **which}
    on: dict[str, object] = {}
    if (meant := first_match(said, words["meant"])) and meant["list"] != which.get("list_name"):
        on = {"items": items, "list_name": meant["list"]}
    elif len(items) == 1 and (many := re.fullmatch(words["many"], said)):
        counted = words["counted"]["with" if many["unit"] else "without"]
        on = {"items": [counted.format(item=items[0], **many.groupdict())], **which}
    if not on:
        return []
    calls = (ToolCall(tool=REMOVE, arguments=off), ToolCall(tool=ADD, arguments=on))
    return [(text, continuing(last, call)) for call in calls]


def _pointed_at(
    router: Router, text: str, words: Mapping[str, Any], last: Decision, *, sure: bool
) -> Decision | None:
    """What goes on the list that was spoken of, or on the usual one: "jam on the normal one".

    sure: nothing else was spoken of since
    """
    said, known = text.casefold().strip(" .!?。！？"), lexicon(last.language)
    said = re.sub(f"^{words['opening']}", "", said)
    for name, which in (("there", _list(last)), ("usual", {})):
        found = first_match(said, words[name])
        items = next(filter(None, found.groups())) if found else ""
        no_item = re.fullmatch(words["pronoun"], items) or TAKES_OFF.match(items)
        if items and not no_item and not known.negates(items):
            return put_on(router, last, as_said(text, items), which, pointed=sure)
    return None


def _off_again(
    router: Router, text: str, words: Mapping[str, Any], last: Decision, memory: Memory
) -> Decision | None:
    """What is taken off again, with a reason beside it: "take the milk off, there's some left",
    „Schinken haben wir noch, nimm ihn runter“; it is declined where the reason may be of another
    item than "it"."""
    pieces = [re.sub(f"^{words['opening']}", "", plain(one)) for one in BREAK.split(text)]
    pieces = [one for one in pieces if one]
    for at, piece in enumerate(pieces):
        others = pieces[:at] + pieces[at + 1 :]
        if any(re.fullmatch(words["more"], one) for one in others):
            continue
        if re.fullmatch(words["off"].replace("{it}", f"(?:{words['it']})"), piece):
            if others:
                return _off_for(router, text, others, words, last, memory)
            continue
        found = first_match(piece, words["off_named"])
        if found and not re.fullmatch(words["pronoun"], found["item"]):
            return _off(router, text, found["item"], words, last, memory)
        found = first_match(piece, words["needless"])
        if found and (just := _put_there(found["item"], memory)):
            return _off(router, text, found["item"], words, just, memory)
    return None


def _off_for(
    router: Router,
    text: str,
    reasons: Sequence[str],
    words: Mapping[str, Any],
    last: Decision,
    memory: Memory,
) -> Decision | None:
    """What "it" is in "take it off", by what is said of it: "we've still got flour", "we don't need
    the charger after all"; what is named counts before what was spoken of."""
    for reason in reasons:
        found = first_match(reason, words["needless"]) or first_match(reason, words["has"])
        item = next(filter(None, found.groups()), "") if found else ""
        if item and not re.fullmatch(words["pronoun"], item):
            return _off(router, text, item, words, last, memory) or _declined(last)
        if named := _put_and_named(reason, memory):
            only = _off(router, text, named[0], words, last, memory) if len(named) == 1 else None
            return only or _declined(last)
        of_it = any(re.fullmatch(words["pronoun"], one) for one in reason.split())
        if not of_it and not re.fullmatch(words["why"], reason):
            return _declined(last)
    return None


def _got(router: Router, text: str, last: Decision, memory: Memory) -> Decision | None:
    """What was put on a list a moment ago ticked off, where somebody says that it was got or is
    done: "Nan has the candles already bought", 腊肉奶奶买好了."""
    known = lexicon(last.language)
    for one in ticked_in(text, last.language):
        there = _put_there(one.item, memory)
        if there and (one.bought or _list(there)):  # flour that is finished is used up
            item = as_said(text, one.item)
            return list_call(
                router, there, TICK, {"item": item, **_list(there)}, item, known, there=True
            )
    return None


def _ticked_for(
    router: Router, text: str, words: Mapping[str, Any], last: Decision, memory: Memory
) -> Decision | None:
    """What is ticked off with what is said of it beside: "I've got the scarf, tick it off" is of
    the scarf, whatever was put on the list after it."""
    ticks, known = words["ticked"].replace("{it}", f"(?:{words['it']})"), lexicon(last.language)
    pieces = [re.sub(f"^{words['opening']}", "", plain(one)) for one in BREAK.split(text)]
    reasons = [one for one in pieces if one and not re.fullmatch(ticks, one)]
    if len(reasons) != 1 or len(reasons) == len(pieces):
        return None
    for one in ticked_in(reasons[0], last.language):
        if not re.fullmatch(words["pronoun"], one.item):
            there, item = _put_there(one.item, memory), as_said(text, one.item)
            call = {"item": item, **_list(there or last)}
            return list_call(router, there or last, TICK, call, item, known, there=bool(there))
    return None


def _there_is_some(
    router: Router, text: str, words: Mapping[str, Any], last: Decision, memory: Memory
) -> Decision | None:
    """The question whether to take off what was put on a list just now, where somebody only says
    that there is some: „Schrauben hab ich noch im Keller gefunden“."""
    said = re.sub(f"^{words['opening']}", "", plain(text))
    found = first_match(said, words["at_home"])
    if (
        found is None
        or text.rstrip().endswith(("?", "？"))
        or not _put_there(found["item"], memory)
    ):
        return None
    off = _off(router, text, found["item"], words, last, memory)
    return msgspec.structs.replace(off, asks="confirm", proposed=True) if off else None


def _declined(last: Decision) -> Decision:
    """That it is not known what "it" is."""
    return Decision(route="words", language=last.language, declined="declined")


def _put_and_named(said: str, memory: Memory) -> list[str]:
    """The items that were put on lists a moment ago and are named in ``said``."""
    put = dict.fromkeys(item for one in memory.put_on for item in _items(one))
    said_words = words_of(said)
    return [one for one in put if words_of(one) and words_of(one) <= said_words]


def _off(
    router: Router,
    text: str,
    item: str,
    words: Mapping[str, Any],
    last: Decision,
    memory: Memory,
) -> Decision | None:
    """That an item goes off the list it was put on, else off the one that was spoken of."""
    there, known = _put_there(item, memory), lexicon(last.language)
    if re.fullmatch(words["pronoun"], item) or (there is None and known.subjects(item)):
        return None  # „den Timer kannst du löschen“
    of, said = there or last, as_said(text, item)
    call = {"item": said, **_list(of)}
    return list_call(router, of, REMOVE, call, said, known, there=there is not None)


def _put_there(item: str, memory: Memory) -> Decision | None:
    """What put an item on a list a moment ago."""
    named = words_of(item)
    put = (one for one in memory.put_on if any(named <= words_of(on) for on in _items(one)))
    return next(put, None) if named else None


def _spoken_of(memory: Memory) -> tuple[Decision | None, Mapping[str, Any] | None]:
    """What was done with a list or told of one last, and the words of its language."""
    for spoken in (memory.told, memory.last):
        if spoken is not None and (spoken.tool or "").startswith(LISTS):
            return spoken, _words().get(spoken.language)
    return None, None


def _found(
    said: str, text: str, words: Mapping[str, Any], last: Decision, *, shown: bool
) -> ToolCall | None:
    which, items = _list(last), _items(last)
    if first_match(said, words["cleared"]):
        return ToolCall(tool=CLEAR, arguments=which)
    if first_match(said, words["shown_there"]) or (shown and first_match(said, words["shown"])):
        return ToolCall(tool=SHOW, arguments=which)
    if on := first_match(said, words["is_on"]):
        return ToolCall(tool=SHOW, arguments={**which, "asked": as_said(text, on["item"])})
    for name, tool in (("ticked", TICK), ("off", REMOVE)):
        pattern = words[name].replace("{it}", f"(?:{words['it']})")
        if items and any(re.fullmatch(pattern, one) for one in (said, _first(text, last))):
            return ToolCall(tool=tool, arguments={"item": ", ".join(items), **which})
    return None


def _first(text: str, last: Decision) -> str:
    """The first clause alone, in plain form, where what follows may be why: "tick it off, there's
    one in the shed"; empty where that says "not" or puts something right."""
    first, *rest = re.split(r"[,;，；]", text, maxsplit=1)
    known = lexicon(last.language)
    limits = any(known.negates(one) or known.corrected(one) for one in rest)
    return "" if limits or not rest else plain(first)


def _list(last: Decision) -> dict[str, object]:
    """Which list it is, where it is not the one for shopping."""
    given = last.call.arguments if last.call else {}
    return {"list_name": given["list_name"]} if given.get("list_name") else {}


def _items(last: Decision) -> list[str]:
    """The items that were put on it, taken off or asked for."""
    given = last.call.arguments if last.call else {}
    if given.get("items"):
        return items_of([str(one) for one in given["items"]])
    one = given.get("item") or given.get("asked")
    return [str(one)] if one else []
