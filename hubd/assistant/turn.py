"""One utterance, start to end: what is asked for is done, what nothing explains goes to the model
or to the documents.

Everything an adapter sees is the stream of events. Whoever stops reading cancels the work.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime

import msgspec

from engine.errors import EngineRefused, EngineUnavailable
from engine.protocol import ChatMessage
from hubd.assistant.answers.after_answers import TIMERS, AfterAnswers, may_go_on, told_from
from hubd.assistant.answers.answer_cache import AnswerCache
from hubd.assistant.answers.answers_given import REMEMBERED as TURNS
from hubd.assistant.answers.answers_given import Talk, talk_in, talk_of
from hubd.assistant.answers.from_documents import FromDocuments, Looked
from hubd.assistant.by_likeness.semantic import Semantics
from hubd.assistant.commands import Commands
from hubd.assistant.decider import Kind
from hubd.assistant.decision import Asks, Decision
from hubd.assistant.dialogue import Dialogues
from hubd.assistant.questions import ask
from hubd.assistant.replies import says_again
from hubd.assistant.route import Router
from hubd.assistant.step import Outcome, Step
from hubd.assistant.tool_loop.agent import Agent, Ran, Wanted
from hubd.assistant.turn_clock import Clock, done_with
from hubd.assistant.understanding.danger import trouble
from hubd.folders import visible_to
from hubd.household_engine import HouseholdEngine
from hubd.policy import OWNER, Person, Provenance
from hubd.settings import Config
from hubd.store.conversations import Conversations
from hubd.supervisor import EngineDown
from hubd.tool_context import Speaker
from hubd.tools import ToolBox
from hubd.turn_events import (
    Acted,
    Action,
    Citation,
    Cited,
    Done,
    Event,
    Failed,
    Started,
    Token,
)
from rag.embed import Embedder
from rag.library import Library

log = logging.getLogger(__name__)

STOP_AFTER_S = 120.0
REMEMBERED = 40
"""Messages of a conversation that are looked at; the prompt has room for fewer."""


class Utterance(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said, and in which conversation."""

    text: str
    conversation: str | None = None
    history: list[ChatMessage] | None = None
    """The conversation so far, from callers that keep it themselves (the OpenAI protocol); such a
    turn is not kept here."""
    language: str | None = None
    """The language it is in, where the caller knows; else its words tell."""
    area: str = ""
    """The id or name of the area of the asking device."""
    person: Person = OWNER
    provenance: Provenance = "person"
    speech: bool = False
    """Whether the answer is going to be read aloud."""


