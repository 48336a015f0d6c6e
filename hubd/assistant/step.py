"""What a turn does: a tool that is called, or words that are said and waited on."""

from collections.abc import Sequence

import msgspec

from hubd.assistant.answered import asked_hour
from hubd.assistant.by_likeness.proposals import question
from hubd.assistant.confirmations import confirmation
from hubd.assistant.decision import Decision
from hubd.assistant.questions import ask
from hubd.assistant.several import Part
from hubd.home.model import Entity
from hubd.policy import Person
from hubd.tool_context import Speaker
from hubd.tools import ToolBox
from plugins.api import ToolCall, ToolResult


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn does: call a tool, or say something and wait."""

    decision: Decision
    call: ToolCall | None = None
    text: str = ""
    """What is said instead of a call."""
    confirmed: bool = False
    undo: ToolCall | None = None
    """What is taken back first, because the person corrects it."""
    said: str = ""
    """What a correction, or an answer to a question back, comes to, said at once; or the part of a
    sentence that this step does."""
    said_alone: str = ""
    """What was said of something spoken of before, in words that stand alone: it is what an answer
    to a question back completes."""
    further: bool = False
    """Whether it is another command of the sentence whose first was done before."""
    then: tuple["Step", ...] = ()
    """What else the sentence has done or asked, one after the other."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a call."""

    call: ToolCall
    text: str
    ok: bool
    result: ToolResult | None = None
    asks: bool = False
    """Whether the text is a question back."""


class Steps:
    """The steps that decisions come to in this home."""

    def __init__(self, tools: ToolBox) -> None:
        self._tools = tools

    def joined(self, parts: Sequence[Part], person: Person) -> Step:
        """The steps of several commands, as one."""
        steps = [self.part(part, person) for part in parts]
        # What is asked comes last: an answer belongs to the last question.
        first, *then = sorted(steps, key=lambda step: step.call is None)
        then = [msgspec.structs.replace(step, further=True) for step in then]
        return msgspec.structs.replace(first, then=tuple(then))

    def part(self, part: Part, person: Person) -> Step:
        decision, language = part.decision, part.decision.language
        if decision.tool is not None:
            step = self.of(decision, part.text, person)
        elif decision.declined and decision.declined != "declined":
            step = Step(decision=decision, text=ask(language, decision.declined))
        else:
            step = Step(decision=decision, text=ask(language, "part_declined", said=part.text))
        return msgspec.structs.replace(step, said=part.text)

    def of(self, decision: Decision, text: str, person: Person) -> Step:
        """The call, or what is asked instead of it."""
        if decision.asks is None:
            return Step(decision=decision, call=decision.call)
        if decision.asks == "confirm" and decision.call is not None:
            # Whoever may not is told so now, and not asked whether they are sure.
            refusal = self._tools.refusal(decision.call, Speaker(person=person))
            if refusal:
                plain = msgspec.structs.replace(decision, asks=None)
                return Step(decision=plain, text=refusal)
        entities = self.entities(decision)
        if decision.proposed and decision.call is not None:
            asked = question(decision.call, entities, decision.language)
            return Step(decision=decision, text=asked)
        key: str = decision.asks
        room = str(decision.arguments.get("area") or "")
        if decision.asks == "which" and not entities:
            key = "nothing_there" if room else "nothing"
            key = "unmeasured" if self._tools.only_reads(decision.tool or "") else key
        asked = asked_hour(decision)
        if key == "confirm":
            asked = confirmation(decision.call, entities, decision.language, text)
        said = room if key == "nothing_there" else text
        asked = asked or ask(decision.language, key, entities, said)
        return Step(decision=decision, text=asked)

    def dropped(self, decision: Decision) -> Step:
        """That what was asked about is left."""
        left = msgspec.structs.replace(decision, asks=None)
        return Step(decision=left, text=ask(decision.language, "dropped"))

    def entities(self, decision: Decision) -> list[Entity]:
        """The things that a decision is about."""
        wanted = set(decision.entities)
        return [e for e in self._tools.home.snapshot().entities if e.id in wanted]
