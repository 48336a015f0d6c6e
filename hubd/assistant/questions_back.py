"""What the answer to a question back comes to: a yes or no, one of several things, what lacked.

Decides with the router and does nothing. What no answer is begins something new.
"""

import re
from datetime import UTC, datetime

import msgspec

from hubd.assistant.answered import (
    INSTEAD,
    as_hour,
    at_a_time_instead,
    at_that_hour,
    at_that_time,
    is_another,
    link,
)
from hubd.assistant.by_likeness.hearing import WORDED
from hubd.assistant.decider import Decider
from hubd.assistant.decision import Decision, lacks
from hubd.assistant.dialogue import Pending
from hubd.assistant.follow_ups import follow, revise
from hubd.assistant.follow_ups.of_events import takes_for_granted
from hubd.assistant.questions import ask
from hubd.assistant.replies import begins_with_no, besides_no, besides_yes, says_yes
from hubd.assistant.route import Router
from hubd.assistant.step import Step, Steps
from hubd.assistant.understanding.chatter import chatter
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.targets import Targets
from hubd.policy import Person
from hubd.tools import ToolBox
from plugins.api import ToolCall
from plugins.event_words import says_when
from plugins.speech import say

ANSWERED = {
    "alarms.set": frozenset({INSTEAD}),
    "calendar.add": frozenset({"title", "when", "calendar"}),
    "calendar.move": frozenset({"to"}),
    "reminders.add": frozenset({"who"}),
}
"""Tools and their arguments that an answer is as it stands; that to others makes one sentence with
what was said."""
_AGAINST = {
    "en": r"(?:but|only|just)\b",
    "de": r"(?:aber|nur|bloß|bloss)\b",
    "zh": r"但是?|不过|只",
    "fr": r"(?:mais|seulement)\b",
    "es": r"(?:pero|solo|sólo)\b",
}
"""How what is said against a part of it begins, behind a yes."""
_AND = {"en": r"^and\b ?", "de": r"^und\b ?", "zh": "^(?:然后|还有|再|并且)", "fr": r"^et\b ?",
        "es": r"^y\b ?"}  # fmt: skip
_TO = {"en": r"(?i)^to (?:the )?", "de": r"(?i)^(?:auf|nach) (?:den )?",
       "zh": "^(?:改|挪|推|移|换)(?:到|成)"}  # fmt: skip
"""Before the time that something is moved to."""
_THERE = {
    "calendar.add": {
        "en": r"(?:(?:put|pop|add) (?:it|that) )?(?:in|into|on|to) (?:the|my|our)"
        r" (?:calendar|diary)(?: please)?",
        "de": r"(?:bitte )?(?:trage? (?:es|das|ihn|sie) (?:bitte )?)?in den kalender(?: ein)?"
        r"|trage? (?:es|das|ihn|sie) (?:bitte )?ein",
        "zh": r"(?:[请把]|帮我)*[记加写放](?:到|进|在)?(?:日历|日程)?(?:里|上|中|去|进去)*吧?",
        "fr": r"(?:mets[- ]le )?dans (?:le|mon|notre) (?:calendrier|agenda)",
        "es": r"(?:ponlo )?en (?:el|mi|nuestro) (?:calendario|agenda)",
    },
    "lists.add": {
        "en": r"(?:please )?(?:on|onto|to) (?:the|my|our) (?:\w+ )?list(?: please)?",
        "de": r"(?:bitte )?auf die (?:\w*liste|\w*zettel)(?: bitte)?",
        "zh": "(?:请)?(?:加|记|放)?(?:到|进|在)?(?:购物)?清单(?:里|上)?(?:吧)?",
    },
}
"""Where it goes that is asked about, said once more behind a yes."""
_ALL_OF_THEM = {
    "en": re.compile(
        r"(?:(?:oh|just|well),? )*(?:both|all)"
        r"(?: (?:of )?(?:them|those)| (?:two|three|four))?(?: please)?"
    ),
    "de": re.compile(
        r"(?:(?:ach|na),? )*(?:alle|beide|beides|alle (?:beide|zwei|drei|vier))(?: bitte)?"
    ),
    "zh": re.compile("(?:两个|三个|几个)?(?:全部|全都|都)(?:要|关|开|锁|停|是)?(?:了|吧|掉)*|全部"),
    "fr": re.compile(r"(?:tou(?:te)?s|tou(?:te)?s les (?:deux|trois|quatre)|les deux)"),
    "es": re.compile(r"(?:tod[oa]s|l[oa]s dos|amb[oa]s)"),
}
"""The answer that none of them is left out."""
LONGEST_NAME = 30
"""Characters of an answer that says who is meant."""