class Assistant:
    """Answers utterances. Holds no state of a turn, so turns may run side by side."""

    def __init__(
        self,
        *,
        config: Config,
        library: Library,
        engine: HouseholdEngine,
        embedder: Embedder,
        tools: ToolBox,
        conversations: Conversations,
        clock: Callable[[], datetime],
    ) -> None:
        self._conversations = conversations
        # One that may come out otherwise the next time is not kept.
        kept = 0 if config.assistant.temperature else config.assistant.answer_cache
        self.answers = AnswerCache(kept)
        self._config, self._tools = config, tools
        self._documents = FromDocuments(config, library, engine, self.answers)
        router = Router(tools.tools(), tools.sentence_files(), tools.home.snapshot)
        # A server's model is large enough to do better than ask.
        proposes = not config.engine.url
        self.semantics = Semantics(embedder.embed, router, tools.tools(), proposes=proposes)
        self.commands = Commands(tools, router, Dialogues(clock), self.semantics)
        self._after_answers = AfterAnswers(self.commands, library, clock)
        self.agent = Agent(
            engine.client,
            tools,
            router,
            self.commands.decider.mentions,
            self.semantics.similar,
            config.assistant.temperature,
        )

    async def turn(self, utterance: Utterance) -> AsyncGenerator[Event, None]:
        """The events of one turn; the last is ``Done`` or ``Failed``."""
        conversation = utterance.conversation or self._conversations.new()
        clock = Clock()
        yield Started(conversation=conversation)
        again = says_again(utterance.text)
        talk = await self._talk(utterance)
        # Of a conversation that the caller keeps it is not known what was cited.
        known = not again and utterance.history is None
        about = told_from(utterance.text, utterance.language, talk) if known else None
        step = None if again or about else await self._step(utterance, talk, conversation)
        there = None
        if step is not None and self._may_go_on(step, utterance.text, talk):
            there = await self._documents.look_there(utterance.text, talk, utterance.person)
            step = None if there is None and await self._tells_nothing(step, talk) else step
        clock.mark("route_ms")
        if again:
            events = self._again(utterance, conversation, clock)
        elif about is not None:
            events = self._about(*about, conversation, clock)
        elif there is not None:
            events = self._answer_there(there, utterance, conversation, clock)
        elif step is not None:
            events = self._act(step, utterance, conversation, clock)
        else:
            events = self._understood_by_none(utterance, talk, conversation, clock)
        try:
            async with asyncio.timeout(STOP_AFTER_S), aclosing(events):
                async for event in events:
                    if isinstance(event, Done) and utterance.history is None:
                        await self._conversations.append(
                            conversation, utterance.text, event, utterance.person.name
                        )
                    yield event
        except TimeoutError:
            yield Failed(
                code="timeout",
                message=f"The answer took longer than {STOP_AFTER_S:.0f} seconds.",
                hint="Try a shorter question, or a smaller model.",
            )
        except EngineUnavailable as error:
            yield Failed(
                code="engine_down",
                message="The language model stopped in the middle of the answer.",
                hint=f"Ask again: it starts again by itself. ({error})",
            )
        except EngineRefused as error:
            yield Failed(
                code="busy" if error.status == 429 else "internal",
                message=f"The language model does not take the question: {error.message}.",
                hint="Try again in a moment, or with a shorter question.",
            )

    async def _talk(self, utterance: Utterance) -> Talk:
        """What of the conversation was about documents; a text from outside has none."""
        if utterance.history is not None:
            return talk_in([one.text() for one in utterance.history if one.role == "user"])
        if not utterance.conversation or utterance.provenance != "person":
            return Talk()
        name = utterance.person.name
        return talk_of(await self._conversations.recent(utterance.conversation, TURNS, name))

    async def _step(self, utterance: Utterance, talk: Talk, conversation: str) -> Step | None:
        """What the utterance has done or asked: with the last answer, or by itself."""
        memory = _memory(utterance, conversation)
        step = await self._after_answers.step(
            utterance.text,
            talk,
            memory,
            language=utterance.language,
            person=utterance.person,
            visible=visible_to(utterance.person, self._config.rag),
        )
        return step or await self.commands.step(
            utterance.text,
            memory,
            language=utterance.language,
            area=utterance.area,
            person=utterance.person,
        )

    def _may_go_on(self, step: Step, text: str, talk: Talk) -> bool:
        reads = self._tools.only_reads(step.decision.tool or "")
        return step.decision.tool is not None and may_go_on(step, text, talk, reads=reads)

    async def _tells_nothing(self, step: Step, talk: Talk) -> bool:
        """Whether it asks for timers where none runs, and an answer was spoken of."""
        if talk.spoken_of is None or step.call is None or step.call.tool != TIMERS:
            return False
        return not (await self._tools.call(step.call, Speaker())).data["timers"]

    async def _about(
        self, text: str, citations: list[Citation], conversation: str, clock: Clock
    ) -> AsyncGenerator[Event, None]:
        """Where the last answer is from."""
        clock.mark("first_token_ms")
        yield Token(text=text)
        for index, citation in enumerate(citations):
            yield Cited(index=index, citation=citation)
        yield done_with(text, conversation, clock, citations=citations, refused=not citations)

    async def _answer_there(
        self, looked: Looked, utterance: Utterance, conversation: str, clock: Clock
    ) -> AsyncGenerator[Event, None]:
        """From the documents that the last answer cites."""
        clock.mark("retrieve_ms")
        yield looked.retrieved
        before = await self._history(utterance)
        async with aclosing(self._documents.answer(looked, before, conversation, clock)) as events:
            async for event in events:
                yield event

    async def _act(
        self, step: Step, utterance: Utterance, conversation: str, clock: Clock
    ) -> AsyncGenerator[Event, None]:
        """Call the tool of each step, or ask back; the answer is what was read back, or asked."""
        texts: list[str] = []
        actions: list[Action] = []
        asks: Asks | None = None
        for one in (step, *step.then):
            text = one.text
            asked: Asks | None = one.decision.asks
            if one.call is not None:
                speaker = _speaker(utterance, conversation, one.decision.language)
                memory = _memory(utterance, conversation)
                outcome = await self.commands.run(
                    one, one.said_alone or utterance.text, memory, speaker
                )
                text = outcome.text
                if outcome.asks:
                    asked = asked or "missing"
                else:
                    actions.append(_action(outcome, speaker.language))
                    yield Acted(action=actions[-1])
            asks = asks or asked
            clock.mark("first_token_ms")
            texts.append(f" {text}" if texts else text)
            yield Token(text=texts[-1])
        done = done_with("".join(texts), conversation, clock, actions=actions)
        yield msgspec.structs.replace(done, asks=asks)

    async def _again(
        self, utterance: Utterance, conversation: str, clock: Clock
    ) -> AsyncGenerator[Event, None]:
        """The last answer once more, with its sources; nothing is done again, and what it asked may
        still be answered."""
        if utterance.history is None:
            last = await self._conversations.last(conversation, utterance.person.name)
        else:
            said = [one.text() for one in utterance.history if one.role == "assistant"]
            last = done_with(said[-1], conversation, clock) if said else None
        text = last.answer if last else ask(utterance.language or "en", "nothing_said")
        clock.mark("first_token_ms")
        yield Token(text=text)
        done = done_with(text, conversation, clock, citations=last.citations if last else ())
        if last is not None:
            done = msgspec.structs.replace(done, refused=last.refused, asks=last.asks)
        yield done

    async def _understood_by_none(
        self, utterance: Utterance, talk: Talk, conversation: str, clock: Clock
    ) -> AsyncGenerator[Event, None]:
        """What no sentence and no word explains: a command goes to the model, a question to the
        documents, a statement to the documents and then to the model."""
        kind, language = await self.commands.decider.kind(utterance.text, utterance.language)
        if kind == "command":
            events = self._by_model(utterance, language, conversation, clock)
        else:
            events = self._answer(utterance, talk, language, conversation, clock, kind)
        async with aclosing(events):
            async for event in events:
                yield event

    async def _by_model(
        self,
        utterance: Utterance,
        language: str,
        conversation: str,
        clock: Clock,
        otherwise: str = "",
    ) -> AsyncGenerator[Event, None]:
        """The tool loop; where nothing comes of it, that is said: no command is answered from the
        documents. ``otherwise`` is said instead."""
        wanted = Wanted(text=utterance.text, language=language, area=utterance.area)
        actions: list[Action] = []
        asks: Asks | None = None
        memory = _memory(utterance, conversation)

        async def run(decision: Decision) -> Ran:
            nonlocal asks
            step = self.commands.step_of(decision, memory, utterance.text, utterance.person)
            if step.call is None:
                asks = decision.asks
                return Ran(text=step.text, ok=False, asks=True)
            speaker = _speaker(utterance, conversation, language, by_model=True)
            outcome = await self.commands.run(step, utterance.text, memory, speaker)
            if outcome.asks:
                asks = "missing"
            else:
                actions.append(_action(outcome, speaker.language))
            return Ran(text=outcome.text, ok=outcome.ok, asks=outcome.asks)

        texts: list[str] = []
        try:
            async with aclosing(self.agent.carry_out(wanted, run, clock.answered)) as loop:
                async for ran in loop:
                    clock.mark("first_token_ms")
                    if actions and not ran.asks:
                        yield Acted(action=actions[-1])
                    texts.append(ran.text if not texts else f" {ran.text}")
                    yield Token(text=texts[-1])
        except (EngineDown, EngineUnavailable, EngineRefused, TimeoutError) as error:
            log.info("the model did not work on a command: %s", error or "it took too long")
        if not texts:
            clock.mark("first_token_ms")
            texts.append(otherwise or await self.commands.decider.declined(wanted.text, language))
            yield Token(text=texts[-1])
        refused = not actions and asks is None
        done = done_with("".join(texts), conversation, clock, actions=actions, refused=refused)
        yield msgspec.structs.replace(done, asks=asks)

    async def _answer(
        self,
        utterance: Utterance,
        talk: Talk,
        language: str,
        conversation: str,
        clock: Clock,
        kind: Kind,
    ) -> AsyncGenerator[Event, None]:
        """From the documents; a statement that they say nothing about may still be a command."""
        before = await self._history(utterance)
        person = utterance.person
        looked = await self._documents.look(utterance.text, talk, person)
        clock.mark("retrieve_ms")
        yield looked.retrieved
        decider = self.commands.decider
        if looked.found == "answers":
            events = self._documents.answer(looked, before, conversation, clock)
        elif trouble(utterance.text, language) == "danger":
            events = self._about(ask(language, "danger"), [], conversation, clock)
        elif kind == "statement" and await decider.speaks_of_home(utterance.text, language):
            otherwise = await self._documents.not_told(looked, language, person, asked_for=False)
            events = self._by_model(utterance, language, conversation, clock, otherwise)
        else:
            events = self._documents.refuse(
                looked, language, person, conversation, clock, asked_for=kind == "question"
            )
        async with aclosing(events):
            async for event in events:
                yield event

    async def _history(self, utterance: Utterance) -> list[ChatMessage]:
        """What was said before in the conversation, as far as it is remembered."""
        if utterance.history is not None or not utterance.conversation:
            return utterance.history or []
        return await self._conversations.history(
            utterance.conversation, REMEMBERED, utterance.person.name
        )


def _memory(utterance: Utterance, conversation: str) -> str:
    """The conversation in which questions back are remembered: a text from outside has one of its
    own, so that nobody's "yes" is taken for the answer to what it asked for."""
    own = utterance.provenance == "person"
    return conversation if own else f"{utterance.provenance}\n{conversation}"


def _speaker(
    utterance: Utterance, conversation: str, language: str, *, by_model: bool = False
) -> Speaker:
    """Who asks for a tool. A model speaks for the person; a text from outside stays one."""
    provenance = utterance.provenance
    return Speaker(
        conversation=conversation,
        language=language,
        area=utterance.area,
        person=utterance.person,
        provenance="model" if by_model and provenance == "person" else provenance,
    )


def _action(outcome: Outcome, language: str) -> Action:
    result = outcome.result
    return Action(
        tool=outcome.call.tool,
        arguments=outcome.call.arguments,
        text=outcome.text,
        ok=outcome.ok,
        data=result.data if result else {},
        undo=result.undo if result else None,
        language=language,
    )
