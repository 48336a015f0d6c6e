"""What goes on a list, or off it again, after something of one: "and butter", 还有面包.

Decides and does nothing.
"""

import re
from collections.abc import Mapping
from datetime import date

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.set_for_a_time import (
    continuing,
)
from hubd.assistant.route import Router
from hubd.assistant.understanding.bought import is_bought
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.mentions import mentions
from hubd.assistant.understanding.plain import as_said, plain
from hubd.assistant.understanding.values import NEVER
from plugins.api import ToolCall
from plugins.days import span_of
from plugins.lists import items_of
from plugins.numbers import digits

ADD = "lists.add"
CREATE = "lists.create"
OF_A_LIST = frozenset({ADD, CREATE, "lists.show", "lists.remove", "lists.complete"})
OFF = frozenset({"lists.remove", "lists.complete"})
LONGEST_ITEM = 40
"""Characters; more is a sentence and no item of a list."""
_FURTHER = {
    "en": r"(?:and|also|plus|oh and|and also|add)\s+"
    r"(?:(?:throw|chuck|pop|stick|put|bung) (?:in|on|down) )?(?:some |the |a |an )?",
    "de": r"(?:und(?: auch| noch)?|auch(?: noch)?|noch)\s+",
    "zh": r"(?:[哦噢啊哎欸嗯]|对了)*(?:还有|还要(?![往给把去到跟])|再加(?:上)?|再来|另外|加上)",
    "fr": r"(?:et|aussi|ajoute)\s+",
    "es": r"(?:y|también|añade)\s+",
}
_AS_WELL = {
    "en": r"(?:,? (?:too|as well|also|please|actually|while you're at it))+$",
    "de": r"(?: (?:auch|noch|bitte|dazu|mit|drauf|fehl(?:t|en)|br(?:auchen|äuchten) wir))+$",
    "zh": r"(?:也要|也加上|吧|呢)+$",
}
"""What is said behind an item that goes on a list too, and is no part of it."""
_PUT_ON = {
    "en": r"(?:add|put) (?:some |the |a |an )?(?P<a>.+?)"
    r"(?: (?:to|on) it| on instead| instead| on| as well| too| please)*",
    "de": r"(?:füge?|nimm|setze?|schreibe?|packe?) (?:bitte |noch |dafür |stattdessen )*"
    r"(?P<a>.+?) (?:noch |dafür |stattdessen )?(?:hinzu|dazu|(?:mit )?drauf)|"
    r"(?P<b>.+?) (?:noch |wieder |mit )*(?:drauf|dazu)",
    "zh": r"(?:再|也|还)?(?:加上|添上|加|添)(?P<a>.+?)(?:吧|进去)?|"
    r"把?(?P<b>[^,，]+?)(?:也|再|还要|要)?(?:加上|加进去|添上|加一下|补上)(?:吧)?",
    "fr": r"(?:r?ajoute|mets)(?:[- ]y)? (?:aussi |encore )?"
    r"(?:du |de la |des |de l'|une? |le |la |les )?(?P<a>.+?)(?: aussi)?",
    "es": r"(?:añade|agrega|apunta|pon) (?:también )?(?:el |la |los |las |un |una )?(?P<a>.+?)"
    r"(?: también)?",
}
"""What goes on a list of which something was told before."""
_OPENED = re.compile(
    r"^(?:(?:dann|ok(?:ay)?|gut|na gut|also|schade|ach(?: ja| so)?|oh(?: yeah| yes)?|ah|hm+|ähm?|"
    r"um|erm?|stimmt|genau|warte|moment|wait|actually|right|well|then|so|那就|那|好吧?|[哦啊嗯呃哎]|对了)"
    r"[,，.…]+ ?)+"
    r"|^(?:dann |then |(?:ach|oh|ah|ähm?|um) (?:ja )?(?=(?:und|and|noch|also|plus)\b)"
    r"|那就|那(?=[再把加去]))",
    re.IGNORECASE,
)
"""What opens a sentence and says nothing."""
_UNLESS = {
    "en": r",? (?:but )?(?:only )?if (?:it's|it is|they're|they are) not (?:already )?"
    r"(?:on (?:it|there)|there)(?: already| yet)?$",
    "de": r",? (?:aber )?(?:nur )?(?:wenn|falls|sofern) (?:\w+ )?noch nicht (?:drauf|darauf)"
    r"(?: ist| sind| steht| stehen)?$",
    "zh": r"[，,]?(?:如果|要是)?(?:上面)?还没有?(?:的话)?$",
}
"""What need not be said: nothing is on a list twice."""
LASTS = re.compile(
    r"(?:\d+|an?|half an|eine?|une|un|una|半|一)个? ?"
    r"(?:sec|min|hour|sek|stund|heure|hora|seg|秒|分|小时)\S*(?: (?:de plus|más))?"
)
_OFF = {
    "en": r"(?:take|cross|strike) (?:the )?(?P<a>.+?) off(?: again)?|"
    r"(?:remove|delete|scratch) (?:the )?(?P<b>.+)|(?:take|cross|strike) off (?:the )?(?P<c>.+)",
    "de": r"(?:nimm|streiche?) (?:die |den |das )?(?P<a>.+?)(?: wieder)?(?: runter| weg| raus)?|"
    r"tu (?:die |den |das )?(?P<c>.+?)(?: wieder)? (?:runter|weg|raus)|"
    r"(?:die |den |das )?(?P<b>.+?) kannst du (?:wieder )?(?:streichen|runternehmen)",
    "zh": r"把?(?P<a>[^,，]+?)(?:去掉|删掉|划掉|拿掉|不要了)|(?:去掉|删掉|划掉|不要)(?P<b>[^,，]+)",
    "fr": r"(?:enlève|retire|supprime|raye) (?:aussi )?"
    r"(?:le |la |les |l'|du |de la |des )?(?P<a>.+)",
    "es": r"(?:quita|borra|elimina|tacha) (?:también )?(?:el |la |los |las )?(?P<a>.+)",
}
_TOO = {
    "en": r"so (?:is|are) (?:the |our )?(?P<a>.+)|"
    r"(?:the |some )?(?P<b>.+?)(?: (?:is|are))?(?: (?:all )?gone)? (?:too|as well|also)",
    "de": r"(?:der |die |das )?(?P<a>.+?)(?: (?:ist|sind|brauchen wir))? auch"
    r"(?: noch| schon)?(?: alle| aus| leer)?",
    "zh": r"(?P<a>.+?)也(?:是|一样|要|(?:没有?|快没|用完|吃完|喝完|见底)了)?",
}
"""What is said of a second item once the first is on the list: "and baking powder too"."""
_AND = re.compile(
    r"(?:\blist|liste|zettel)(?:[, ]+(?:oh|ah|ach|um|uh|er|ähm?|hm))*"
    r"[, ]+(?:and|und|plus|sowie)\b.{0,40}$"
    r"|清单.{0,3}?[吧呀啊嘛]?[, ]*$"
)
"""What says that another item comes: "on the list, and, what was it, …"."""
_OTHER = re.compile(r"(?:(?:die|der|das|den|the) )?(?:andere[nrs]?|other(?: one)?s?)|另一?个|别的")
"""What only points at another one."""
_NAMES_A_LIST = re.compile(r"\blist\b|liste\b|zettel\b|清单", re.IGNORECASE)
_TASK = {
    "en": r"^(?:change|fix|mend|repair|clean|wash|paint|replace|order|return|sort|oil|buy)\b",
    "de": r"(?:wechseln|reparieren|putzen|waschen|streichen|tauschen|bestellen|aufräumen|ölen)$",
    "zh": "^[换修擦洗装收打整交还取送订漆]",
}
"""What is to be done with a thing of the house, on a list of tasks: "change the bulb"."""
_FOR_WHOM = re.compile(
    r" (?:for|für) (?:the |my |our |den |die |das |meine[nr]? )?\w+$|^给[^的]{1,4}的(?=.)",
    re.IGNORECASE,
)
"""Whom an item is for, who may have a room or a thing here: "a scarf for Ann"."""
_ADDED_TO = re.compile(
    r"\b(?:to|into) (?:the|my|our|your|this|that)\b|"
    r"\b(?:in|an) (?:den|die|das|meine[nr]?|unsere[nr]?) \w|\bins \w",
    re.IGNORECASE,
)
"""What is done with an item and not bought: "salt to the soup"."""
MOST_ITEM_WORDS = 3


