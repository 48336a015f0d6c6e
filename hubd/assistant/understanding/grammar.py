"""Utterance → intent and slots, by sentence grammar: Home Assistant's sentences, then our own.

A plugin's sentence file is a hassil intents file whose intent names are tool names and whose slots
are the tool's arguments. It may use the lists ``name``, ``area`` and ``floor`` of the household.
"""

import functools
import logging
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import home_assistant_intents
from hassil import Intents, recognize_all, recognize_best
from hassil.intents import RangeSlotList
from hassil.recognize import RecognizeResult
from hassil.util import normalize_for_matching

from hubd.assistant.understanding.announced import tells_when
from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.sieve import Sieve
from hubd.memory import lasting
from plugins.api import FitsRule

log = logging.getLogger(__name__)

MAXIMUM_UTTERANCE = 300
"""Characters. A command is short; matching time grows with length."""

LANGUAGES = {"en": "en", "zh": "zh-CN", "de": "de", "fr": "fr", "es": "es"}
"""Our name of a language → the name of Home Assistant's sentences in it."""

SMALL_TALK = frozenset({"HassNevermind", "HassRespond", "HassMediaPause"})
"""Intents that do nothing, or that a bare "stop" means only where nothing rings: a sentence of ours
comes before them."""
OURS_FIRST = {
    "en": SMALL_TALK | {"HassShoppingListCompleteItem"},
    "es": SMALL_TALK | {"HassPauseTimer"},
}
"""Language → the intents that a sentence of ours comes before, where it is not those alone. What is
removed from a shopping list is done to Home Assistant, whose tests want that in German and Chinese,
and say nothing of it in English. In Spanish "para" ends a timer."""

REMIND = re.compile(
    r"(?:please )?(?:remind |(?:tell|ping|nudge|prod) (?:me|us) (?:to|that) )|erinner|rappelle|"
    r"recuérda|despiérta|提醒|[叫喊](?:我|我们)(?:[把去要该得]|记得)",
    re.IGNORECASE,
)
ITEMS = frozenset({"item", "items"})
"""Slots of what stands on a list."""
WHOLE_WORDS = frozenset({"en"})
"""The languages in which no sentence of ours begins or ends within a word."""
SOMEWHERE = "somewhere"
"""The area of a device whose area is not known."""


class SentenceFileError(Exception):
    """A sentence file cannot be used; the message names the file."""


class Match(NamedTuple):
    """What an utterance says, in the grammar's words."""

    intent: str
    """``HassTurnOn``, or the name of a tool."""
    slots: dict[str, Any]
    domains: frozenset[str]
    """The domains that the sentence speaks of; empty when it does not restrict them."""
    here: bool
    """Whether the sentence means the area of the asking device."""
    free: bool
    """Whether a part of it may be anything: a message, an item."""
    missing: bool
    """Whether the sentence lacks something that its tool needs (``metadata: {asks: missing}``)."""
    everything: bool
    """Whether it means the whole house ("all lights")."""


