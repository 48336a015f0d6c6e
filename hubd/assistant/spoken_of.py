"""What an utterance asks for of the things that were spoken of last."""

import msgspec

from hubd.assistant.decider import Decider
from hubd.assistant.decision import Decision, lacks
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups import follow
from hubd.assistant.follow_ups.all_of_them import all_of_them
from hubd.assistant.follow_ups.how_it_is import STATE
from hubd.assistant.follow_ups.narrowed import told_of
from hubd.assistant.follow_ups.of_the_last import of_both, of_those_meant
from hubd.assistant.follow_ups.one_of_them import the_one_meant
from hubd.assistant.route import Router
from hubd.assistant.several import Part
from hubd.assistant.step import Steps
from hubd.assistant.understanding.mentions import named_entities
from hubd.home.model import Entity
from hubd.tools import ToolBox


class SpokenOf:
    """Follow-ups that name no thing of their own; decides and does nothing."""

    def __init__(self, tools: ToolBox, router: Router, decider: Decider) -> None:
        self._tools, self._router, self._decider = tools, router, decider
        self._steps = Steps(tools)

    def worked(self, memory: Memory) -> list[Entity]:
        """The things of what was done last."""
        return self._steps.entities(memory.last) if memory.last else []

    def followed(self, text: str, memory: Memory, area: str) -> Decision | None:
        """What ``text`` asks for of the things that were spoken of last."""
        home = self._tools.home.snapshot()
        if all_told := all_of_them(text, memory, home):
            return follow.follow(self._router, *all_told, home)
        it = memory.spoken_of if follow.PRONOUNS.search(text.casefold()) else memory.last
        last = follow.both(text, memory) or it
        if last is None:
            return None
        found = follow.follow(self._router, text, last, home)
        before = memory.before
        if found is None and before is not None and before.tool == STATE:
            asked = follow.follow(self._router, text, before, home)
            return asked if asked and asked.tool == STATE else None
        return self.the_one_meant(found, text, last, area)

    def the_one_meant(
        self, decision: Decision | None, text: str, last: Decision | None, area: str
    ) -> Decision | None:
        """The decision; of one thing where it was only told of several, and "it" is said."""
        if decision is None or last is None or self._tools.only_reads(decision.tool or ""):
            return decision
        if not self._tools.only_reads(last.tool or ""):
            return decision
        return the_one_meant(decision, text, last, self._tools.home.snapshot(), area)

    async def also(self, text: str, memory: Memory, area: str) -> Decision | None:
        """What is done with something else as well: "the lights too"."""
        last, other = memory.last, follow.also(text)
        if last is None or not other or last.tool not in follow.SWITCHING:
            return None
        also = await self._decider.with_verb(other, memory.last_text, last.language, area)
        return also if also.tool == last.tool else None

    def one_of_them(self, text: str, said: str, memory: Memory) -> Decision | None:
        """What was done last to several things, of the one that is told of beside ``said``, where
        that speaks of "it": "Ann is still reading, turn it back on"."""
        last = memory.last
        if last is None or len(last.entities) < 2 or not follow.IT.search(said.casefold()):
            return None
        beside = text.replace(said, " ")
        meant = told_of(beside, last, self._tools.home.snapshot())
        return msgspec.structs.replace(last, entities=meant) if meant else None

    async def tells_of_others(self, text: str, said: str, memory: Memory) -> bool:
        """Whether what stands beside ``said`` in ``text`` names a thing that was not worked last,
        so that "it" may be that: "the hall light is too bright, turn it off"."""
        assert memory.last is not None
        beside = await self._decider.mentions(text.replace(said, " "), memory.last.language)
        named = named_entities(beside, self._tools.home.snapshot())
        others = {one.id for one in named if one.domain != "person"} - set(memory.last.entities)
        return bool(others) and follow.PRONOUNS.search(said.casefold()) is not None

    async def of_those_meant(self, part: Part, memory: Memory, *, both: bool) -> Part:
        """The part, of what was spoken of last where it names nothing else.

        both: whether it is of two things
        """
        if both:
            decision = of_both(part.decision, self._tools.home.snapshot())
            return msgspec.structs.replace(part, decision=decision)
        said = await self._decider.mentions(part.text, part.decision.language)
        home, spoken = self._tools.home.snapshot(), (memory.told, memory.last)
        decision = of_those_meant(part.decision, part.text, said, spoken, home)
        return msgspec.structs.replace(part, decision=decision)

    def part_followed(self, part: Part, memory: Memory, area: str) -> Part:
        """A part of a sentence that is not understood, of the things that were spoken of last."""
        further = self.followed(part.text, memory, area) if lacks(part.decision) else None
        return msgspec.structs.replace(part, decision=further) if further else part
