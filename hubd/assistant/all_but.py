"""All but some, or only some: "all the lights off but the hallway", "除了走廊都关掉", "the kitchen
lights on, but only the worktop one", "leave the hall light on and turn off the rest". Decides and
does nothing.

What is to be spared must be named, and be among what would be worked otherwise; else nothing is
done. What is left after the exception is taken out is decided on as if it had been said alone.
"""

import re
from collections.abc import Callable

import msgspec

from hubd.assistant.decision import NOT_THAT, Decision
from hubd.assistant.route import Router
from hubd.assistant.understanding.grammar import MAXIMUM_UTTERANCE
from hubd.assistant.understanding.left_on import left_beside, left_on
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.values import NEVER
from hubd.home.model import Entity, Snapshot
from plugins.api import ToolCall

_BUT = {
    "en": r",? ?\b(?:except(?:ing)?(?: for)?|apart from|other than|excluding|save for|"
    r"but(?: not)?(?! (?:only|just|(?:would|could|can|will) you)\b)|"
    r"with the exception of)\b",
    "de": r",? ?\b(?:außer|ausser|ausgenommen|abgesehen von|bis auf|mit ausnahme (?:von|der|des)|"
    r"(?:aber|nur|bloß) nicht|nicht aber)\b",
    "zh": r"除了?",
    "fr": r",? ?\b(?:sauf|excepté|à part|hormis|mais pas)\b",
    "es": r",? ?\b(?:excepto|salvo|menos|aparte de|pero no)\b",
}
_ONLY = {
    "en": r",? ?\b(?:but|though) (?:only|just)\b",
    "de": r",? ?\b(?:aber|doch) (?:nur|bloß)\b",
    "fr": r",? ?\bmais (?:seulement|uniquement)\b",
    "es": r",? ?\bpero (?:solo|sólo|solamente)\b",
}
_NOT = {
    "en": r",? (?:and |but )?not (?=the\b|my\b|our\b|that\b|those\b|\w+'s\b)",
    "de": r",? (?:und |aber )?nicht (?=de[nmr]\b|die\b|das\b|im\b|mein|unser)",
    "zh": r"[，,]\s*(?:不是|(?:别|不要|不用)(?:打?开|关(?:掉)?|动|碰)?)(?![，,])",
}
"""What is not meant beside what is: "the ceiling lamp, not the floor lamp"."""
_POINTING = re.compile(
    r"\bnot (?:that|those)(?: \w+)?,|\bnicht (?:de[nmr]|die|das)(?: da)?,", re.IGNORECASE
)
"""What only points at what was named, where what is meant follows: "no, not those, the blind"."""
_PLAINLY = re.compile(
    r"^(?:(?:the|my|our|that|those|den|die|das|dem|der|mein\w*|le|la|les|celle|celui|el|los|las)\b|l')"
    r"(?! ?(?:week-?ends?|fin(?:es)? de semana)\b)"
)
"""How what is spared begins, where "all" is said before; all days but the weekend are days."""
_THE_OTHERS = re.compile(
    r"^(?:以外|之外|外)?(?:的)?[，, ]*(?:其他的?|其它的?|别的|剩下的|其余的?)?"
)
_THE_ONES = re.compile(
    r"^(?:(?:the )?ones? (?:in|on|at|of)|(?:celles?|celui|ceux) (?:du|(?:de|dans)(?: la| le)?)|"
    r"(?:la|las|el|los) (?:del|(?:de|en)(?: la| el)?)) (?:l')?"
)
_THE_X_ONE = re.compile(r"(?:the|my|our) (?P<which>\w+(?: \w+)?) ones?\b")
_ONES = re.compile(r"\b(?:ones?|in|on|at|the one in|die|der|das|dem|den|im|in der|vom)$")
_LONGEST = 6
"""Words, or twice as many Chinese characters, of what is spared."""

Mentioned = Callable[[str], Mentions]
Decide = Callable[[str], Decision]


