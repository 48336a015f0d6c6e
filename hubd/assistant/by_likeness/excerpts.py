"""What asks for something in an utterance that nothing explains as a whole: the clauses that it
politely begins with, one clause among others, or all but a reason that a title took in.
"""

import asyncio
from typing import Protocol

from hubd.assistant.by_likeness.conditions import SURE
from hubd.assistant.by_likeness.hearing import WORDED
from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.decision import Decision, is_open, lacks
from hubd.assistant.for_later.later import LATER
from hubd.assistant.misread import OF_WORDS
from hubd.assistant.route import Router
from hubd.assistant.several import Part
from hubd.assistant.understanding.beside import beginnings, requested_first
from hubd.assistant.understanding.grammar import MAXIMUM_UTTERANCE
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.reasons import BREAK, without_reasons
from hubd.assistant.understanding.spans import spans
from hubd.tools import ToolBox

THANKS, ALARM = "help.welcome", "alarms.set"


class Rules(Protocol):
    """Who decides on a clause."""

    async def by_rules(self, text: str, language: str | None, area: str) -> Decision:
        """The decision by sentences and words, and by what plugins know."""
        ...

    async def by_sentences(self, text: str, language: str, area: str) -> Decision:
        """The decision by sentences and words alone."""
        ...

    async def for_later(self, decision: Decision, text: str, area: str) -> Decision:
        """The decision, or that on a command for later."""
        ...


class Excerpts:
    """Decides on parts of utterances, and does nothing."""

    def __init__(self, rules: Rules, tools: ToolBox, router: Router, semantics: Semantics) -> None:
        self._rules, self._tools = rules, tools
        self._router, self._semantics = router, semantics

    async def of_its_beginning(
        self, whole: Decision, text: str, area: str, *, sure: bool
    ) -> list[Part]:
        """The command that ``text`` politely begins with; empty where it does not.

        sure: whether what follows has to be its reason, else whether it may not be
        """
        if not (is_open(whole) or whole.tool == LATER) or len(text) > MAXIMUM_UTTERANCE:
            return []
        known, phrases = lexicon(whole.language), self._router.phrases(whole.language)
        for beginning in await asyncio.to_thread(list, beginnings(text, known, phrases)):
            if beginning.sure != sure:
                continue
            alone = await self._rules.by_rules(beginning.text, whole.language, area)
            alone = await self._rules.for_later(alone, beginning.text, area)
            part = Part(text=beginning.text, decision=alone)
            if sure and is_open(alone):
                likened = await self._semantics.decide(beginning.text, whole.language, area)
                if likened and likened.score >= SURE and not self.only_tells(likened):
                    return [Part(text=beginning.text, decision=likened)]
            free = alone.tool in WORDED and (not sure or BREAK.search(beginning.text) is not None)
            if not free and (self.acts(part) or (sure and self.answers(part))):
                return [part]
        return []

    async def of_thanks(self, text: str, language: str, area: str) -> Part | None:
        """Thanks that ``text`` begins with, where it goes on and asks for nothing."""
        known, gap = lexicon(language), BREAK.search(text)
        if gap is None or "?" in text or "？" in text:
            return None
        rest = known.stripped(text[gap.end() :])
        if known.inquires_first(rest) or known.commands(rest):
            return None
        thanks = await self._rules.by_sentences(text[: gap.start()], language, area)
        return Part(text=text, decision=thanks) if thanks.tool == THANKS else None

    async def without_its_reason(self, whole: Decision, text: str, area: str) -> Part | None:
        """The command alone, where a reason was taken for a part of the title or the item that was
        said, or made a question of it."""
        known, given = lexicon(whole.language), [str(said) for said in whole.arguments.values()]
        titled, asked = whole.tool in OF_WORDS, ""
        if titled:  # "… by Udo Jürgens? Grandma loves him": the title goes on into the reason
            phrases = self._router.phrases(whole.language)
            first = (one.text for one in beginnings(text, known, phrases) if one.sure)
            asked = requested_first(text, known, phrases) or next(first, "")
        in_pauses = any(comma in said for said in given for comma in ",，")
        taken_in = titled and (asked or in_pauses)
        taken_in = taken_in or (whole.tool == ALARM and in_pauses)
        if not (taken_in or (whole.route == "words" and self.only_tells(whole))):
            return None
        if not (said := asked or without_reasons(text, known)):
            return None
        alone = await self._rules.by_rules(said, whole.language, area)
        same = taken_in and alone.tool == whole.tool
        other = alone.tool not in WORDED and not self.only_tells(alone)
        return Part(text=said, decision=alone) if not lacks(alone) and (same or other) else None

    def only_tells(self, decision: Decision) -> bool:
        """Whether it tells something and does nothing."""
        return decision.tool is not None and self._tools.only_reads(decision.tool)

    def acts(self, part: Part) -> bool:
        """Whether something would be done that is asked for, and not only hinted at."""
        decision, known = part.decision, lexicon(part.decision.language)
        clear = decision.tool is not None and decision.asks in (None, "confirm")
        one = "," not in part.text and "，" not in part.text
        asked = decision.route != "semantic" or (one and known.commands(known.stripped(part.text)))
        return clear and asked and not self.only_tells(decision)

    def answers(self, part: Part) -> bool:
        """Whether it is a question in so many words that a tool answers."""
        decision, known = part.decision, lexicon(part.decision.language)
        clear = decision.asks is None and decision.route in ("grammar", "words")
        asked = known.inquires(known.stripped(part.text)) or not known.spaces
        return clear and asked and self.only_tells(decision)

    async def of_a_span(self, text: str, language: str, area: str) -> Part | None:
        """The one clause of ``text`` that asks for something, where the others say nothing."""
        known, phrases = lexicon(language), self._router.phrases(language)
        for span in await asyncio.to_thread(spans, text, known, phrases):
            found = await self._rules.by_sentences(span.text, language, area)
            if lacks(found) or found.tool is None or found.asks == "which":
                continue
            if span.guessed and not self._is_asked_for(found, span.text, known):
                continue
            if self._tools.only_reads(found.tool) or not span.tells:
                return Part(text=span.text, decision=found)
        return None

    def _is_asked_for(self, decision: Decision, said: str, known: Lexicon) -> bool:
        """Whether ``said`` asks for what was decided in so many words: it neither tells a state nor
        may be any free text."""
        asked = known.asks(said) or known.inquires(said)
        if self.only_tells(decision) and not asked:
            return False
        return decision.tool not in WORDED or known.commands(known.stripped(said))