def listed(router: Router, text: str, last: Decision) -> Decision | None:
    """What else goes on the list, or off it again."""
    assert last.call is not None
    known = lexicon(last.language)
    text = re.sub(_UNLESS.get(last.language, NEVER), "", text.strip(" .!。！"), flags=re.IGNORECASE)
    text = _OPENED.sub("", text)
    said = plain(text)
    name = {k: v for k, v in last.call.arguments.items() if k == "list_name"}
    if off := re.fullmatch(_OFF.get(last.language, r"(?!)"), said):
        item = as_said(text, next(value for value in off.groupdict().values() if value))
        return list_call(router, last, "lists.remove", {"item": item, **name}, item, known)
    on = re.compile(_PUT_ON.get(last.language, r"(?!)"), re.IGNORECASE)
    if found := on.fullmatch(text.strip(" .!。！,，")):
        return put_on(router, last, next(filter(None, found.groupdict().values())), name)
    too = re.fullmatch(_TOO.get(last.language, NEVER), said)
    if last.tool in OFF and too:
        item = as_said(text, next(filter(None, too.groupdict().values())))
        return list_call(router, last, last.tool, {"item": item, **name}, item, known)
    if last.tool not in (ADD, CREATE):
        return None
    further = re.match(_FURTHER.get(last.language, r"(?!)"), said)
    said = re.sub(_AS_WELL.get(last.language, NEVER), "", said[further.end() :]) if further else ""
    item = as_said(text, said)
    if not item and too:
        item = as_said(text, next(filter(None, too.groupdict().values())))
    return put_on(router, last, item, name)