def decided(router: Router, text: str, language: str, area: str) -> Decision:
    """The router's decision on ``text``, less what it excepts."""

    def decide(rest: str) -> Decision:
        return router.route(rest, language=language, area=area)

    def mentioned(part: str) -> Mentions:
        return router.mentions(part, language)

    if len(text) > MAXIMUM_UTTERANCE or language not in _BUT:
        return decide(text)
    known, snapshot = lexicon(language), router.snapshot()
    others = _others_off(text, known, snapshot, area, mentioned, decide)
    others = others or _beside_what_stays(text, known, snapshot, mentioned, decide)
    others = others or _not_that(text, known, snapshot, mentioned, decide)
    return others or _sparing(text, known, snapshot, mentioned, decide) or decide(text)


def _sparing(
    text: str, known: Lexicon, snapshot: Snapshot, mentioned: Mentioned, decide: Decide
) -> Decision | None:
    """The decision on ``text`` without what it excepts; ``None`` where it excepts nothing."""
    said = known.fixed(plain(text))
    for only in re.finditer(_ONLY.get(known.language, NEVER), said):
        before, after = said[: only.start()], said[only.end() :].strip(" ,")
        if taken := _named(after, before, known, mentioned):
            return _just(decide(before), _spared(mentioned(taken[0]), snapshot), taken[0])
        if _PLAINLY.match(after):
            return _unclear(f"only {after}", known.language)
    for but in re.finditer(_BUT[known.language], said):
        before, after = said[: but.start()], said[but.end() :].strip(" ,，")
        if known.commands(known.stripped(after)) and not mentioned(before).actions:
            continue  # "not freezing, but put the heating on" spares nothing
        taken = _named(after, before, known, mentioned)
        if taken is None:
            if mentioned(before).everything and _PLAINLY.match(after):
                return _unclear(f"all but {after}", known.language)
            continue
        spared, rest = taken
        if not known.spaces:
            rest = _all_others(rest)
        whole = decide(plain(f"{before} {rest}" if known.spaces else f"{before}{rest}"))
        return _without(whole, _spared(mentioned(spared), snapshot), spared)
    return None


def _not_that(
    text: str, known: Lexicon, snapshot: Snapshot, mentioned: Mentioned, decide: Decide
) -> Decision | None:
    """The decision on what ``text`` names before it says of what it is not meant; ``None`` where it
    says nothing of that kind, or the command alone is not plain."""
    if _POINTING.search(text):
        return None
    said = known.fixed(plain(text)).strip(" ,，")
    parted = re.search(_NOT.get(known.language, NEVER), said)
    taken = _named(said[parted.end() :], "", known, mentioned) if parted else None
    if parted is None or taken is None or taken[1]:
        return None
    whole = decide(said[: parted.start()])
    if whole.call is None or not whole.entities or whole.asks in ("which", "missing"):
        return None
    spared, wanted = _spared(mentioned(taken[0]), snapshot), set(whole.entities)
    if any(ids & wanted for ids in spared):
        return _without(whole, spared, taken[0])
    return msgspec.structs.replace(whole, reason=f"{whole.reason}{NOT_THAT}")


def _others_off(
    text: str, known: Lexicon, snapshot: Snapshot, area: str, mentioned: Mentioned, decide: Decide
) -> Decision | None:
    """All other lights off: those of the room where it is said if the light that stays on is there,
    else those of the house. ``None`` where no light stays on."""
    stays = left_on(known.stripped(text).strip(" ,，"), known.language)
    taken = _named(stays[0], "", known, mentioned) if stays else None
    if stays is None or taken is None or taken[1]:
        return None
    spared = _spared(mentioned(taken[0]), snapshot)
    lights = {entity.id: entity.area for entity in snapshot.entities if entity.domain == "light"}
    if not all(ids and ids <= lights.keys() for ids in spared):
        return None
    whole = decide(stays[1])
    if area and all(lights[one] == area for ids in spared for one in ids):
        whole = _just(whole, [{one for one in lights if lights[one] == area}], area)
    return _without(whole, spared, taken[0])


