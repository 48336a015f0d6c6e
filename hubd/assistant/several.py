"""Two or more commands in one sentence: "turn on the kitchen light and close the blinds".

Only where the sentence as a whole is no command of its own, and neither a question, a condition
nor a "not" is in it. Each part is decided by itself, the later ones in the light of the earlier
("… and the bedroom", "… and dim it"). A part that nobody understands is told as such: nothing is
left out silently. Decides and does nothing.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence

import msgspec

from hubd.assistant.decision import Decision, lacks
from hubd.assistant.misread import LISTED as OF_LISTS
from hubd.assistant.understanding.asides import is_aside
from hubd.assistant.understanding.compose import STEPPED, VALUED
from hubd.assistant.understanding.idle import is_needed
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.polarity import OPPOSITE, undoes
from hubd.assistant.understanding.reasons import is_reason
from hubd.assistant.understanding.repairs import VALUES
from plugins.api import ToolCall

TALK, NEVER_MIND, ROUTINE = "help.", "help.never_mind", "routines.run"
SCENE, PLAYS = "home.activate", "media.search"
"""What the name of a scene alone asks for."""
_TELLS_PLANS = re.compile(
    r"(?:so |right |ok(?:ay)? )*"
    r"(?:(?:we|i)(?:'re| are|'m| am) (?:just |all )*"
    r"(?:going to|gonna|about to|off to|watching|having|heading|leaving|eating|cooking)\b"
    r"|(?:wir|ich) (?:wollen|will|gehen?|schauen?|gucken?|essen|esse|fahren|fahre)\b)"
)
"""What somebody is about to do: why the next clause commands something."""
LISTED = "lists.add"
TELLING = ("home.state", "climate.temperature", "weather.", "clock.")
"""Tools that only tell how something is."""
AIR = frozenset({"fan", "climate"})
"""Domains of what moves, heats or cools air."""
MOST_PARTS = 5
"""More are a story."""

_JOINTS = {
    "en": r"\s*[,;]?\s+(?:and then|then|and also|and|but|plus)\s+|\s*[,;]\s+",
    "de": r"\s*[,;]?\s+(?:und dann|dann|und auch|und|aber|sowie)\s+|\s*[,;]\s+",
    "zh": r"\s*(?:[，,；;。]|然后|并且|接着|同时|顺便|并)+再?\s*",
    "fr": r"\s*[,;]?\s+(?:et puis|puis|et|mais)\s+|\s*[,;]\s+",
    "es": r"\s*[,;]?\s+(?:y luego|luego|y|pero)\s+|\s*[,;]\s+",
}
_LISTING = {
    "fr": (
        re.compile(r"(?:ajoute|rajoute|mets|note|écris)\b", re.IGNORECASE),
        re.compile(r"\b(?:à|sur|dans) (?:la|ma|notre) liste\b", re.IGNORECASE),
        " et ",
    ),
    "es": (
        re.compile(r"(?:añade|agrega|pon|apunta)\b", re.IGNORECASE),
        re.compile(r"\b(?:a|en) (?:la|mi|nuestra) lista\b", re.IGNORECASE),
        " y ",
    ),
}
"""How it begins that items are put on a list, how the list is named behind them, and what joins
them."""
_NO_DURATION = {
    "en": r"(?i:(?!(?<=\bhour) and \S+ minutes?\b|(?<=\bhours) and \S+ minutes?\b"
    r"| and (?:a half|a quarter|three quarters)\b))",
    "de": r"(?i:(?!(?<=\bstunde) und \S+ minuten?\b|(?<=\bstunden) und \S+ minuten?\b"
    r"|(?<=\bstunde) und einer? (?:viertelstunde|halbe)))",
    "fr": r"(?i:(?! et (?:demie?|quart)\b))",
    "es": r"(?i:(?! y (?:media|cuarto)\b))",
    "zh": r"(?![，,](?:名字|名叫|叫做?(?!我|他|她|醒)|取名|备注))",
}
"""Where no commands are joined: "an hour and twenty minutes" is one time, and 名字叫蒸鱼 what a
timer is called."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One of the commands of a sentence."""

    text: str
    decision: Decision
    """Without a tool where it is not understood."""


