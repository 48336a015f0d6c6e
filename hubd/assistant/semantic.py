"""What an utterance means by its likeness to examples, where neither grammar nor words explain it.

An intent counts only above a confidence that was calibrated on sentences other than those it is
measured with, where things and values can be filled in by name, and where the polarity guard has
nothing against it. Without an embedder this step is left out.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

from hubd.assistant.fill import Filled, fill
from hubd.assistant.follow import PRONOUNS
from hubd.assistant.lexicon import Lexicon, lexicon
from hubd.assistant.likeness import (
    Classifier,
    Guess,
    Vectors,
    examples_of,
    intents_of,
    opposed,
    vocabulary,
)
from hubd.assistant.mentions import Mentions
from hubd.assistant.names import Names
from hubd.assistant.polarity import OPPOSITE, contradiction
from hubd.assistant.route import Decision, Router
from hubd.assistant.supported import has_verb
from plugins.api import Tool, ToolCall
from rag.errors import EmbedderError

log = logging.getLogger(__name__)

ACCEPTED = 0.5
"""The confidence from which an intent counts whose things are named; docs/assistant.md has the
curve that it was chosen from."""
ACCEPTED_UNSPOKEN = 0.75
"""The same where no known verb is said, or only the asking device's room tells what is meant."""
MOST_STRANGE = 2
"""Words that neither the household, the lexicon nor the intent's examples know, in an utterance
that names its things. Where none is named, and in a question, every word has to be known: "which
day is the museum trip" is like "which day is it"."""
SWITCHING = frozenset({"on", "off", "open", "close", "lock", "unlock", "toggle", "stop"})
MOST_OPPOSED = 0.25
"""How likely the opposite may be, as a part of the likeliest."""
PATIENCE_S = 5.0
"""For a vector; an encoder that has to load first takes a second."""
FITTING_S = 120.0
"""Half a thousand examples take a second, after the encoder's own start."""

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]


class Semantics:
    """The classifiers of all languages that have examples."""

    def __init__(
        self,
        embed: Embed,
        router: Router,
        tools: Sequence[Tool],
        classifiers: dict[str, Classifier] | None = None,
    ) -> None:
        """classifiers: by language; several households may share them."""
        self._embed = embed
        self._router = router
        self._tools = {tool.name: tool for tool in tools}
        self._classifiers = {} if classifiers is None else classifiers
        self._fitting: asyncio.Task[None] | None = None

    async def prepare(self, language: str = "en") -> None:
        """Embed the examples and fit, so that the first utterance need not wait.

        Raises:
            EmbedderError: there are no vectors.
        """
        if language in self._classifiers or not intents_of(language):
            return
        if self._fitting is None or self._fitting.done():
            self._fitting = asyncio.create_task(self._fit(language))
        # Who does not want to wait leaves; the next one finds it done.
        await asyncio.shield(self._fitting)

    async def close(self) -> None:
        """End the fitting, if one goes on."""
        if self._fitting is not None:
            self._fitting.cancel()
            await asyncio.gather(self._fitting, return_exceptions=True)

    async def _fit(self, language: str) -> None:
        async with asyncio.timeout(FITTING_S):
            vectors = await self._embed(await asyncio.to_thread(examples_of, language))
            self._classifiers[language] = await asyncio.to_thread(
                Classifier, intents_of(language), vectors
            )

    async def guesses(self, text: str, language: str) -> list[Guess]:
        """All intents, likeliest first; empty where there are no examples or no vectors."""
        if not intents_of(language):
            return []
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self.prepare(language)
                masked = await asyncio.to_thread(self._router.masked, text, language)
                if not masked:
                    return []  # nothing but politeness
                vector = (await self._embed([masked]))[0]
        except (EmbedderError, TimeoutError) as error:
            log.info("no vector for an utterance: %s", error or "it took too long")
            return []
        return self._classifiers[language].guesses(vector)

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
        if known.negates(known.stripped(text)):
            return None
        guesses = await self.guesses(text, language)
        if not guesses or guesses[0].intent.tool not in self._tools:
            return None
        said = await asyncio.to_thread(self._router.mentions, text, language)
        snapshot = self._router.snapshot()
        place = Names.area(snapshot, area) if area else None
        filled = fill(guesses[0].intent, said, snapshot, place.id if place else "")
        if filled is None or not self._acceptable(guesses, filled, said, text, language):
            return None
        return self._router.asking(_decision(guesses[0], filled, language), filled.targets)

    def _acceptable(
        self, guesses: Sequence[Guess], filled: Filled, said: Mentions, text: str, language: str
    ) -> bool:
        """Whether the likeliest intent is sure enough, and nothing speaks against it."""
        guess, known = guesses[0], lexicon(language)
        spoken = filled.named and has_verb(filled.call.tool, said, filled.call.arguments)
        if guess.confidence < (ACCEPTED if spoken else ACCEPTED_UNSPOKEN):
            return False
        reads = self._tools[guess.intent.tool].risk == "read"
        strange = set(said.unknown) - vocabulary(guess.intent.tool, language)
        if len(strange) > (0 if reads else _strange_allowed(said)):
            return False
        if reads:
            return True
        against = sum(g.confidence for g in guesses if opposed(g.intent, guess.intent))
        if against > MOST_OPPOSED * guess.confidence:
            return False
        return _says_so(filled.call, said, text, known)


def _strange_allowed(said: Mentions) -> int:
    return MOST_STRANGE if said.names else 1 if said.areas else 0


def _says_so(call: ToolCall, said: Mentions, text: str, known: Lexicon) -> bool:
    """Whether the words allow to act: it is no question, no name alone, the verb that is said is
    the tool's and no other, and "it" is not something of another conversation."""
    if said.is_bare or known.inquires(said.text):
        return False
    if contradiction(call.tool, text, call.arguments, known):
        return False
    if said.actions & OPPOSITE.get(call.tool, set()):
        return False  # "on off"
    if said.actions and not has_verb(call.tool, said, call.arguments):
        return False  # "turn on the sauna" makes nothing cooler
    points_back = said.actions & SWITCHING and PRONOUNS.search(said.text)
    return bool(said.names) or not points_back


def _decision(guess: Guess, filled: Filled, language: str) -> Decision:
    arguments = {k: v for k, v in filled.call.arguments.items() if k != "entities"}
    return Decision(
        route="semantic",
        tool=guess.intent.tool,
        entities=filled.targets.ids,
        arguments=arguments,
        score=round(guess.confidence, 2),
        reason=f"it is like the examples of {guess.intent.tool}",
        call=filled.call,
        language=language,
    )
