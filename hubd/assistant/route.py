"""What an utterance asks for, decided in milliseconds and without acting.

The order: sentence grammar, on what was said and on what is left without politeness; then the words
alone; then, by whoever called, the documents or the model. A decision that would do the opposite of
what the verb says is refused, and so is anything that the utterance negates.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.matched import asking, decided, of_what_is_set, tool_of
from hubd.assistant.misread import OF_WORDS, House, free_text, is_misread
from hubd.assistant.understanding import garbled, intents, words
from hubd.assistant.understanding.asked_first import as_command
from hubd.assistant.understanding.compose import A_BIT, compose
from hubd.assistant.understanding.fluent import fluent, owned_up
from hubd.assistant.understanding.grammar import (
    LANGUAGES,
    MAXIMUM_UTTERANCE,
    Grammar,
    Match,
    compiled,
)
from hubd.assistant.understanding.heard import Vocabulary, otherwise, vocabulary_of
from hubd.assistant.understanding.heard_numbers import numerals_heard
from hubd.assistant.understanding.language import Words, language_of, sentence_words
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.likeness import masked
from hubd.assistant.understanding.locks import locked_up
from hubd.assistant.understanding.mentions import Mentions, mentions
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.owners import in_own_room, placed
from hubd.assistant.understanding.paraphrased import Paraphrases, paraphrases_of, renamed
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.polarity import contradiction, on_and_off
from hubd.assistant.understanding.readings import (
    asks_nothing,
    forms,
    politer,
    put_right,
    rewrites,
    thinks_aloud,
    untimely,
    wonders,
    worn,
)
from hubd.assistant.understanding.receivers import without_receiver
from hubd.assistant.understanding.requested import commanded
from hubd.assistant.understanding.reworded import rewordings
from hubd.assistant.understanding.robots import sent_by_name
from hubd.assistant.understanding.rooms import rooms_not_here
from hubd.assistant.understanding.state_questions import asked_state, quantity_in
from hubd.assistant.understanding.targets import Targets
from hubd.assistant.understanding.whose import of_who_is_named
from hubd.assistant.understanding.wished import wished
from hubd.home.model import Snapshot
from plugins.api import Tool, ToolCall
from plugins.numbers import digits
from plugins.states import measured

STATE, MOVE, LATER = "home.state", "home.move", "routines.later"
BIT_BY_BIT = {"home.open": "up", "home.close": "down"}
"""Tools that go all the way, and which way."""
SLIGHT = {"lights.change": 10, "fans.change": 10}
"""Tools that go by steps, and what "a bit" is there, in percent."""
COMPOUNDING = frozenset({"en", "de"})
"""The languages that make one word of two, so that a compound may be heard as two."""
ALL_LIKE_HERE = frozenset({"fr", "es"})
"""The languages in which Home Assistant's sentences for all things of a kind are those for what is
in the room."""
_PLACED = frozenset({"name", "area", "floor"})
REQUESTS = re.compile(
    r"\b(?:could|can|would|will) (?:you|ya)\b(?!.*\b(?:tell|check|see|look|say|know)\b)|"
    r"\b(?:kannst|könntest|würdest) du\b(?!.*\b(?:sagen|nachsehen|nachschauen|schauen|gucken)\b)",
    re.IGNORECASE,
)
"""What asks for a deed and tells no state."""
JOINTS = re.compile(r",|\b(?:and|und|sowie|plus|et|y)\b|[，、和跟]")
"""What stands between two things that are both meant."""


REMEMBERED = 64
"""Of the last utterances, what the grammar and what single words say: 1 to 5 ms each, and asked for
again."""


class Router:
    """The grammars of all languages over the household as it is at the moment."""

    def __init__(
        self,
        tools: Sequence[Tool],
        sentence_files: Sequence[Path],
        snapshot: Callable[[], Snapshot] = Snapshot,
        languages: Sequence[str] = tuple(LANGUAGES),
    ) -> None:
        """``languages`` are those that an utterance may be in when nobody says which."""
        self._tools = {tool.name: tool for tool in tools}
        self._fits = {tool.name: tool.fits for tool in tools if tool.fits}
        self._files = tuple(sentence_files)
        self._snapshot = snapshot
        self._languages = [language for language in languages if language in LANGUAGES]
        self._sentence_words: Words | None = None
        self._grammars: dict[str, Grammar] = {}
        self._names = Names(Snapshot(version=-1))
        self._phrases: dict[str, words.Phrases] = {}
        self._compounds: dict[str, frozenset[str]] = {}
        self._vocabularies: dict[str, Vocabulary] = {}
        self._named: dict[str, garbled.Named] = {}
        self._paraphrases: dict[str, Paraphrases] = {}
        self._matches: dict[tuple[str, str, str, str], Match | None] = {}
        self._mentions: dict[tuple[str, str], Mentions] = {}

    async def prepare(self, text: str, language: str | None = None) -> str:
        """Compile what is needed for ``text`` on another thread; returns the language it is in."""
        if self._sentence_words is None:
            self._sentence_words = await asyncio.to_thread(sentence_words, self._files)
        spoken = self._spoken(text, language)
        if spoken not in self._grammars:
            self._grammars[spoken] = await asyncio.to_thread(compiled, spoken, self._files)
        return spoken

    def mentions(self, text: str, language: str) -> Mentions:
        """What ``text`` speaks of, whatever else it says."""
        self._refresh(self._snapshot())
        if len(self._mentions) >= REMEMBERED:
            self._mentions = {}  # not emptied: another thread may be looking
        kept = self._mentions
        if (text, language) not in kept:
            joined = self._joined(numerals_heard(text, language), language)
            kept[text, language] = mentions(joined, lexicon(language), self.phrases(language))
        return kept[text, language]

    def masked(self, text: str, language: str) -> str:
        """``text`` with the household's names as their kinds, to be compared with examples."""
        text = self._joined(numerals_heard(text, language), language)
        return masked(text, lexicon(language), self.phrases(language), self._snapshot())

    def snapshot(self) -> Snapshot:
        """The household as it is now."""
        return self._snapshot()

    def route(self, text: str, *, language: str | None = None, area: str = "") -> Decision:
        """The decision on ``text``, said in ``language`` in the area of that id or name."""
        found = self._route(text, language, area)
        if found.tool == LATER and not wonders(text, found.language):
            return _without_mark(found)
        return self.by_a_bit(found, text)

    def by_a_bit(self, found: Decision, text: str) -> Decision:
        """The decision; where it opens or closes, or dims, and ``text`` says by a bit, only that
        much."""
        if found.tool in SLIGHT and found.call and lexicon(found.language).slightly(text):
            slight = {**found.call.arguments, "by": SLIGHT[found.tool]}
            if "by" not in found.call.arguments:
                call = ToolCall(tool=found.tool, arguments=slight)
                return msgspec.structs.replace(found, call=call)
        if found.tool not in BIT_BY_BIT:
            return found
        things = [e for e in self._snapshot().entities if e.id in found.entities]
        if not lexicon(found.language).a_bit(fluent(text, found.language)) or any(
            e.domain != "cover" for e in things
        ):
            return found
        by = {"step": BIT_BY_BIT[found.tool or ""], "by": A_BIT}
        call = ToolCall(tool=MOVE, arguments={**by, "entities": found.entities})
        moved = msgspec.structs.replace(
            found,
            tool=MOVE,
            call=call,
            arguments={**found.arguments, **by},
            asks=None,
            reason="it says by a bit",
        )
        return self.asking(moved, Targets(tuple(things), unclear=found.asks == "which"))

    def _route(self, text: str, language: str | None, area: str) -> Decision:
        spoken = self._spoken(text, language)
        if len(text) > MAXIMUM_UTTERANCE or not text.strip():
            return Decision(route="documents", reason="no command is this long", language=spoken)
        if lexicon(spoken).corrected(text):
            return Decision(route="documents", reason="it corrects itself", language=spoken)
        snapshot = self._snapshot()
        self._refresh(snapshot)
        known_area = Names.area(snapshot, area) if area else None
        area = known_area.id if known_area else ""
        area_name = known_area.name if known_area else ""
        said = owned_up(numerals_heard(text, spoken), spoken)
        text = self._joined(fluent(said, spoken), spoken, area)
        if lexicon(spoken).corrected(text):
            return Decision(route="documents", reason="it corrects itself", language=spoken)
        match = self._matched(text, spoken, area_name)
        match = self._of_the_house(match, text, spoken) if match else None
        by_grammar = decided(match, self._tools, snapshot, area, spoken) if match else None
        by_grammar = of_what_is_set(by_grammar, text) if by_grammar else None
        if match and by_grammar and self._is_misread(match, by_grammar, text, spoken):
            match = by_grammar = None
        tells = match is not None and match.intent == "HassGetState" and asks_nothing(text, spoken)
        if tells and lexicon(spoken).implied(text):
            by_grammar = None  # "the front door isn't locked" is a complaint
        if match and by_grammar and by_grammar.call and not match.free and not tells:
            return by_grammar
        by_words = self._from_words(text, snapshot, area, spoken)
        if by_words and (wonders(text, spoken) or by_words.tool in lexicon(spoken).stated(text)):
            by_words = None  # "and the skylight is shut" shuts nothing
        if by_words and (why := self._contradicted(by_words, text)):
            return Decision(route="documents", reason=why, language=spoken)
        reason = "no sentence of the grammar, and words that no command explains"
        nothing = Decision(route="documents", reason=reason, language=spoken)
        asked = None if by_grammar and by_grammar.call else self._from_question(text, spoken, area)
        # Words that are all known tell more than a sentence that leaves room for any text.
        return by_words or asked or by_grammar or nothing

    def _matched(self, text: str, language: str, area_name: str) -> Match | None:
        """The grammar's reading of what was said, or of what is left without politeness.

        A reading without free text is better than one with it: "would you" is no part of an item.
        """
        known = lexicon(language)
        stripped = known.stripped(text)
        fixed = known.fixed(stripped) if known.fixed(stripped) != stripped else None
        free: Match | None = None
        whole: Match | None = None  # the first with free text, be it a clause
        for said, asked in forms(text, language):
            match = self._match(said, language, area_name, text)
            if match and ((asked and not self._tells(match)) or untimely(match, language)):
                continue
            if match and not match.free:
                return match
            if match is None:
                continue
            better = free is None or (
                len(free_text(match)) <= len(free_text(free))  # "egg", not "at the egg"
                and (match.intent in self._tools or politer(match, free))
                and not (said == fixed and rewrites(match, free))
            )
            if whole and tool_of(match) == tool_of(whole) and worn(match, whole):
                better = free is None and thinks_aloud(whole, match, language)
            whole = whole or match
            if tool_of(match) in OF_WORDS and known.is_clause(free_text(match)):
                continue  # "what d'you call it" is on no list
            if better or put_right(match, free, said == fixed, language):
                free = match
        return free

    def _of_the_house(self, match: Match, text: str, language: str) -> Match:
        """A reading of all things of a kind, which the sentences of some languages take for those
        of the room where it is said."""
        if language not in ALL_LIKE_HERE or not match.here or _PLACED & match.slots.keys():
            return match
        whole = self.mentions(text, language).everything and not lexicon(language).is_here(text)
        return match._replace(everything=whole)

    def _match(self, said: str, language: str, area_name: str, original: str) -> Match | None:
        """As `Grammar.match`: an utterance and its parts are looked at several times."""
        asked = said, language, area_name, original
        if len(self._matches) >= REMEMBERED:
            self._matches = {}  # not emptied: another thread may be looking
        matches = self._matches
        if asked not in matches:
            grammar = self._grammar(language)
            matches[asked] = grammar.match(said, self._names, area_name, original, self._fits)
        return matches[asked]

    def _tells(self, match: Match) -> bool:
        """Whether a reading asks for something, and does nothing."""
        tool = self._tools.get(tool_of(match))
        return tool is not None and tool.risk == "read" and match.intent not in intents.TURN

    def _is_misread(self, match: Match, decision: Decision, text: str, language: str) -> bool:
        home = House(self._snapshot(), self.phrases(language), self.mentions)
        return is_misread(match, decision, self._tools[decision.tool or ""], text, language, home)

    def _spoken(self, text: str, language: str | None) -> str:
        if language:
            short = language.replace("_", "-").partition("-")[0].lower()
            return short if short in LANGUAGES else "en"
        if self._sentence_words is None:
            self._sentence_words = sentence_words(self._files)
        return language_of(text, self._languages, self._sentence_words)

    def _grammar(self, language: str) -> Grammar:
        if language not in self._grammars:
            self._grammars[language] = compiled(language, self._files)
        return self._grammars[language]

    def _refresh(self, snapshot: Snapshot) -> None:
        if self._names.version != snapshot.version:
            self._names, self._matches, self._mentions = Names(snapshot), {}, {}
            self._phrases, self._compounds, self._vocabularies = {}, {}, {}
            self._paraphrases, self._named = {}, {}

    def with_verb(self, text: str, verb_of: str, language: str, area: str) -> Decision:
        """The decision on ``text``, which names things alone, with the verb of another text."""
        snapshot = self._snapshot()
        verbs = self.mentions(verb_of, language).actions
        place = Names.area(snapshot, area) if area else None
        found = self._from_words(text, snapshot, place.id if place else "", language, verbs)
        return found or Decision(route="documents", reason="no verb of its own", language=language)

    def _from_words(
        self,
        text: str,
        snapshot: Snapshot,
        area: str,
        language: str,
        verbs: frozenset[str] = frozenset(),
    ) -> Decision | None:
        known = lexicon(language)
        said = known.fixed(known.stripped(text))
        if known.negates(said) or known.asks(said) or known.keeps(text):
            return None
        if known.times(digits(plain(said), language)):
            return None
        reading = words.read(said, known, self.phrases(language))
        if reading and reading.names and reading.areas and self.names_apart(text, language):
            return None
        if reading is not None and verbs:
            reading = reading._replace(actions=verbs)
        composed = compose(reading, snapshot, area) if reading else None
        if reading is None or composed is None or composed.tool not in self._tools:
            return None
        call = ToolCall(
            tool=composed.tool, arguments={**composed.arguments, "entities": composed.targets.ids}
        )
        decision = Decision(
            route="words",
            tool=composed.tool,
            entities=composed.targets.ids,
            arguments={**composed.slots, **composed.arguments},
            score=reading.score,
            reason="every word is known: " + ", ".join(sorted(reading.actions) or ["no verb"]),
            call=call,
            language=language,
        )
        asked = self.asking(decision, composed.targets)
        if composed.sweeping and asked.asks is None:
            reason = f"{decision.reason}; it is a great deal at once"
            return msgspec.structs.replace(asked, asks="confirm", reason=reason)
        return asked

    def names_apart(self, text: str, language: str) -> bool:
        """Whether a room is named by itself beside a thing: "the kitchen, and the radio too" is not
        the radio in the kitchen. Of "the bathroom's steamed up" more is said than its name."""
        said = [self.mentions(part, language) for part in JOINTS.split(plain(text))]
        rooms = any(one.areas and not (one.names or one.nouns or one.unknown) for one in said)
        return rooms and any(one.names and not one.areas for one in said)

    def _from_question(self, text: str, language: str, area: str) -> Decision | None:
        """The decision on a question for the state of one thing."""
        said = self.mentions(text, language)
        if said.rooms_not_here or (said.actions and REQUESTS.search(text)):
            return None  # "the blind, could you open it?"
        found = asked_state(text, said, self._snapshot(), lexicon(language), area)
        if not found or STATE not in self._tools:
            return None
        ids = [entity.id for entity in found]
        quantity = quantity_in(text, lexicon(language))
        tells_it = all(measured(entity, quantity) is not None for entity in found)
        asked = {"state": quantity} if tells_it else {}
        return Decision(
            route="words",
            tool=STATE,
            entities=ids,
            score=words.SCORE_QUESTION,
            reason="it asks for the state of one thing",
            call=ToolCall(tool=STATE, arguments={"entities": ids, **asked}),
            language=language,
        )

    def by_names(self, text: str, language: str, area: str = "") -> str:
        """``text``, a polite clause as its command, with things by the names that they have here;
        area: of that id or name."""
        if len(text) > MAXIMUM_UTTERANCE:
            return text
        text = wished(commanded(owned_up(text, language), language), language)
        known, snapshot = lexicon(language), self._snapshot()
        self._refresh(snapshot)
        text = of_who_is_named(in_own_room(text, snapshot, language), snapshot, language)
        text = locked_up(text, snapshot) if language == "zh" else text
        text = sent_by_name(text, snapshot, language)
        text = as_command(text, known, self.phrases(language))
        if (others := self._paraphrases.get(language)) is None:  # another thread may ask as well
            self._paraphrases[language] = others = paraphrases_of(snapshot, known)
        place = Names.area(snapshot, area) if area else None
        text = placed(text, snapshot, known, self.phrases(language))
        return renamed(text, place.id if place else "", others, known)

    def _joined(self, text: str, language: str, area: str = "") -> str:
        """``text`` with the compounds together that were heard apart and things by their names,
        without the person for whom something shall be done."""
        text = without_receiver(text, lexicon(language), self._snapshot())
        text = self.by_names(text, language, area)
        if language not in COMPOUNDING:
            return text
        if language not in self._compounds:
            more = (self._sentence_words or {}).get(language, frozenset())
            more |= lexicon(language).compounds
            whole = {phrase.rstrip("$") for phrase in self.phrases(language)}
            parts = {word for phrase in whole for word in phrase.split()}
            self._compounds[language] = frozenset(whole | parts | more | lexicon(language).words)
        return words.joined(text, self._compounds[language])

    def reworded(self, text: str, language: str) -> list[str]:
        """What ``text``, which nothing explains, may have been meant as, likeliest first."""
        known, phrases = lexicon(language), self.phrases(language)
        if rooms_not_here(text, known, phrases):
            return []  # without the room it would be about this one
        # What is told to be so was heard rightly: 棚子还收起的 is no 棚子换首起的.
        told = known.stated(text)
        meant = "" if told else otherwise(text, known, self.vocabulary(language))
        meant = "" if self._is_far_fetched(meant, text, known) else meant
        said = [text, meant] if meant else [text]
        found = [one for form in said for one in rewordings(form, known, phrases)]
        return [meant, *found] if meant else found

    def _is_far_fetched(self, meant: str, text: str, known: Lexicon) -> bool:
        """Whether ``meant`` would change a thing and names none, and what is left of ``text`` there
        says nothing either: 朵朵，换鞋 is no 黄些."""
        if known.spaces or not meant:
            return False
        said = self.mentions(meant, known.language)
        left = "".join(one for one in text if one in meant)
        named = said.names or said.areas or said.nouns or said.subjects
        changes = said.actions or said.colors
        return bool(changes) and not (named or known.actions_in(left) or known.colors_in(left))

    def heard_as(self, text: str, language: str, *, exactly: bool) -> list[str]:
        """What ``text``, which nothing explains, may have been before speech recognition made
        several words of one, likeliest first; exactly: what sounds the same."""
        known, phrases = lexicon(language), self.phrases(language)
        if known.negates(text) or rooms_not_here(text, known, phrases):
            return []
        if language not in self._named:
            self._named[language] = garbled.named(phrases, known)
        vocabulary, names = self.vocabulary(language), self._named[language]
        return garbled.forms(text, known, vocabulary, names, exactly=exactly)

    def vocabulary(self, language: str) -> Vocabulary:
        """The words that an utterance may be made of here."""
        if language not in self._vocabularies:
            more = (self._sentence_words or {}).get(LANGUAGES[language], frozenset())
            self._vocabularies[language] = vocabulary_of(
                lexicon(language), self.phrases(language), more
            )
        return self._vocabularies[language]

    def knows(self, tool: str) -> bool:
        """Whether there is such a tool."""
        return tool in self._tools

    def phrases(self, language: str) -> words.Phrases:
        """Every phrase that is known in a language, the household's names among them."""
        snapshot = self._snapshot()
        self._refresh(snapshot)
        if (known := self._phrases.get(language)) is None:  # another thread may ask as well
            self._phrases[language] = known = words.phrases_of(snapshot, lexicon(language))
        return known

    def asking(self, decision: Decision, found: Targets) -> Decision:
        """The decision with what has to be asked back first."""
        return asking(decision, found, self._tools, self._snapshot())

    def _contradicted(self, decision: Decision, text: str) -> str:
        """Why a decision that rests on single words must not stand, or an empty string."""
        tool = self._tools[decision.tool] if decision.tool else None
        if tool is None or tool.risk == "read":
            return ""
        if tool.name == "home.turn_off" and on_and_off(text, decision.language):
            return "it says on and off"
        known = lexicon(decision.language)
        said = known.fixed(known.stripped(text))
        return contradiction(tool.name, said, decision.arguments, known)


def _without_mark(found: Decision) -> Decision:
    """What is left for later, without the mark of the polite question that asked for it."""
    said = str(found.call.arguments.get("command", "")) if found.call else ""
    command = said.rstrip("?？ ")
    if found.call is None or command == said:
        return found
    call = msgspec.structs.replace(
        found.call, arguments={**found.call.arguments, "command": command}
    )
    return msgspec.structs.replace(found, call=call)