_STOP = "(?:stopp?|halt|停)"
_CRY = re.compile(rf"\s*(?:{_STOP}(?:\s*{_STOP})*\s*[,，!！.。]+\s*)+(?=\w)", re.IGNORECASE)
_WHEN_SO = re.compile(r"when (?!is|are|was|were|does|do|did|will|should|can|has|have)\w")
"""What begins a condition, and no question."""
_CRY_ALONE = re.compile(rf"(?:\s*{_STOP}[\s,，!！.。]*)+", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"^(?:like|such as|for example|zum beispiel|wie zum beispiel)\b|^(?:比如|例如)"
)

SETTING = {tool: argument for tool, argument, _ in VALUED.values()}
"""Tools that bring a thing to a value, and what it is called."""
CLEANS, CLEANS_ROOM = "vacuum.start", "vacuum.clean_area"
_LISTING_VERB = re.compile(
    r"\b(?:put|add|stick|pop|write)\b|\b(?:setz|schreib|pack|tu|notier)e?\b", re.IGNORECASE
)
"""What puts the item behind it on a list that is named later."""
_WHERE_ALONE = re.compile(r"^(?:up|down|over|out|back|through) (?:in|on|at|by) (?:\S+ ?){1,4}$")
"""Where something is that was spoken of before."""

Decide = Callable[[str, Decision | None, str], Awaitable[Decision]]
"""The decision on a part, after the one before it; the third is the part whose verb it shares, and
empty where it has one of its own."""


def after_a_cry(text: str) -> str:
    """What follows a "stop" that is called out first, which may be all that is meant; empty where
    there is none."""
    found = _CRY.match(text)
    return text[found.end() :] if found else ""


def is_cry(text: str) -> bool:
    """Whether it is nothing but a "stop"."""
    return _CRY_ALONE.fullmatch(text) is not None


def split(text: str, known: Lexicon) -> list[str]:
    """The parts that may be commands; none where there is but one, or where nothing may be done."""
    said = known.fixed(known.stripped(text))
    if known.negates(known.without_lacking(said)) or known.keeps(text):
        return []
    joints = f"{_NO_DURATION.get(known.language, '')}(?:{_JOINTS[known.language]})"
    parts = [part.strip(" .!?。！？") for part in re.split(joints, text)]
    parts = _with_lists_whole(parts, known)
    parts = [part for part in parts if known.stripped(part)]
    if known.asks(said) and not _asks_besides(parts, known):
        return []
    return parts if 2 <= len(parts) <= MOST_PARTS else []


def _with_lists_whole(parts: list[str], known: Lexicon) -> list[str]:
    """The parts, with the items that are put on a list together up to where the list is named: "add
    bread", "eggs to the list" are one."""
    begins, list_named, joint = _LISTING.get(known.language, (NEVER, NEVER, ""))
    whole: list[str] = []
    for at, part in enumerate(parts):
        listing = bool(whole) and begins.match(whole[-1]) and not list_named.search(whole[-1])
        ends = any(map(list_named.search, parts[at:]))
        if listing and ends and not known.commands(known.stripped(part)):
            whole[-1] = f"{whole[-1]}{joint}{part}"
        else:
            whole.append(part)
    return whole


def _asks_besides(parts: list[str], known: Lexicon) -> bool:
    """Whether commands come first, and then a question of its own: "turn on the lamp, and which
    timers are there"."""
    first, *others = map(known.stripped, parts) if parts else [""]
    commanded = known.commands(known.fixed(first)) and not known.asks(first)
    if any(map(_WHEN_SO.match, others)):
        return False  # "turn the light on, when Tom is home" is one for later
    return commanded and all(known.inquires_first(o) for o in others if known.asks(o))


