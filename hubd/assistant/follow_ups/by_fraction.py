"""How far or how bright in parts of the whole: "not that far, just halfway", „aber nur zehn
Prozent“, 开一半就好, 留条缝.

Of what was worked last, where it has a position or a level; decides and does nothing. How it is
said is in by_fraction.yaml.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.compose import A_BIT, SIMPLE, VALUED, is_awning
from hubd.assistant.understanding.data_files import words_beside
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Snapshot
from plugins.numbers import digits

_words = partial(words_beside, __file__)

COVER, LIGHT, FAN = "cover", "light", "fan"
OF_PARTS = frozenset({COVER, LIGHT, FAN})
OF_PERCENT = OF_PARTS | {"media_player", "valve"}
HALF, WHOLE = 50, 100
CLOSED = "home.close"
MOVED = frozenset({CLOSED, "home.open"})
AT_THE_END = {0: "close", WHOLE: "open"}
"""What a cover does that shall be so far open."""


def by_fraction(text: str, last: Decision, home: Snapshot) -> Decision | None:
    """What was worked last, set to a part of the whole; ``None`` where ``text`` says none. How far
    a cover is closed is the other part of how far it is open."""
    domains = {entity.partition(".")[0] for entity in last.entities}
    words = _words().get(last.language)
    if (
        words is None
        or last.call is None
        or len(domains) != 1
        or text.rstrip().endswith(("?", "？"))
    ):
        return None
    domain = domains.pop()
    things_worked = [one for one in home.entities if one.id in last.entities]
    forms = _Forms(words, last.tool or "", awning=is_awning(things_worked))
    percent = _percent(text, forms, domain, last.language)
    if percent is None:
        return None
    things = list(last.entities)
    tool, argument, _ = VALUED[domain]
    arguments: dict[str, object] = {argument: percent, "entities": things}
    if domain == COVER and percent in AT_THE_END:
        tool, arguments = SIMPLE[AT_THE_END[percent], COVER], {"entities": things}
    call = msgspec.structs.replace(last.call, tool=tool, arguments=arguments)
    return msgspec.structs.replace(continuing(last, call), entities=things)


def _percent(text: str, forms: "_Forms", domain: str, language: str) -> int | None:
    """How much of the whole it shall be; ``None`` where that is not said, or something else is."""
    words, known = forms.words, lexicon(language)
    said = digits(plain(text), language)
    rest = " ".join(re.sub(words["beside"], " ", said).split())
    rest = rest if known.spaces else re.sub("[ ,，]", "", rest)
    if domain == COVER:
        if (exact := forms.left_open(rest, said)) is not None:
            return exact
        if (found := forms.found(words["gaps"], rest)) is not None:
            return None if re.fullmatch(words["closed"], way_of(found)) else A_BIT
        limited = re.search(words["kept"], said) is not None
        if limited and (found := forms.found(words["bits"], rest)) is not None:
            return forms.counted(A_BIT, found)
    for form, part in words["parts"].items() if domain in OF_PARTS else ():
        if (found := forms.found(form, rest)) is not None:
            if domain == COVER:
                return forms.counted(int(part), found)
            return None if way_of(found) or int(part) == WHOLE else int(part)
    found = forms.found(words["percent"], rest) if domain in OF_PERCENT else None
    if found is None or found["before"] or (way_of(found) != "") != (domain == COVER):
        return None  # "down to thirty percent" says where it goes
    percent = int(next(filter(None, found.groups()[1:-1])))
    if percent > WHOLE:
        return None
    return forms.counted(percent, found) if domain == COVER else percent


class _Forms(NamedTuple):
    """How parts are said of what was worked last."""

    words: Mapping[str, Any]
    tool: str
    """With which it was worked."""
    awning: bool
    """Whether it goes out and in, as no other cover does."""

    def found(self, form: str, rest: str) -> re.Match[str] | None:
        """``rest`` as a part, with which way it is counted before or behind it."""
        way, verbs = f"{self.words['open']}|{self.words['closed']}", self.words["verbs"]
        return re.fullmatch(
            rf"(?:(?:{verbs}) ?)*(?:(?P<before>{way}) ?)?(?:(?:{verbs}) ?)*(?:{form})"
            rf"(?: ?(?P<behind>{way}))?(?: ?(?:{verbs}))*",
            rest,
        )

    def left_open(self, rest: str, said: str) -> int | None:
        """How many percent are left open, where that is also said loosely ("just a crack, like ten
        percent"), or of what was closed; ``None`` where no number says it."""
        words = self.words
        loosely = re.search(f"{words['gaps']}|{words['bits']}", rest)
        left = self.tool == CLOSED and re.search(words["left"], said)
        if re.search(words["percent"], rest) is None or not (loosely or left):
            return None
        exact = rest.replace(loosely[0], " ") if loosely else rest
        found = self.found(words["percent"], " ".join(exact.split()))
        if found is None or re.fullmatch(words["closed"], way_of(found)):
            return None
        percent = int(next(filter(None, found.groups()[1:-1])))
        return percent if percent <= WHOLE else None

    def counted(self, part: int, found: re.Match[str]) -> int | None:
        """How far it is open then; where that is not said, it is a part of the way that it went
        last."""
        way = way_of(found)
        if not way and part != HALF and (part == WHOLE or self.tool not in MOVED):
            return None
        of_it = self.words["extended" if self.awning else "in_and_out"]
        if way and (re.fullmatch(of_it, way) is not None) != self.awning:
            return None
        closed = re.fullmatch(self.words["closed"], way) if way else self.tool == CLOSED
        return WHOLE - part if closed else part


def way_of(found: re.Match[str]) -> str:
    """What says whether a part is open or closed; empty where nothing does."""
    return found["behind"] or found["before"] or ""
