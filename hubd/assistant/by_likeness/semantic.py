"""What an utterance means by its likeness to examples, where neither grammar nor words explain it.

An intent counts only above a confidence that was calibrated on sentences other than those it is
measured with, where things and values can be filled in by name, and where the polarity guard has
nothing against it. Without an embedder this step is left out.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from hubd.assistant.by_likeness import last_resort
from hubd.assistant.by_likeness.candidates import (
    Heard,
    decision_of,
    is_called_otherwise,
    scaled,
    weighed,
    with_last_value,
)
from hubd.assistant.by_likeness.conditions import (
    KEPT,
    SURE,
    Candidate,
    acceptable,
    agrees,
    inquires,
    is_implied,
    is_in_its_room,
    names_another,
    sounds_like_others,
)
from hubd.assistant.by_likeness.proposals import (
    QUESTIONS,
    changes,
    may_wish,
    phrase,
    without_report,
    worth_asking,
    worth_telling,
)
from hubd.assistant.by_likeness.second_opinion import contradicted
from hubd.assistant.by_likeness.wording import (
    ON_A_PLAYER,
    SLOTS,
    adds_goods,
    is_plain,
    later_command,
    may_be_meant,
    worded_call,
)
from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.follow import asks_if_so
from hubd.assistant.for_later.later import LATER
from hubd.assistant.matched import of_what_is_set
from hubd.assistant.route import Router
from hubd.assistant.understanding.fill import Filled, fill, narrowed
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.likeness import (
    ENCODED,
    Classifier,
    Guess,
    classifier_of,
    intents_of,
)
from hubd.assistant.understanding.loudness import louder_or_softer
from hubd.assistant.understanding.mentions import Mentions, without_bystanders
from hubd.assistant.understanding.names import Names
from hubd.assistant.understanding.ngrams import Vectors
from hubd.assistant.understanding.polarity import on_and_off
from hubd.assistant.understanding.readings import wonders
from hubd.assistant.understanding.reasons import without_reasons
from hubd.assistant.understanding.still import wonders_at_it
from hubd.assistant.understanding.supposed import supposed
from hubd.assistant.understanding.targets import Targets
from hubd.assistant.understanding.worded import model_of, parts_in
from hubd.memory import lasting
from plugins.api import Tool
from rag.errors import EmbedderError

log = logging.getLogger(__name__)

ALARM = "alarms.set"
GOES_ON = re.compile(
    r"\s*(?:(?:and|und)\b|[那还]|(?:the|der|die|das|den) (?:one )?(?:at|um)\b)", re.I
)
"""What is said of something else: "and tomorrow too", "the one at eight"."""
VOLUME = "media.change_volume"
PLAIN = frozenset({"home.turn_on", "home.turn_off", "home.open", "home.close"})
"""Tools that have no use for a number."""
PUT_DOWN = frozenset({"lists.add", "lists.remove"})
"""Tools of which a reason has no part: "strike the tomatoes off, since Mavis has given us hers"."""
LEAST = 0.2
"""How likely an intent has to be before the words rule out others."""
SUPPOSED = 0.7
"""How likely an intent is at least that is asked about where what it is about is not said."""
LEAST_WORDED = 0.5
"""The same of what is about words and times."""
OVERRULES = 0.8
"""From which on the wording is surer than the likeness to examples."""
_WHICH_ONE = re.compile(r"\b(?:the|that) (?:\w+ ){1,2}one\b")
"""What says which, by a name that is none here: "stop that blind, the rose window one"."""
PATIENCE_S = 5.0
"""For a vector; an encoder that has to load first takes a second."""

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]


class Semantics:
    """The classifiers of all languages that have examples."""

    def __init__(
        self,
        embed: Embed,
        router: Router,
        tools: Sequence[Tool],
        classifiers: dict[str, Classifier] | None = None,
        *,
        proposes: bool = True,
    ) -> None:
        """classifiers: by language; several households may share them. proposes: whether what is
        only likely is asked for, before a language model is asked."""
        self._proposes = proposes
        self._embed = embed
        self._router = router
        self._tools = {tool.name: tool for tool in tools}
        self._classifiers = {} if classifiers is None else classifiers
        self._loading = asyncio.Lock()
        self._last: tuple[object, tuple[str, Vectors | None] | None] = None, None
        """The utterance that was looked at last, in which language and household."""

    async def prepare(self, language: str = "en") -> None:
        """Load what was fitted to a language's examples, so that no utterance waits for it."""
        if language in self._classifiers or not await _has_examples(language):
            return
        async with self._loading:
            if language not in self._classifiers:
                self._classifiers[language] = await asyncio.to_thread(_loaded, language)

    async def guesses(self, text: str, language: str) -> list[Guess]:
        """All intents, likeliest first; empty where there are no examples or no vectors."""
        if (seen := await self._seen(text, language)) is None:
            return []
        return self._classifiers[language].guesses(*seen)

    async def _seen(self, text: str, language: str) -> tuple[str, Vectors | None] | None:
        """``text`` masked, and its vector where there is an encoder for the language; ``None``
        where there are no examples, no vectors, or nothing is said but politeness."""
        if language not in self._classifiers and not await _has_examples(language):
            return None
        asked = text, language, self._router.snapshot().version
        if self._last[0] == asked:  # an utterance is looked at several times, 5 ms each
            return self._last[1]
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self.prepare(language)
                masked = await asyncio.to_thread(self._router.masked, text, language)
                if not masked:
                    return None
                vector = (await self._embed([masked]))[0] if language in ENCODED else None
        except (EmbedderError, TimeoutError) as error:
            log.info("no vector for an utterance: %s", error or "it took too long")
            return None
        self._last = asked, (masked, vector)
        return masked, vector

    async def chances(self, text: str, language: str) -> dict[str, float]:
        """Tool → how likely it is meant, by its examples and by the wording: the mean of the two
        where both know a tool. Empty where there are no examples."""
        model = await asyncio.to_thread(model_of, language)
        seen = await self._seen(text, language)
        if model is None or seen is None:
            return {}
        worded = dict(await asyncio.to_thread(model.likely, *seen))
        likened = await self.similar(text, language)
        return {tool: (p + likened.get(tool, p)) / 2 for tool, p in worded.items()}

    async def similar(self, text: str, language: str) -> Mapping[str, float]:
        """Tool → how likely it is meant, for those who choose among tools."""
        found: dict[str, float] = {}
        for guess in await self.guesses(text, language):
            tool = guess.intent.tool
            found[tool] = found.get(tool, 0.0) + guess.confidence
        return found

    async def decide(self, text: str, language: str, area: str) -> Decision | None:
        """The decision on ``text``; ``None`` where nothing is like it enough."""
        known = lexicon(language)
        if known.keeps(known.without_implied(text)) or known.is_elsewhere(text):
            return None
        if known.corrected(text):
            return None
        rest = known.without_implied(known.fixed(known.stripped(text)))
        negated = known.negates(rest)
        if negated and known.forbids(text):
            return None
        heard = await self._heard(text, language, area)
        if heard is None:
            return None
        said, guesses = heard.said, heard.guesses
        verbal = known.without_implied(said.unnamed) if negated else ""
        if known.actions_in(known.without_stated(verbal)):
            return None
        if inquires(said, known) or asks_if_so(text):
            guesses = self._telling(guesses)
        found = self._likeliest(heard._replace(guesses=guesses), language)
        if found is None:
            return None
        if await self._is_of_words(text, language, found.filled.call.tool):
            return None  # "bread and bananas for the shopping list" is no question for the list
        tool = found.guess.intent.tool
        reads = self._reads(tool)
        if not acceptable(guesses, found, said, language, reads=reads):
            return None
        if reads and wonders_at_it(text, language):
            return None
        works = not reads and bool(found.filled.targets.entities)
        if works and (is_called_otherwise(said) or _WHICH_ONE.search(said.text)):
            return None
        if works and not said.names and any(map(known.commands, said.unknown)):
            return None  # "turn off the set lamp" is one that is called so, and not all of them
        if works and sounds_like_others(said, heard.snapshot):
            return None
        if works and known.spaces and names_another(found, said, heard.snapshot):
            return None
        if works and is_in_its_room(found.filled, said, heard.snapshot, known):
            return None
        if tool in PLAIN and said.numbers:
            return None  # "开个三成" is a third, and not all the way
        if found.filled.call.tool in known.stated(text):
            return None  # "the tomatoes wilt and the awning is still in": not that it shall be
        if found.filled.call.tool == "home.turn_off" and on_and_off(text, language):
            return None
        if negated and found.confidence < SURE:
            return None  # "can't see my hand in front of my face" says so; what says less may not
        if not reads and wonders(text, language):
            return None
        if reads and tool.startswith(KEPT) and known.asks_how_it_works(text):
            return None  # "how do I turn the alarm off": that stands in a manual
        found = found._replace(filled=narrowed(found.filled, said))
        if len({entity.domain for entity in found.filled.targets.entities}) > 1 and not said.names:
            return None  # the flowers are dry: the water shall be on, and not the awning out
        decision = self._router.asking(decision_of(found, language), found.filled.targets)
        decision = of_what_is_set(self._router.by_a_bit(decision, text), text)
        chances = await self.chances(text, language)
        return None if not reads and contradicted(decision, text, chances) else decision

    async def propose(self, text: str, language: str, area: str) -> Decision | None:
        """What ``text``, which nothing else explains, is likest to ask for, to be asked back."""
        known = lexicon(language)
        if not self._proposes or language not in QUESTIONS:
            return None
        heard = await self._heard(text, language, area)
        if heard is None:
            return None
        if worded := await self._worded(text, language, heard):
            return worded
        found = self._supposed(heard, language) or self._first_filled(heard, language)
        likeliest = heard.guesses[0]
        if found is None or (likeliest.confidence >= SUPPOSED and found.guess is not likeliest):
            return None  # "the bathroom's all lit up" where it is dark is no wish for the vacuum
        none = sum(g.confidence for g in heard.guesses if g.intent.tool not in self._tools)
        likely = (await self.chances(text, language)).get(found.filled.call.tool, 0.0)
        decision = self._router.asking(decision_of(found, language), found.filled.targets)
        slight = self._router.by_a_bit(decision, text)
        things = found.filled.targets.entities
        if slight.call is None or phrase(slight.call, things, language) is not None:
            decision = slight  # else it could not be asked whether it is meant so
        if self._reads(found.filled.call.tool):
            if wonders_at_it(text, language):
                return None
            told = worth_telling(found, none, likely, text, heard.said, known)
            if not told or decision.asks or known.corrected(text):
                return None
            of_words = await self._is_of_words(text, language, found.filled.call.tool)
            return None if of_words else decision
        # "In her room" is somebody else's, unless Nana has one here.
        wish = await asyncio.to_thread(self._router.by_names, text, language, area)
        if is_implied(found.guess.intent, heard.said):
            wish = without_report(wish, language)
        if not may_wish(wish, known) or wonders(text, language):
            return None
        if not worth_asking(found, none, likely, heard.said, known):
            return None
        if decision.asks:
            return None  # what is dangerous is said in so many words, or not done
        reason = f"{decision.reason}, but not so that it could be done unasked"
        return msgspec.structs.replace(decision, asks="confirm", proposed=True, reason=reason)

    async def _worded(self, text: str, language: str, heard: Heard) -> Decision | None:
        """What is about words and times: told or done where it is sure, else asked back."""
        tool, chance = await self._wording(text, language)
        if tool not in self._tools or chance < LEAST_WORDED:
            return None
        told = without_reasons(text, lexicon(language)) if tool in PUT_DOWN else ""
        parts = await asyncio.to_thread(parts_in, told or text, tool, language)
        found = worded_call(
            self._tools[tool], parts, heard.said, heard.snapshot, heard.area, language
        )
        if found is None or not (self._reads(tool) or may_be_meant(tool, text, language)):
            return None
        if _goes_on_with_none(tool, text, heard.said):
            return None
        if self._reads(tool) and chance < OVERRULES and ("?" in text or "？" in text):
            return None  # "what do you say, pizza or pasta?" may be asked of somebody else
        elsewhere = found.targets.entities and not heard.said.names and ON_A_PLAYER.search(text)
        plain = is_plain(tool, text, language) or adds_goods(found.call, text, language)
        unsure = chance < SURE or elsewhere or not plain
        asked = not self._reads(tool) and unsure
        if asked and phrase(found.call, found.targets.entities, language) is None:
            return None
        decision = Decision(
            route="semantic",
            tool=tool,
            entities=found.targets.ids,
            arguments={k: v for k, v in found.call.arguments.items() if k != "entities"},
            score=round(chance, 2),
            reason=f"it is worded like the examples of {tool}",
            call=found.call,
            language=language,
        )
        if asked:
            return msgspec.structs.replace(decision, asks="confirm", proposed=True)
        return self._router.asking(decision, found.targets)

    async def last_resort(self, text: str, language: str, area: str) -> Decision | None:
        """What a long ``text``, of which nothing else was made, is surely like: told, or to be
        asked about."""
        if not self._proposes or language not in QUESTIONS:
            return None
        chances = await self.chances(text, language)
        tool = max(chances, key=chances.__getitem__, default="")
        heard = await self._heard(text, language, area)
        if heard is None:
            return None
        # "In her room" is somebody else's, unless Nana has one here.
        said = await asyncio.to_thread(self._router.by_names, text, language, area)
        wishes = last_resort.may_be_asked(said, lexicon(language))
        other = last_resort.otherwise(text, heard.said, heard.snapshot, language)
        if other and (wishes or wonders_at_it(text, language)):
            return self._asked(*other)
        if tool in self._tools and self._reads(tool):
            found = last_resort.told(tool, chances[tool], heard, text, language)
            return decision_of(found, language) if found else None
        if _goes_on_with_none(tool, text, heard.said):
            return None
        if not wishes or tool not in self._tools or chances[tool] < last_resort.LEAST:
            return None
        found = last_resort.candidate(tool, chances[tool], heard, language)
        return self._asked(decision_of(found, language), found.filled.targets) if found else None

    def _asked(self, decision: Decision, targets: Targets) -> Decision | None:
        """The decision, to be asked about; ``None`` of what is dangerous: that is said in so many
        words, or not done."""
        if self._router.asking(decision, targets).asks:
            return None
        reason = f"{decision.reason}, but with much besides that nothing explains"
        return msgspec.structs.replace(decision, asks="confirm", proposed=True, reason=reason)

    async def left_for_later(self, text: str, language: str) -> tuple[str, str] | None:
        """The command and its time where ``text`` asks for something to be done later; ``None``
        where it does not."""
        tool, chance = await self._wording(text, language)
        if tool != LATER or chance < LEAST_WORDED:
            return None
        parts = await asyncio.to_thread(parts_in, text, tool, language)
        return later_command(text, parts, language)

    async def _is_of_words(self, text: str, language: str, tool: str) -> bool:
        """Whether the wording says that ``tool`` is not meant, but one of words and times."""
        other, chance = await self._wording(text, language)
        return other != tool and (other in SLOTS or other == LATER) and chance >= OVERRULES

    async def _wording(self, text: str, language: str) -> tuple[str, float]:
        """The likeliest tool by the wording, and how likely it is."""
        model = await asyncio.to_thread(model_of, language)
        seen = await self._seen(text, language)
        if model is None or seen is None:
            return "", 0.0
        return (await asyncio.to_thread(model.likely, *seen))[0]

    async def _heard(self, text: str, language: str, area: str) -> Heard | None:
        """What ``text`` speaks of and may mean; ``None`` where there are no examples."""
        guesses = await self.guesses(text, language)
        if not guesses:
            return None
        said = await asyncio.to_thread(self._router.mentions, text, language)
        snapshot = self._router.snapshot()
        said = without_bystanders(said, snapshot, lexicon(language))
        place = Names.area(snapshot, area) if area else None
        guesses = _the_right_way(guesses, louder_or_softer(text, language))
        return Heard(weighed(guesses, said), said, snapshot, place.id if place else "")

    def _first_filled(self, heard: Heard, language: str) -> Candidate | None:
        """The likeliest of the intents that can be meant here, and would change something."""
        best: tuple[Guess, Filled] | None = None
        left = 0.0
        for guess in heard.guesses:
            tool = guess.intent.tool
            filled = None
            if tool in self._tools:
                filled = with_last_value(guess.intent, heard, language)
                if filled is None or not changes(filled):
                    continue
            left += guess.confidence
            if best is None and filled is not None:
                best = guess, filled
        return Candidate(*best, best[0].confidence / left) if best else None

    def _supposed(self, heard: Heard, language: str) -> Candidate | None:
        """The likeliest intent, about what is likeliest meant, where it is not said."""
        guess = heard.guesses[0]
        if guess.confidence < SUPPOSED or guess.intent.tool not in self._tools:
            return None
        if fill(guess.intent, heard.said, heard.snapshot, heard.area, language):
            return None
        filled = supposed(guess.intent, heard.said, heard.snapshot, heard.area, language)
        return Candidate(guess, filled, guess.confidence) if filled else None

    def _reads(self, tool: str) -> bool:
        """Whether a tool only tells something."""
        return self._tools[tool].risk == "read"

    def _telling(self, guesses: Sequence[Guess]) -> list[Guess]:
        """What a question may mean: nothing that acts."""
        telling = [
            guess
            for guess in guesses
            if guess.intent.tool not in self._tools or self._reads(guess.intent.tool)
        ]
        return scaled(telling, [guess.confidence for guess in telling])

    def _likeliest(self, heard: Heard, language: str) -> Candidate | None:
        """The likeliest of the intents that the words leave: what is named has to be something that
        the tool works, and the verb, if one is said, the tool's."""
        guesses, said, snapshot, area = heard
        best: tuple[Guess, Filled] | None = None
        left = 0.0
        for guess in guesses:
            if guess.intent.tool not in self._tools:
                left += guess.confidence
                if best is None and guess.confidence >= LEAST:
                    return None  # it is likest what no tool is asked for
                continue
            filled = fill(guess.intent, said, snapshot, area, language)
            if filled is None:
                continue
            asks = self._reads(filled.call.tool)  # which is always possible
            if not (asks or agrees(filled, said, snapshot, language)):
                continue
            left += guess.confidence
            if best is None:
                if guess.confidence < LEAST:
                    return None
                best = guess, filled
        if best is None:
            return None
        return Candidate(best[0], best[1], best[0].confidence / left)


def _the_right_way(guesses: list[Guess], way: str) -> list[Guess]:
    """The guesses without those that turn the volume the other way than is said."""
    if not way:
        return guesses
    fitting = [
        guess
        for guess in guesses
        if guess.intent.tool != VOLUME or guess.intent.arguments.get("step") in (way, None)
    ]
    return fitting or guesses


async def _has_examples(language: str) -> bool:
    """In a thread: reading them for the first time held the event loop for 31 ms."""
    return bool(await asyncio.to_thread(intents_of, language))


def _loaded(language: str) -> Classifier:
    with lasting():
        model_of(language)
        return classifier_of(language)


def _goes_on_with_none(tool: str, text: str, said: Mentions) -> bool:
    """Whether it would be an alarm, speaks of none and goes on with what nobody knows: "and at five
    tomorrow"."""
    return tool == ALARM and "alarms" not in said.subjects and GOES_ON.match(text) is not None