async def commands_in(
    text: str,
    known: Lexicon,
    decide: Decide,
    mentioned: Callable[[str], Awaitable[Mentions]],
    repaired: Sequence[str] = (),
    people: Collection[str] = (),
) -> list[Part]:
    """The commands of ``text``; empty where it is not several.

    A part that is not understood is told as such where it begins as a command or a question does,
    holds a verb, or follows a command; a remark before the first is not. A part that only names
    things shares the verb before it: after "turn off the sauna and", "the lamp" is not to be turned
    on, as it would be by itself. Of a sentence that corrects itself only what was said last counts.

    repaired: the sentences that one which corrects itself may come to
    people: the names of persons, of whom a reason may speak
    """
    if corrected := known.corrected(text):
        return await _corrected(*corrected, repaired, decide, mentioned)
    parts: list[Part] = []
    last: Decision | None = None
    left_out = False  # whether a part before the first command names something
    item = False  # whether what stands before may be one of a list
    hints: list[Decision] = []  # what is done because of a remark, which names no thing
    verb_of = ""
    pieces = split(text, known)
    if any(known.breaks_off(piece) for piece in pieces[:-1]):
        return []  # "carry on with the, you know, the music"
    for at, piece in enumerate(pieces):
        if is_aside(piece, known):
            continue
        said = await mentioned(piece)
        if piece is not pieces[0] and _WHERE_ALONE.match(plain(piece)):
            return []  # "shut the blind, you know, up in Ellie's room"
        bare = _is_bare(said)
        if bare and not verb_of and _names(said):
            if (await decide(piece, last, "")).tool != SCENE:
                return []  # "the lamp and the radio off": the verb comes last, and is of both
            bare = False
        if (not verb_of and _is_topic(said, known)) or _EXAMPLE.search(plain(piece)):
            return []  # "the timer, pause that"; "everything, like the lights"
        if last is None and _is_number(said):
            return []  # "an egg timer, four and a half minutes"
        decision = await decide(piece, last, verb_of if bare else "")
        if (
            bare
            and decision.tool is None
            and (alone := await decide(piece, last, "")).tool == PLAYS
        ):
            decision, bare = alone, False  # "and put jazz on in the kitchen"
        verb_of = verb_of if bare else piece
        if decision.tool == NEVER_MIND:
            return []
        if decision.tool is not None and decision.tool.startswith(TALK):
            continue  # "good morning, turn on the light"
        if last is None and _is_why(piece, said, decision, pieces[at + 1 :], known):
            continue
        asked = known.inquires_first(known.stripped(piece))
        if decision.route == "semantic" and _is_unspoken(said) and not asked:
            continue  # "that timer just now, five minutes more" cancels none
        if last is not None and _is_value_of_others(said, decision, last):
            return []  # "the lamp red, oh well, green": not the other lamps
        if last is None and decision.route == "semantic" and _is_idle(piece, decision, known):
            continue  # "it's late, turn off the light" asks for no time
        told = any(plain(piece).startswith(plain(name)) for name in people)
        needed = is_needed(piece, known) and not told
        if last is not None and not needed and _is_remark(piece, said, decision, last, known):
            continue
        if decision.tool is None and last is not None and _is_of_people(piece, said, people):
            continue
        acts = last is not None and not (last.tool or "").startswith(TELLING)
        if acts and _is_reason(piece, said, decision, known):
            continue
        if (
            last is None
            and _complains(decision, said)
            and not any(known.commands(known.stripped(one)) for one in pieces)
        ):
            return []  # "nobody's in the kitchen and the light is on": one complaint of two halves
        if decision.tool is not None:
            if last is not None and decision.call == last.call:
                continue  # "too bright, it blinds me" is said twice and done once
            half = item and not known.commands(known.stripped(piece))  # "honey, put milk on …"
            if left_out and last is None and decision.entities and not _names(said):
                return []  # "can Dusty, um, take a break": the music has not been spoken of
            first_lost = bool(parts) and parts[-1].decision.tool is None
            if decision.tool in OF_LISTS and (half or first_lost):
                return []  # "butter and cling film on the list": two items of one command
            if any(_disagree(decision, part.decision) for part in parts):
                return []  # "two and twenty degrees" is neither 2 nor 20
            last = decision
            if decision.route == "semantic" and not (said.actions or said.names):
                hints.append(decision)
            same = not parts or parts[-1].decision.tool in (None, decision.tool)
            shared = bare and bool(verb_of) and same
            parts.append(Part(text=text if shared else piece, decision=decision))
        elif (
            last is not None
            and _takes_back(said, last)
            and not known.commands(known.stripped(piece))
        ):
            return []  # "the blinds up, oh dear, down of course"
        elif decision.declined or parts or known.inquires_first(piece) or _commands(piece, known):
            parts.append(Part(text=piece, decision=decision))
        else:
            left_out = left_out or bool(said.names)
            clause = known.is_clause(known.stripped(piece)) and not _LISTING_VERB.search(piece)
            item = not known.remarks(piece) and not clause
    return _without_explained(parts, hints) if last else []


def _without_explained(parts: list[Part], hints: Sequence[Decision]) -> list[Part]:
    """The parts without the remarks that only say why another one is asked for ("the sun's in my
    eyes, close the kitchen blind"), and without the direction of what is brought to a value."""
    plain_ones = [part.decision for part in parts if part.decision not in hints]
    kept = [
        part
        for part in parts
        if not any(
            _explains(part.decision, other)
            if part.decision in hints
            else _says_less(part.decision, other)
            for other in plain_ones
        )
    ]
    return kept or parts