class QuestionsBack:
    """Reads what is said after a question back."""

    def __init__(self, decider: Decider, router: Router, tools: ToolBox, steps: Steps) -> None:
        self._decider, self._router, self._tools, self._steps = decider, router, tools, steps

    async def answered(self, pending: Pending, text: str, person: Person, area: str) -> Step | None:
        """What the answer to a question back comes to; ``None``: it was none."""
        decision, language = pending.decision, pending.decision.language
        one_more = pending.argument == INSTEAD and is_another(text, language)
        refused = None if one_more else besides_no(text, language)
        if refused == "" and pending.asks != "confirm" and thanks(text, language):
            return Step(
                decision=self._steps.dropped(decision).decision, text=say(language, "welcome")
            )
        if refused is not None:
            step = await self._instead(pending, text, refused, person, area) if refused else None
            return step or self._steps.dropped(decision)
        if pending.asks == "confirm":
            beside = besides_yes(text, language)
            granted = takes_for_granted(text, decision, datetime.now(UTC))
            if beside is None and granted is None:
                return None
            if person != pending.person:
                return Step(decision=decision, text=ask(language, "other_person"))
            agreed = msgspec.structs.replace(decision, asks=None)
            # What was proposed was harmless; if it is not any more, that is asked for itself.
            yes = Step(decision=agreed, call=decision.call, confirmed=not decision.proposed)
            if beside is None and granted is not None:
                more = msgspec.structs.replace(self._steps.of(granted, text, person), further=True)
                return msgspec.structs.replace(yes, said=pending.text, then=(more,))
            assert beside is not None
            if await self._agrees(pending, beside, area):
                return yes
            return await self._with_more(pending, yes, beside, person, area)
        if pending.asks == "which" and decision.call is not None:
            chosen = self._chosen(text, decision)
            if chosen is None or await self._is_another_command(text, decision, area):
                return None
            return self._steps.of(chosen, pending.text, person)
        if (at_time := at_a_time_instead(pending, text)) is not None:
            return Step(decision=at_time, call=at_time.call, said=f"{pending.text} {text}")
        if pending.argument in ANSWERED.get(decision.tool or "", ()):
            return await self._filled(pending, text, area)
        if decision.tool in WORDED and await self._is_another(decision.tool, text, language, area):
            return None
        if pending.asks == "missing" and await self._is_of_another(text, decision, area):
            return None
        text = as_hour(pending, text)
        whole = at_that_hour(pending, text) or at_that_time(pending, text)
        if whole is not None:
            return Step(decision=whole, call=whole.call, said=f"{pending.text} {text}")
        joint = link(decision.tool or "", text, language)
        for joined in (f"{pending.text}{joint}{text}", f"{text} {pending.text}"):
            complete, *further = (
                p.decision for p in await self._decider.parts(joined, language, area)
            )
            if further:
                continue
            completed = complete.tool == decision.tool and complete.asks != "missing"
            if completed and complete.call and complete.call != decision.call:
                step = self._steps.of(complete, joined, person)
                return msgspec.structs.replace(step, said=joined)
        return None

    async def _agrees(self, pending: Pending, beside: str, area: str) -> bool:
        """Whether what is said beside a yes asks for nothing else: "yes, close it"."""
        decision = pending.decision
        if not beside or _repeats(beside, pending.text, decision.language):
            return True
        there = _THERE.get(decision.tool or "", {}).get(decision.language, NEVER)
        if re.fullmatch(there, beside):
            return True
        snapshot = self._tools.home.snapshot()
        again = follow.follow(self._router, beside, decision, snapshot)
        again = again or await self._decider.by_rules(beside, decision.language, area)
        return again.tool == decision.tool and set(again.entities) == set(decision.entities)

    async def _with_more(
        self, pending: Pending, yes: Step, beside: str, person: Person, area: str
    ) -> Step | None:
        """What a yes comes to beside which something is said: another value instead ("yes, but only
        half"), or another command as well ("yes, and lock the door"). What is said against it and
        not understood has it asked once more; what is neither begins something new: ``None``."""
        language = pending.decision.language
        against = re.match(_AGAINST.get(language, NEVER), beside)
        if against:
            rest = beside[against.end() :].strip(" ,，")
            if step := await self._instead(pending, beside, rest, person, area):
                return step
            return self._once_more(pending, rest, person)
        rest = re.sub(_AND.get(language, NEVER), "", beside)
        if rest == beside:
            return None  # "okay, what time is it" opens no door, and takes up no proposal
        if lexicon(language).negates(rest):
            return self._once_more(pending, rest, person)
        of_it = follow.follow(self._router, rest, pending.decision, self._tools.home.snapshot())
        parts = await self._decider.parts(rest, language, area)
        more = self._steps.of(of_it, rest, person) if of_it else self._steps.joined(parts, person)
        then = (more, *more.then)
        further = tuple(msgspec.structs.replace(one, further=True, then=()) for one in then)
        return msgspec.structs.replace(yes, then=further)

    def _once_more(self, pending: Pending, rest: str, person: Person) -> Step:
        """The question again, where what stands beside the yes is not understood."""
        asked = self._steps.of(pending.decision, pending.text, person)
        said = ask(pending.decision.language, "part_declined", said=rest)
        return msgspec.structs.replace(asked, text=f"{said} {asked.text}")

    async def _instead(
        self, pending: Pending, text: str, rest: str, person: Person, area: str
    ) -> Step | None:
        """What is asked for behind a no: another thing, another value or time, or something else
        ("no, the bedroom", "no, in half an hour"). ``None`` where that is not understood.

        rest: what stands behind the no
        """
        decision, language = pending.decision, pending.decision.language
        if pending.asks == "which" and decision.call is not None:
            chosen = self._chosen(rest, decision)
            if chosen is not None:
                return self._steps.of(chosen, pending.text, person)
        other = follow.follow(self._router, rest, decision, self._tools.home.snapshot())
        if other is not None:
            return self._steps.of(other, rest, person)
        joint = " " if lexicon(language).spaces else ""
        timed = says_when(rest, language, datetime.now(UTC))
        corrected = revise.replaced(pending.text, rest, language)
        for said in (corrected, f"{pending.text}{joint}{rest}" if timed else "", rest):
            parts = await self._decider.parts(said, language, area) if said else []
            if parts and not any(lacks(part.decision) for part in parts):
                return self._steps.joined(parts, person)
        return None

    async def _filled(self, pending: Pending, text: str, area: str) -> Step | None:
        """The call with the answer as what its tool asked for; ``None`` where that is no answer."""
        decision, language = pending.decision, pending.decision.language
        if decision.call is None:
            return None
        answer: object = text.strip(" .!。！")
        if pending.argument == INSTEAD:
            answer = not is_another(text, language)
            answers = not answer or says_yes(text, language)
        elif pending.argument == "who":
            is_command = await self._is_of_another(text, decision, area)
            answers = len(text) <= LONGEST_NAME and not is_command
        elif pending.argument in ("when", "to"):
            answer = re.sub(_TO.get(language, NEVER), "", str(answer))
            answers = says_when(str(answer), language, datetime.now(UTC))
        else:
            alone = await self._decider.by_rules(text, language, area)
            kind, _ = await self._decider.kind(text, language)
            answers = alone.tool is None and kind == "statement"
        if not answers:
            return None
        arguments = {**decision.call.arguments, pending.argument: answer}
        call = ToolCall(tool=decision.call.tool, arguments=arguments)
        whole = msgspec.structs.replace(decision, asks=None, call=call, arguments=arguments)
        return Step(decision=whole, call=call, said=f"{pending.text} {text}")

    async def _is_another_command(self, text: str, decision: Decision, area: str) -> bool:
        """Whether what names one of the candidates asks for something else: "mute the TV"."""
        alone = await self._decider.by_rules(text, decision.language, area)
        done = alone.call is not None and alone.asks is None and alone.tool != decision.tool
        return done and not self._tools.only_reads(alone.tool or "")

    async def _is_of_another(self, text: str, decision: Decision, area: str) -> bool:
        """Whether what is said after a question what lacks is a command of another kind."""
        said = re.sub(_AND.get(decision.language, NEVER), "", text, flags=re.IGNORECASE)
        kind, _ = await self._decider.kind(said, decision.language)
        alone = await self._decider.by_rules(said, decision.language, area)
        return kind == "command" and alone.call is not None and alone.tool != decision.tool

    async def _is_another(self, tool: str, text: str, language: str, area: str) -> bool:
        """Whether an answer lacks nothing itself: another reminder, another event."""
        alone = await self._decider.by_rules(text, language, area)
        return alone.tool == tool and alone.call is not None and alone.asks is None

    def _chosen(self, text: str, decision: Decision) -> Decision | None:
        """The decision with the one candidate that ``text`` names, or with all of them."""
        assert decision.call is not None
        snapshot = self._tools.home.snapshot()
        if _ALL_OF_THEM.get(decision.language, NEVER).fullmatch(plain(text)):
            settled = msgspec.structs.replace(decision, asks=None)
            return self._router.asking(settled, Targets(tuple(self._steps.entities(decision))))
        areas = {area.id: area.name for area in snapshot.areas}
        said = text.casefold()
        named = [
            entity
            for entity in self._steps.entities(decision)
            if any(name.casefold() in said for name in (entity.name, *entity.aliases))
        ]
        placed = [
            entity
            for entity in self._steps.entities(decision)
            if entity.area and areas.get(entity.area, "\0").casefold() in said
        ]
        for found in (named, placed):
            if len(found) == 1:
                arguments = {**decision.call.arguments, "entities": [found[0].id]}
                call = ToolCall(tool=decision.call.tool, arguments=arguments)
                settled = msgspec.structs.replace(
                    decision, asks=None, entities=[found[0].id], call=call
                )
                return self._router.asking(settled, Targets((found[0],)))
        return None


def thanks(text: str, language: str) -> bool:
    """Whether ``text`` ends the question with thanks and no more: "thanks, that's everything"."""
    return chatter(text, language) == "thanks" and not begins_with_no(text, language)


def _repeats(rest: str, asked: str, language: str) -> bool:
    """Whether ``rest`` says a part of what was asked about once more, and nothing else."""
    known, said = lexicon(language), plain(asked)
    if not known.spaces:
        return rest.strip("吧了啊呀,") in said
    return set(rest.split()) <= {*said.split(), "it", "them", "that", "please"}