class Grammar:
    """The sentences of one language. Compiling takes up to half a second: not on the event loop."""

    def __init__(self, language: str, sentence_files: Iterable[Path]) -> None:
        """A file that is not a hassil intents file is left out, and named in the log."""
        self.language = language
        self._yields = OURS_FIRST.get(language, SMALL_TALK)
        self._own: list[Sieve] = []
        for path in sentence_files:
            if _language_of(path) == language:
                try:
                    self._own.append(_load(path))
                except SentenceFileError as error:
                    log.error("%s", error)
        shared = home_assistant_intents.get_intents(LANGUAGES[language])
        home = Intents.from_dict(shared) if shared else None
        if home:
            keep_signs_apart(home)
        self._home = Sieve(home) if home else None

    def match(
        self,
        text: str,
        names: Names,
        area: str = "",
        original: str = "",
        fits: Mapping[str, FitsRule] = {},
    ) -> Match | None:
        """What ``text`` says, or ``None``. ``area`` is the name of the asking device's area.

        ``original`` is the text before anything was left out: free texts keep its capitals.
        ``fits``: tool → whether it can make something of the free text in its slots.

        Home Assistant's sentences come first: they are many, and tested. Our own come where they
        have nothing, or only something of which a free text is the most.
        """
        if not text.strip() or len(text) > MAXIMUM_UTTERANCE:
            return None
        shared = self._recognize(text, self._home, names, area, fits) if self._home else None
        if shared and not _free_text(shared) and shared.intent.name not in self._yields:
            return _match(shared, original or text)
        own = [self._recognize(text, one, names, area, fits) for one in self._own]
        found = [result for result in (shared, *own) if result is not None]
        if not found:
            return None
        last = 2 if shared and shared.intent.name in self._yields else 0
        best = min(
            found,
            key=lambda r: (
                _is_said_now(r, text, self.language),
                *_rank(r, 1 if r is not shared else last, surely=r.intent.name in fits),
            ),
        )
        return _match(best, original or text, surely=best.intent.name in fits)

    def _recognize(
        self,
        text: str,
        sentences: Sieve,
        names: Names,
        area: str,
        fits: Mapping[str, FitsRule],
    ) -> RecognizeResult | None:
        intents = sentences.sifted(text, names.values)
        if intents is None:
            return None
        asked: dict[str, Any] = {
            "slot_lists": {
                name: values
                for name, values in names.slot_lists.items()
                if name not in intents.slot_lists
            },
            "intent_context": {"area": area or SOMEWHERE},
            "language": LANGUAGES[self.language],
        }
        if fits.keys().isdisjoint(sentences.intent_names):
            best = recognize_best(text.strip(), intents, best_slot_name="name", **asked)
            if best is None or self.language not in WHOLE_WORDS or not _cuts(best, text):
                return best
            uncut = (r for r in recognize_all(text.strip(), intents, **asked) if not _cuts(r, text))
            return min(uncut, key=_free_text, default=None)
        results = recognize_all(text.strip(), intents, **asked)
        fitting = (result for result in results if _makes_sense(result, fits, self.language))
        # Of two that leave as much to any text, the one whose tool has looked at it.
        return min(fitting, key=lambda r: (_free_text(r), r.intent.name not in fits), default=None)


def as_matched(text: str) -> str:
    """``text`` as hassil compares it: without marks, capitals and further spaces."""
    return str(normalize_for_matching(text).text).lower()


def _cuts(result: RecognizeResult, text: str) -> bool:
    """Whether a free text ends within a word: "Simon" is not "Sim" and "on"."""
    said = as_matched(text)
    free = (as_matched(entity.text) for entity in result.entities_list if entity.is_wildcard)
    return any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", said) is None for one in free)


def _makes_sense(result: RecognizeResult, fits: Mapping[str, FitsRule], language: str) -> bool:
    rule = fits.get(result.intent.name)
    if rule is None:
        return True
    try:
        return rule({name: entity.value for name, entity in result.entities.items()}, language)
    except Exception:  # whatever a plugin does, the other sentences count
        log.exception("a plugin cannot tell what fits tool=%s", result.intent.name)
        return False


@functools.lru_cache(maxsize=8)
def compiled(language: str, sentence_files: tuple[Path, ...]) -> Grammar:
    """The grammar of a language; the same files are compiled once."""
    with lasting():
        return Grammar(language, sentence_files)


def _rank(result: RecognizeResult, place: int, surely: bool) -> tuple[int, int, int]:
    """The least free text first; then by place: Home Assistant's before ours, unless it yields.

    surely: the tool has looked at the free text, which then counts as understood
    """
    free = 0 if surely else _free_text(result)
    return free, place, -result.text_chunks_matched


def _is_said_now(result: RecognizeResult, text: str, language: str) -> bool:
    """Whether it would carry out after a while what has to be said at once: "remind me to …" is a
    reminder, and of "tell everyone supper is in ten minutes" the time is told."""
    command = result.entities.get("conversation_command")
    if command is None:
        return False
    return REMIND.match(command.text.strip()) is not None or tells_when(text, language)


def _match(result: RecognizeResult, text: str, *, surely: bool = False) -> Match:
    """``surely``: the tool has looked at the free text, and can make something of it."""
    required = result.intent_data.requires_context
    return Match(
        intent=result.intent.name,
        slots={
            name: _WRITTEN.get(name, _as_written)(_plain(entity.value), text)
            if entity.is_wildcard
            else _plain(entity.value)
            for name, entity in result.entities.items()
            if not (name == "area" and "area" in required and not entity.text)
        },
        domains=_domains(result),
        here="area" in required,
        free=_free_text(result) > 0 and not surely,
        missing=(result.intent_metadata or {}).get("asks") == "missing",
        everything=(result.intent_metadata or {}).get("slot_combination") == "domain_all",
    )


def _domains(result: RecognizeResult) -> frozenset[str]:
    data = result.intent_data
    required = data.requires_context.get("domain")
    if isinstance(required, dict):
        required = required.get("value")
    if isinstance(required, str):
        return frozenset((required,))
    return frozenset(required or data.name_domains or ())


