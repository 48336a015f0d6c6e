"""What is proposed where nothing is understood for sure: "Shall I close the awning?"

The likeliest intent of an utterance is often the right one where ``conditions`` do not let it
count. It is asked for, then, and done after a "yes" alone. What is asked says all that would be
done; what is dangerous, or would change nothing, is never proposed.
"""

import re
import string
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from hubd.assistant.by_likeness.conditions import (
    KEPT,
    SURE,
    SWITCHING,
    Candidate,
    inquires,
    is_implied,
    opposes,
)
from hubd.assistant.several import NEVER_MIND
from hubd.assistant.understanding.compose import A_BIT
from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.fill import WEATHER, Filled
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.mentions import CLEANED, Mentions
from hubd.assistant.understanding.plain import NEVER
from hubd.assistant.understanding.still import is_for_later
from hubd.assistant.understanding.targets import ALREADY
from hubd.home.model import Entity
from plugins.api import ToolCall
from plugins.spoken import duration

PHRASES = Path(__file__).with_suffix(".yaml")
QUESTIONS = {"en": "Shall I {what}?", "de": "Soll ich {what}?", "zh": "要我{what}吗？"}
LEAST = 0.5
"""How likely an intent is, of those that can be meant here, to be asked for."""
LEAST_UNNAMED = 0.6
"""The same where no thing, room or kind of thing is spoken of."""
CLEAR = 0.75
"""From which on several things may be asked about at once, by sentences that a question or the past
only seems to be in: "if I have to hear this song one more time"."""
MOST_THINGS = 4
"""Things that a question names: who hears it has to remember them."""
EVIDENT = 0.7
"""How likely a tool is, by its examples and by the wording, where what is kept here is told at once
and a name need only sound so."""
LEAST_TOLD, LEAST_ANSWERED = 0.75, 0.9
"""How likely has to be what is told at once: it changes nothing, but nobody may have asked. What is
asked in so many words may be answered by the documents; of 815 questions to them 1 is not, 6 with
the first."""
SURE_ANSWERED = 0.8
"""How likely the tool is by all that is known where a question is as good as a sentence."""
MOST_NONE_TOLD = 0.1
"""How likely it may be that nothing is asked for, then."""
MOST_NONE = 0.25
"""How likely it may be that nothing is asked for."""
UNCHANGED = {tool: {state, "unavailable"} for tool, state in ALREADY.items()} | {
    "home.turn_on": {"on", "playing", "open", "heat", "cool", "auto", "unavailable"},
    "media.play": {"playing"},
    "media.pause": {"paused", "off", "idle"},
    "media.change_volume": {"off"},
    "media.mute": {"off"},
    "climate.change": {"off"},
    "vacuum.start": {"cleaning"},
    "vacuum.return_home": {"docked", "returning"},
    "vacuum.stop": {"docked"},
}
"""States in which a tool changes nothing."""
UNTOLD = (*KEPT, NEVER_MIND, "briefing.")
"""What is said about something else and tells nothing, or takes long to tell."""
UNSAID = frozenset({"entities", "step"})
"""Arguments that are no values."""
KINDS = ("color", "kelvin", "when", "which", "name", "length", "list_name", "timer")
"""Arguments for which a tool has another phrase, the first that is given and has one."""
LENGTH = ("hours", "minutes", "seconds")
"""Arguments that are one value together."""
_UNARTICLED = frozenset({"vacuum", "lawn_mower", "scene", "script"})
"""What has names like a person's."""
_ARTICLED = re.compile(r"(?:the|my|our)\b|\w+['’]s?\b", re.IGNORECASE)
_REPORT = {
    "en": re.compile(
        r"^(?:my |our |the )?[a-z]+(?: says|'s complaining| (?:is complaining|reckons))(?: that)? "
        r"(?=(?:she|he|they|it)\b)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"^(?:die |der |unsere? |meine? )?\w+ (?:sagt|meint|jammert|klagt|beschwert sich),? "
        r"(?:dass )?(?=(?:sie|er|es|ihr|ihm)\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile("^[^，,]{1,4}(?:说|讲|嫌|抱怨)(?=[^，,]*(?:[屋房]|[她他]))"),
}
"""Who tells what they suffer from."""
_LETS = re.compile(r"\bdon't (?:let|have)\b|\blass\w* .*\bnicht\b|(?:别|不要)再?(?:让|叫)")
"""What lets nothing go on, whatever it does: 别让扫地机扫了."""


def without_report(text: str, language: str) -> str:
    """``text`` without who tells what they suffer from: "Nan says it's too hot in her room"."""
    return _REPORT.get(language, NEVER).sub("", text)


def may_wish(text: str, known: Lexicon) -> bool:
    """Whether ``text`` may ask for something here: it keeps nothing as it is, and is of this
    house."""
    said = known.without_implied(text)
    return not (known.keeps(said) or known.is_elsewhere(text))


def changes(filled: Filled) -> bool:
    """Whether a call would change anything of its things: who complains of the dark under a lamp
    that is on does not want it on."""
    states = {entity.state for entity in filled.targets.entities}
    return not states or not states <= UNCHANGED.get(filled.call.tool, set())


def worth_asking(
    found: Candidate, none: float, likely: float, said: Mentions, known: Lexicon
) -> bool:
    """Whether the likeliest call is likely enough to be asked for.

    none: how likely it is that nothing is asked for; likely: how likely its tool is by all that is
    known
    """
    filled, entities = found.filled, found.filled.targets.entities
    call = filled.call
    if found.confidence < SURE and known.corrected(said.text):
        return False
    if found.confidence < (LEAST if filled.named else LEAST_UNNAMED) or none > MOST_NONE:
        return False
    most = MOST_THINGS if found.confidence >= CLEAR else 1
    if phrase(call, entities, known.language) is None or len(entities) > most:
        return False
    timer = call.tool.startswith("timers.")
    if timer and (said.names or said.subjects - {"timers"} or said.actions & SWITCHING):
        return False  # "the coffee machine off in 20 minutes", "remind me in 20 minutes"
    later = is_for_later(said, known) and not call.tool.startswith(("timers.", "alarms."))
    if later or (set(call.arguments) - UNSAID and not filled.named):
        return False  # "movie night tomorrow", and "forty" alone
    if likely < EVIDENT and only_sounds_so(said):
        return False
    only_names = said._replace(nouns=frozenset()).is_bare  # "the curtains" alone
    if only_names or said.rooms_not_here or _is_question(said, found.confidence, known):
        return False
    if _is_forbidden(said, known):
        return False
    if opposes(call, said, known):
        return False
    if not said.names:
        if known.commands(said.text) and not is_implied(found.guess.intent, said):
            return False  # "turn on the hot tub" is not the patio light
        swept = call.tool in CLEANED and said.areas  # whoever made the mess
        if not swept and known.complains_of(said.text, _bare(said.unknown)):
            return False  # "the soup is too hot"
    return True


def _bare(words: Sequence[str]) -> set[str]:
    return {word.removesuffix("'s") for word in words}


def worth_telling(
    found: Candidate, none: float, likely: float, text: str, said: Mentions, known: Lexicon
) -> bool:
    """Whether what only tells something is likely enough to be told at once.

    none: how likely it is that nothing is asked for; likely: how likely its tool is by all that is
    known
    """
    filled = found.filled
    tool = filled.call.tool
    if tool.startswith(UNTOLD) and (likely < EVIDENT or tool == NEVER_MIND):
        return False
    if known.is_elsewhere(said.text) or said.rooms_not_here:
        return False
    entities = filled.targets.entities
    people = [entity for entity in entities if entity.domain == "person"]
    anywhere = filled.named or filled.call.tool == WEATHER
    if (entities and not anywhere) or 0 < len(people) < len(entities):
        return False  # "ask Ann whether the door is shut"
    asked = known.inquires_first(said.text) or "?" in text or "？" in text
    least = LEAST_ANSWERED if asked and likely < SURE_ANSWERED else LEAST_TOLD
    return found.confidence >= least and none <= MOST_NONE_TOLD


def only_sounds_so(said: Mentions) -> bool:
    """Whether what is spoken of only sounds like something here, and no verb is said: "yard duty"
    is not Dusty."""
    called = (*said.names, *said.areas)
    return bool(called) and not said.spelled(called) and not said.actions


def _is_question(said: Mentions, confidence: float, known: Lexicon) -> bool:
    """Whether it is a question; "oh what's it called, tuck him in, yes, that one" is none."""
    if confidence >= CLEAR:
        return known.inquires_first(said.text)
    return inquires(said, known)


def _is_forbidden(said: Mentions, known: Lexicon) -> bool:
    """Whether a "not" may be of the verb that is said: "don't turn off the fan". "The fan needn't
    go that fast" says none."""
    negated = known.negates(known.without_implied(known.fixed(known.stripped(said.text))))
    told = bool(said.actions) or _LETS.search(said.text) is not None
    return negated and known.forbids(said.text) and told


def phrase(call: ToolCall, entities: Sequence[Entity], language: str) -> str | None:
    """What ``call`` does, in words; ``None`` where they would not say all of it."""
    given = {k: v for k, v in call.arguments.items() if k not in UNSAID}
    if given.get("by") == A_BIT:
        del given["by"]  # which "a bit" says
    if length := timedelta(**{unit: given.pop(unit) for unit in LENGTH if unit in given}):
        given["length"] = duration(length, language)
    kinds = [call.arguments.get("step"), *(kind for kind in KINDS if kind in given)]
    names = [*(f"{call.tool} {kind}" for kind in kinds if kind), call.tool]
    worded = next((_phrases()[name].get(language) for name in names if name in _phrases()), None)
    if worded is None:
        return None
    places = {field for _, field, _, _ in string.Formatter().parse(worded) if field}
    if places - {"things"} != set(given) or ("things" in places) != bool(entities):
        return None
    things = ", ".join(_called(entity, language) for entity in entities)
    return worded.format_map({**_plainly(given, language), "things": things})


def question(call: ToolCall, entities: Sequence[Entity], language: str) -> str:
    """Whether ``call``, for which there is a phrase, shall be done."""
    return QUESTIONS[language].format(what=phrase(call, entities, language))


def _called(entity: Entity, language: str) -> str:
    if language == "de":
        return f"„{entity.name}“"
    articled = entity.domain in _UNARTICLED or _ARTICLED.match(entity.name)
    return entity.name if language != "en" or articled else f"the {entity.name}"


def _plainly(given: Mapping[str, Any], language: str) -> dict[str, str]:
    def said(name: str, value: Any) -> str:
        if isinstance(value, list):
            return ", ".join(map(str, value))
        if name == "color":
            return lexicon(language).color_word(str(value))
        if name == "timer" and language == "de":
            return f"{value}"[:1].upper() + f"{value}"[1:]
        return f"{value:g}" if isinstance(value, int | float) else str(value)

    return {name: said(name, value) for name, value in given.items()}


@cache
def _phrases() -> dict[str, dict[str, str]]:
    return msgspec.convert(values(PHRASES.read_text("utf-8")), dict[str, dict[str, str]])