def _beside_what_stays(
    text: str, known: Lexicon, snapshot: Snapshot, mentioned: Mentioned, decide: Decide
) -> Decision | None:
    """The decision on the command beside which it is said that something stays as it is; ``None``
    where nothing does, and where the command alone is not understood."""
    stays = left_beside(known.fixed(plain(text)).strip(" ,，"), known.language)
    taken = _named(stays[0], "", known, mentioned) if stays else None
    if stays is None or taken is None or taken[1]:
        return None
    whole = decide(stays[1])
    if whole.call is None or whole.asks in ("which", "missing"):
        return None
    spared = _spared(mentioned(taken[0]), snapshot)
    if any(ids & set(whole.entities) for ids in spared):
        return _without(whole, spared, taken[0])
    return whole


def _named(text: str, before: str, known: Lexicon, mentioned: Mentioned) -> tuple[str, str] | None:
    """The longest beginning of ``text`` that only names things, and what is left.

    before: what is said before it, where the kind of "the worktop one" is said
    """
    if known.spaces and (one := _THE_X_ONE.match(text)):
        for kind in before.split():
            called = f"{one['which']} {kind}"
            if mentioned(called).names and not mentioned(called).unknown:
                return called, text[one.end() :].strip()
    units = text.split() if known.spaces else list(text)
    between = " " if known.spaces else ""
    for length in range(min(len(units), _LONGEST * (1 if known.spaces else 2)), 0, -1):
        beginning, rest = between.join(units[:length]), between.join(units[length:])
        bare = _ONES.sub("", _THE_ONES.sub("", beginning)).strip()
        said = mentioned(bare or beginning)
        only = not (said.actions or said.numbers or said.colors or said.unknown or said.everything)
        if only and (said.names or said.areas or said.floors or said.nouns):
            return beginning, rest
    return None


def _all_others(rest: str) -> str:
    """Chinese says "the other lights": of what is left, all are meant."""
    rest = _THE_OTHERS.sub("", rest, count=1)
    return rest if "所有" in rest or "灯" not in rest else rest.replace("灯", "所有的灯", 1)


def _spared(said: Mentions, snapshot: Snapshot) -> list[set[str]]:
    """For each thing that is spared, the ids that it may be."""
    kinds = said.domains

    def is_kind(entity: Entity) -> bool:
        return not kinds or entity.domain in kinds

    named = [
        {e.id for e in snapshot.entities if name in (e.name, *e.aliases)} for name in said.names
    ]
    areas = {area: {a.id for a in snapshot.areas if _is(a, area)} for area in said.areas}
    for floor in said.floors:
        floors = {f.id for f in snapshot.floors if _is(f, floor)}
        areas[floor] = {a.id for a in snapshot.areas if a.floor in floors}
    placed = [
        {e.id for e in snapshot.entities if e.area in ids and is_kind(e)} for ids in areas.values()
    ]
    if not named and not placed:
        return [{e.id for e in snapshot.entities if e.domain in kinds}]
    return [*named, *placed]


def _is(thing: object, name: str) -> bool:
    return name in (getattr(thing, "name", ""), *getattr(thing, "aliases", ()))


def _unclear(said: str, language: str) -> Decision:
    return Decision(
        route="documents",
        reason=f"{said}: it is not plain what is left",
        language=language,
        declined="declined",
    )


def _just(whole: Decision, meant: list[set[str]], said: str) -> Decision:
    """The decision on those of its things alone that are meant."""
    left = [entity for entity in whole.entities if any(entity in ids for ids in meant)]
    if whole.call is None or whole.asks in ("which", "missing") or not left:
        return _unclear(f"only {said}", whole.language)
    return _of(whole, left, f"only {said}")


def _of(whole: Decision, entities: list[str], reason: str) -> Decision:
    """The decision on ``entities`` in the place of its own."""
    assert whole.call is not None
    call = ToolCall(tool=whole.call.tool, arguments={**whole.call.arguments, "entities": entities})
    reason = f"{whole.reason}; {reason}"
    return msgspec.structs.replace(whole, entities=entities, call=call, reason=reason)


def _without(whole: Decision, spared: list[set[str]], said: str) -> Decision:
    wanted = set(whole.entities)
    left = [entity for entity in whole.entities if not any(entity in ids for ids in spared)]
    sensible = whole.call is not None and whole.asks not in ("which", "missing") and len(wanted) > 1
    if not sensible or not left or not all(ids & wanted for ids in spared):
        return _unclear(f"all but {said}", whole.language)
    return _of(whole, left, f"all but {said}")