def put_on(
    router: Router, last: Decision, said: str, which: Mapping[str, object], *, pointed: bool = False
) -> Decision | None:
    """What puts all that ``said`` counts on a list; ``None`` where something of it is no item.

    which: the name of the list, if it has one
    pointed: whether it is said that it goes on "it": then it may be called as a thing of the house
    """
    items, known = items_of([said]), lexicon(last.language)
    if not which and any(map(_ADDED_TO.search, items)):
        return None
    call = ToolCall(tool=ADD, arguments={"items": items, **which})
    fits = all(
        _may_be(one, known, pointed=pointed) and (pointed or not _of_house(router, one, last, call))
        for one in items
    )
    return continuing(last, call) if items and fits and router.knows(ADD) else None


def also_listed(router: Router, text: str, last: Decision, said: str) -> Decision | None:
    """What goes on the list as well, where ``last`` put something there in the same sentence.

    said: what was said before ``text``
    """
    if last.call is None or last.tool not in OF_A_LIST:
        return None
    if last.tool != ADD:
        put_on = re.fullmatch(_PUT_ON.get(last.language, NEVER), plain(text))
        return listed(router, text, last) if put_on else None
    too = re.fullmatch(_TOO.get(last.language, r"(?!)"), plain(text))
    item = re.sub("^[哦噢啊哎欸嗯]*还(?:有|要)", "", text)
    if too is not None:
        item = as_said(text, next(value for value in too.groupdict().values() if value))
    elif not _AND.search(plain(said)) or not is_item(text, lexicon(last.language)):
        return None
    name = {k: v for k, v in last.call.arguments.items() if k == "list_name"}
    arguments = {"items": [item], **name}
    return list_call(router, last, ADD, arguments, item, lexicon(last.language))


def is_item(text: str, known: Lexicon) -> bool:
    """Whether ``text`` may be what is bought: a few words that are no clause."""
    few = len(text.split()) <= MOST_ITEM_WORDS
    if not known.spaces and re.search("[了,，]", text):
        return False  # 洗了，取消 is no item
    return few and not (known.is_clause(known.stripped(text)) or known.remarks(text))


def list_call(
    router: Router,
    last: Decision,
    tool: str,
    arguments: dict[str, object],
    item: str,
    known: Lexicon,
    *,
    there: bool = False,
) -> Decision | None:
    """The call, unless the item is none: a command, a question, or something of the house.

    there: whether it was put on a list a moment ago, so that it may be called as such a thing
    """
    call = ToolCall(tool=tool, arguments=arguments)
    if not _may_be(item, known, pointed=there) or not router.knows(tool):
        return None
    return continuing(last, call) if there or not _of_house(router, item, last, call) else None


def _of_house(router: Router, item: str, last: Decision, call: ToolCall) -> bool:
    """Whether ``item`` is a thing of the house, and neither bought nor worked on."""
    known = lexicon(last.language)
    thing = _FOR_WHOM.sub("", item)
    spoken = mentions(thing, known, router.phrases(last.language))
    if not (spoken.names or spoken.areas or spoken.nouns or spoken.colors):
        return False
    of_task = "list_name" in call.arguments and re.search(
        _TASK.get(last.language, NEVER), item, re.I
    )
    return not of_task and not is_bought(plain(item), last.language)


def _may_be(item: str, known: Lexicon, *, pointed: bool = False) -> bool:
    """Whether ``item`` is none of what never is one: a command, a question, a day, a while, or a
    list, which is decided on by itself ("take the eggs off the list").

    pointed: whether it is said that it goes on "it": a book is no order then, and a towel no fluff
    """
    if not 0 < len(item) <= LONGEST_ITEM or _NAMES_A_LIST.search(item):
        return False
    if _OTHER.fullmatch(plain(item)):
        return False  # „ach nee, die andere“
    if known.wonders(item) or known.inquires_first(item) or (not pointed and known.keeps(item)):
        return False
    word = pointed and known.spaces and " " not in item
    if not word and (known.commands(item) or known.is_clause(item)):
        return False  # "put it on" is of a thing
    if span_of(item, known.language, date(2026, 1, 1)) is not None:
        return False  # "and on Saturday" is a question
    return LASTS.fullmatch(digits(plain(item), known.language)) is None  # of a timer
