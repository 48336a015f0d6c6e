"""What may be meant where nothing of an utterance is understood for sure: it is asked back.

Also what the examples speak against, and what nothing here can wait for. Decides nothing alone.
"""

import asyncio
from typing import Protocol

import msgspec

from hubd.assistant.as_named import as_named
from hubd.assistant.by_likeness.excerpts import Excerpts
from hubd.assistant.by_likeness.misheard_things import heard_rightly
from hubd.assistant.by_likeness.reconsider import reconsidered
from hubd.assistant.by_likeness.second_opinion import asked_about
from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.days_left_out import without_days
from hubd.assistant.decision import Decision, declined, is_open
from hubd.assistant.follow_ups.other_places import with_place
from hubd.assistant.for_later import later
from hubd.assistant.joined.misjoined import is_given_up
from hubd.assistant.route import Router
from hubd.assistant.several import Part
from hubd.assistant.that_clauses import with_that
from hubd.assistant.understanding.awaited import awaited, is_limited
from hubd.assistant.understanding.grammar import MAXIMUM_UTTERANCE
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import Mentions
from hubd.assistant.understanding.of_papers import of_papers
from hubd.assistant.understanding.whose import where_said


class Rules(Protocol):
    """Who decides by rules."""

    async def parts(self, text: str, language: str | None, area: str) -> list[Part]:
        """The commands of a text."""
        ...

    async def mentions(self, text: str, language: str) -> Mentions:
        """What a text speaks of."""
        ...


class MayBeMeant:
    """Proposals, for all conversations."""

    def __init__(
        self, rules: Rules, router: Router, semantics: Semantics, excerpts: Excerpts
    ) -> None:
        self._rules, self._router = rules, router
        self._semantics, self._excerpts = semantics, excerpts

    async def with_proposal(
        self, parts: list[Part], text: str, area: str, *, continues: bool = False
    ) -> list[Part]:
        """The commands of ``text``; where nothing of it is understood, what may be meant, to be
        asked back, as is what the examples speak against. What shall wait for something that
        nothing here can watch is not asked about without that.

        continues: whether it goes on with what was said before ("and the bedroom"), and so is like
        no example
        """
        proposed = await self._proposed(parts, text, area, continues=continues)
        home = self._router.snapshot()
        found = [
            msgspec.structs.replace(one, decision=with_place(one.decision, one.text, home))
            for one in proposed
        ]
        decision, known = found[0].decision, lexicon(found[0].decision.language)
        guessed = is_open(decision) or decision.proposed or decision.route == "semantic"
        if len(found) > 1 or not guessed:
            return found
        if awaited(text, known):
            return [Part(text=text, decision=declined(decision.language, "not_awaited"))]
        if self._excerpts.only_tells(decision) and of_papers(text, decision.language):
            reason = "it asks for what stands in papers"
            nothing = Decision(route="documents", reason=reason, language=decision.language)
            return [Part(text=text, decision=nothing)]
        if decision.proposed and is_limited(text, decision.language):
            return [Part(text=text, decision=declined(decision.language, "declined"))]
        return found

    async def _proposed(
        self, parts: list[Part], text: str, area: str, *, continues: bool
    ) -> list[Part]:
        first, *further = parts
        if len(text) > MAXIMUM_UTTERANCE or without_days(text, first.decision.language):
            return parts
        language = first.decision.language
        area = where_said(text, language, area)
        if further or not is_open(first.decision):
            if continues:
                return parts
            home = self._router.snapshot()
            return await reconsidered(parts, self._semantics, self._excerpts.only_tells, home, area)
        if (left := await self._semantics.left_for_later(text, language)) is not None:
            return await self._left(*left, language, area) or parts
        proposal = await self._semantics.propose(text, language, area)
        if proposal is None or proposal.proposed:
            for part in await self._excerpts.of_its_beginning(
                first.decision, text, area, sure=False
            ):
                home = self._router.snapshot()
                decision = asked_about(part.decision, part.text, home)
                return [msgspec.structs.replace(part, decision=decision)]
        if proposal is None:
            if thanks := await self._excerpts.of_thanks(text, language, area):
                return [thanks]
            proposal = await self._semantics.last_resort(text, language, area)
        proposal = await self._put_right(proposal, text) if proposal else None
        if proposal is None or is_given_up([Part(text=text, decision=proposal)], text):
            return parts
        proposal = await asyncio.to_thread(heard_rightly, proposal)
        proposal = as_named(proposal, text, self._router.snapshot())
        return [Part(text=text, decision=with_that(proposal, text))]

    async def _put_right(self, proposal: Decision, text: str) -> Decision | None:
        """The proposal with the room that was said last, where ``text`` corrects itself; ``None``
        where that is not plain: "hoover the landing, no, Ann's room" is not of the landing."""
        corrected = lexicon(proposal.language).corrected(text)
        call = proposal.call
        if corrected is None or call is None or "area" not in call.arguments:
            return proposal
        said = await self._rules.mentions(corrected[1], proposal.language)
        elsewhere = bool(said.rooms_not_here or said.unknown)
        if call.arguments["area"] in said.areas or not (said.areas or elsewhere):
            return proposal
        if len(said.areas) != 1 or elsewhere:
            return None
        call = msgspec.structs.replace(call, arguments=call.arguments | {"area": said.areas[0]})
        arguments = proposal.arguments | {"area": said.areas[0]}
        return msgspec.structs.replace(proposal, call=call, arguments=arguments)

    async def _left(self, command: str, when: str, language: str, area: str) -> list[Part]:
        """A command that is left for a time; empty where it is none that could be done alone."""
        now, *further = await self._rules.parts(command, language, area)
        if further or not self._excerpts.acts(now) or not now.decision.entities:
            return []

        async def decide(text: str) -> list[Decision]:
            return [now.decision]

        decision = later.left_for(now.text, when, now.decision)
        return [Part(text=now.text, decision=await later.unless_unattended(decision, decide))]