def _explains(hint: Decision, command: Decision) -> bool:
    if hint.tool == command.tool or _plugin_of(hint.tool) == _plugin_of(command.tool) != "":
        return True
    of_covers = _is_of(command, {"cover"})
    return of_covers and (_is_of(hint, {"cover"}) or _is_light_or_air(hint))


def _says_less(one: Decision, other: Decision) -> bool:
    """Whether a command says which way, or that there is dirt, and the other one where to: "a bit
    cooler, seventeen degrees"."""
    if _plugin_of(one.tool) != _plugin_of(other.tool) or _plugin_of(one.tool) == "":
        return False
    value = SETTING.get(other.tool or "")
    steps = one.tool in STEPPED.values() and value is not None and value in other.arguments
    same = set(one.entities) == set(other.entities)
    return same and (steps or (one.tool == CLEANS and other.tool == CLEANS_ROOM))


def _is_remark(
    piece: str, said: Mentions, decision: Decision, last: Decision, known: Lexicon
) -> bool:
    """Whether a part says why, and not what: "turn on the lamp, it's so dark". A complaint about
    another kind of thing is a wish of its own."""
    explains = _plugin_of(last.tool) in set(map(_plugin_of, said.implied)) - {""}
    if explains and not (said.actions or _names(said)):
        return True  # "the fan at thirty percent, my head hurts": not that the radio is too loud
    if decision.tool is None:
        # "It's pitch black in the kitchen" names only where.
        # Nor does "he's got his hands full" say what shall be done.
        verbs = said.actions - VALUES
        return known.remarks(piece) and not (verbs or said.names or said.nouns)
    unsaid = not (said.actions or said.names or said.nouns)
    hinted = decision.route == "semantic" and unsaid
    if hinted and _is_of_air(decision) and _is_of_air(last):
        return True  # "the fan at forty percent, it's stuffy in here": that it shall be no colder
    if _names(said):
        return False
    complains = hinted or (unsaid and known.remarks(piece))
    if complains and _is_light_or_air(decision) and _is_of(last, {"cover"}):
        return True  # "close the curtains, it's getting dark": not that a lamp shall be on
    if hinted and decision.tool == last.tool:
        return True  # "turn the telly off, nobody's watching it" is not said of the lights
    if hinted and decision.entities and set(decision.entities) <= set(last.entities):
        return True  # "turn the fan off, it blows too hard": that is why
    if not known.remarks(piece):
        return False
    if hinted and _verb_of(decision) == _verb_of(last):
        return True  # "pause the timer, I'm taking a call" is not said of the radio
    kinds = {entity.partition(".")[0] for entity in decision.entities}
    return bool(kinds) and kinds <= {entity.partition(".")[0] for entity in last.entities}


def _is_why(
    piece: str, said: Mentions, decision: Decision, later: Sequence[str], known: Lexicon
) -> bool:
    """Whether the first clause only says why the next one commands something: 天黑了，把窗帘拉上.
    Where words are parted, "and" may as well join two wishes."""
    plans = decision.route == "semantic" and bool(_TELLS_PLANS.match(plain(piece)))
    if known.spaces and not plans:
        return False
    if not plans and (said.actions or _names(said)):
        return False
    hints = known.spaces or bool(said.implied) or decision.tool == ROUTINE
    said_so = (known.fixed(known.stripped(piece)) for piece in later)
    return hints and any(map(known.commands, said_so))


def _is_reason(piece: str, said: Mentions, decision: Decision, known: Lexicon) -> bool:
    """Whether a part behind a command, which at most hints at something, is like reasons."""
    hints = decision.route == "semantic" and not (said.actions or said.names)
    if not (decision.tool is None or hints) or decision.declined:
        return False
    return is_reason(piece, known)


def _is_of_air(decision: Decision) -> bool:
    """Whether it moves, heats or cools the air of a room."""
    return _is_of(decision, AIR)


def _is_light_or_air(decision: Decision) -> bool:
    """Whether it changes what a blind changes as well."""
    return _is_of(decision, AIR | {"light"})


def _is_of(decision: Decision, domains: Collection[str]) -> bool:
    """Whether it works things of these domains, and no others."""
    kinds = {entity.partition(".")[0] for entity in decision.entities}
    return bool(kinds) and kinds <= set(domains)