def _plain(value: Any) -> Any:
    """A whole number as one; text without the spaces around it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.strip() if isinstance(value, str) else value


def _free_text(result: RecognizeResult) -> int:
    """The characters that a wildcard took, whatever they are."""
    return sum(len(entity.text) for entity in result.entities_list if entity.is_wildcard)


_REST_OF_WORD = r"[a-zà-öø-ÿß]*"


def _as_written(value: Any, text: str, rest: str = "") -> Any:
    """A free text with the capitals, commas and dots that it was said with ("12. Mai"); rest: a
    pattern of what may follow and is a part of it."""
    if not isinstance(value, str):
        return value
    words = map(re.escape, value.split())  # hassil leaves out the marks between them
    found = re.search(r"[.:]?[\s,;，、；]+".join(words) + rest, text, re.IGNORECASE)
    return found[0] if found else value


def _items_as_written(value: Any, text: str) -> Any:
    """The same of items, which thinking aloud may have stood between: those that follow each other
    in ``text`` are one, of "butter, what was it, bacon and cream" these three."""
    whole = _as_written(value, text)
    if whole != value or not isinstance(value, str) or value.casefold() in text.casefold():
        return whole
    words, found = value.split(), []
    while words:
        length = next(
            (n for n in range(len(words), 0, -1) if " ".join(words[:n]) in text.casefold()), 1
        )
        found.append(_as_written(" ".join(words[:length]), text))
        words = words[length:]
    return ", ".join(found)


def _title_as_written(value: Any, text: str) -> Any:
    """The same of what shall be played: a Chinese title ends with its mark, whatever follows."""
    written = _as_written(value, text)
    if marked := re.match("(.*?)《([^》]+)》", written) if isinstance(written, str) else None:
        return marked[1] + marked[2]
    return written


def _name_as_written(value: Any, text: str) -> Any:
    """The same of a name, whose words are not cut: "auf" ends a sentence as well as "Auflauf"."""
    return _as_written(value, text, _REST_OF_WORD)


def _message_as_written(value: Any, text: str) -> Any:
    """The same of a message, which keeps what a command would do without: 饭好了，先吃."""
    if not isinstance(value, str) or value in text or not _CHINESE.fullmatch(value):
        return _as_written(value, text)
    found = re.search(_LEFT_OUT.join(map(re.escape, value)) + "$", text.rstrip("。！!. "))
    return found[0] if found else value


def _time_as_written(value: Any, text: str) -> Any:
    """The same of a time, without the "must" before what shall be done then: 二十分钟以后得叫我."""
    written = _as_written(value, text)
    return _MUST.sub("", written) if isinstance(written, str) else written


_MUST = re.compile("(?<=[\u4e00-\u9fff])[得要该]$")
_CHINESE = re.compile(r"[\u4e00-\u9fff]{2,}")
_LEFT_OUT = r"[^\w]{0,2}[\u4e00-\u9fff]{0,3}?[^\w]{0,2}[\u4e00-\u9fff]{0,3}?"
"""What may have been left out between two characters."""
_WRITTEN = {
    "message": _message_as_written,
    "name": _name_as_written,
    "when": _time_as_written,
    **dict.fromkeys(ITEMS, _items_as_written),
    **dict.fromkeys(("query", "search_query"), _title_as_written),
}
"""How the free text of a slot is put back."""


def _load(path: Path) -> Sieve:
    try:
        return Sieve(Intents.from_dict(values(path.read_text(encoding="utf-8"))))
    except Exception as error:  # hassil and PyYAML share no base class
        raise SentenceFileError(f"{path.name}: not a sentence file: {error}") from error


def _language_of(path: Path) -> str:
    """``timers.en.yaml`` → ``en``."""
    return path.suffixes[-2].lstrip(".") if len(path.suffixes) > 1 else "en"


def keep_signs_apart(intents: Intents) -> None:
    """Give lists of numbers that are multiplied ("down by ten percent": -10) ranges of their own.

    hassil keeps the words of a range by its bounds alone: with those of another list, "to fifty
    percent" is -50 once somebody has said "down by".
    """
    ranges = [one for one in intents.slot_lists.values() if isinstance(one, RangeSlotList)]
    plain = {_bounds(one) for one in ranges if one.multiplier is None}
    for one in ranges:
        while one.multiplier is not None and _bounds(one) in plain:
            one.stop += 1


def _bounds(one: RangeSlotList) -> tuple[object, ...]:
    return one.start, one.stop, one.step, one.fraction_type