def _plugin_of(tool: str | None) -> str:
    """Whose tool it is; that of ``home`` may be of any thing, and says nothing."""
    plugin = (tool or "").partition(".")[0]
    return "" if plugin == "home" else plugin


def _is_of_people(piece: str, said: Mentions, people: Collection[str]) -> bool:
    """Whether a part that is not understood tells of somebody: "…, Tom is doing his homework"."""
    begins = any(plain(piece).startswith(plain(name)) for name in people)
    addressed = plain(piece) in set(map(plain, people))  # "…, Tom" is said to him
    return (
        begins
        and not addressed
        and set(said.names) <= set(people)
        and not (said.actions or said.nouns)
    )


def _verb_of(decision: Decision) -> str:
    return (decision.tool or "").rpartition(".")[2]


def _is_idle(piece: str, decision: Decision, known: Lexicon) -> bool:
    """Whether a remark was taken for a question that only its likeness makes of it."""
    return known.remarks(piece) and (decision.tool or "").startswith(("clock.", "weather."))


def _takes_back(said: Mentions, last: Decision) -> bool:
    """Whether words of what was not understood say the opposite of what was."""
    opposite = OPPOSITE.get(last.tool or "", set())
    return bool(said.actions & opposite) and not _names(said)


def _complains(decision: Decision, said: Mentions) -> bool:
    """Whether it is done because of a remark, without a verb."""
    return decision.route == "semantic" and not said.actions and bool(said.implied)


def _disagree(one: Decision, other: Decision) -> bool:
    """Whether two commands of one sentence want different things of the same one."""
    if not set(one.entities) & set(other.entities) or one.call is None or other.call is None:
        return False
    if undoes(one.call.tool, other.call.tool):
        return True
    return one.call.tool == other.call.tool and _values(one.call) != _values(other.call)


def _values(call: ToolCall) -> dict[str, object]:
    return {name: value for name, value in call.arguments.items() if name != "entities"}


async def _corrected(
    first: str,
    instead: str,
    repaired: Sequence[str],
    decide: Decide,
    mentioned: Callable[[str], Awaitable[Mentions]],
) -> list[Part]:
    for whole in repaired:
        meant = await decide(whole, None, "")
        if not lacks(meant):
            return [Part(text=whole, decision=meant)]
    begun = await decide(first, None, "")
    said = await mentioned(instead)
    dropped = await decide(instead, None, "")
    if dropped.tool == NEVER_MIND:
        return [Part(text=instead, decision=dropped)]
    meant = await decide(instead, begun if begun.tool else None, first if _is_bare(said) else "")
    if not _names(said):
        if begun.tool is None:
            return []  # "…, no, rather orange": of what?
        if set(meant.entities) - set(begun.entities):
            return []  # "…, no, too bright, ten percent" is of the same thing or of none
    return [Part(text=instead, decision=meant)] if meant.tool else []


def _is_bare(said: Mentions) -> bool:
    """Whether nothing says what shall be done."""
    values = said.numbers or said.colors
    return not (said.actions or said.implied or said.hints or said.subjects or values)


def _is_unspoken(said: Mentions) -> bool:
    """Whether a timer, an alarm or a list is spoken of, and nothing says what shall be done."""
    return bool(said.subjects) and not (said.actions or said.implied or said.hints or said.numbers)


def _is_value_of_others(said: Mentions, decision: Decision, last: Decision) -> bool:
    """Whether nothing but a value is said, and it would be given to other things than before."""
    if _names(said) or said.actions or not (said.numbers or said.colors):
        return False
    return bool(last.entities) and bool(set(decision.entities) - set(last.entities))


def _is_number(said: Mentions) -> bool:
    """Whether nothing but a number is said."""
    return bool(said.numbers) and not (said.unnamed.strip("0123456789., ") or _names(said))


def _is_topic(said: Mentions, known: Lexicon) -> bool:
    """Whether nothing but a timer, an alarm or a list is named."""
    values = said.numbers or said.colors or said.everything
    others = known.beyond_subjects(said.unknown)
    return bool(said.subjects) and not (said.actions or said.implied or values or others)


def _names(said: Mentions) -> bool:
    return bool(said.names or said.areas or said.floors or said.nouns)


def _commands(text: str, known: Lexicon) -> bool:
    said = known.fixed(known.stripped(text))
    return known.commands(said) or bool(known.actions_in(said, in_place=True))
