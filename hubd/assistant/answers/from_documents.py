"""A question answered from the documents: retrieve, weigh the evidence, ask the model, ground."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from datetime import date
from typing import NamedTuple

import msgspec

from engine.protocol import ChatMessage
from hubd.assistant.answers import prompt
from hubd.assistant.answers.answer_cache import AnswerCache, asked
from hubd.assistant.answers.answers_given import Talk
from hubd.assistant.answers.cited_again import answered_there
from hubd.assistant.answers.ground import Grounded, Grounding
from hubd.assistant.answers.query_rewriting import Asked
from hubd.assistant.answers.query_rewriting import asked as asked_after
from hubd.assistant.answers.write import write
from hubd.assistant.questions import ask
from hubd.assistant.turn_clock import Clock, done_with
from hubd.folders import visible_to
from hubd.household_engine import HouseholdEngine
from hubd.policy import Person
from hubd.settings import Config
from hubd.supervisor import EngineDown
from hubd.turn_events import Cited, Event, PromptPart, Retrieved, Token
from plugins.speech import day_name, full_stop
from rag.answer_types import reaches
from rag.evidence import Verdict, verdict
from rag.library import Library
from rag.question import asked_together, take_apart
from rag.quotes import next_day
from rag.types import Evidence, Retrieval


class Looked(NamedTuple):
    """What the documents say to a question."""

    question: str
    evidence: Evidence
    found: Verdict
    retrieved: Retrieved


class FromDocuments:
    """Answers from the household's documents, with their sources."""

    def __init__(
        self, config: Config, library: Library, engine: HouseholdEngine, answers: AnswerCache
    ) -> None:
        self._config = config
        self._library = library
        self._engine = engine
        self._answers = answers

    async def look(self, text: str, talk: Talk, person: Person) -> Looked:
        """Find what answers; what the question leaves to the conversation ("and when does it end?")
        is put in, and the documents that the last answer cites are asked before all others."""
        if (there := await self.look_there(text, talk, person)) is not None:
            return there
        question = _asked(text, talk).whole
        found = await self._find(question, person)
        parts = asked_together(question)
        if len(parts) > 1:
            each = [await self._find(part, person) for part in parts]
            if all(verdict(evidence) == "answers" for _, evidence in each):
                found = _as_one(found, each)
        return _looked(question, *found)

    async def look_there(self, text: str, talk: Talk, person: Person) -> Looked | None:
        """The same in the documents that the last answer cites; ``None`` where they do not answer,
        or ``text`` does not go on with it."""
        asked, cited = _asked(text, talk), talk.given[-1].citations if talk.given else ()
        count, visible = self._config.rag.passages, visible_to(person, self._config.rag)
        found = await answered_there(self._library, asked, cited, count, visible)
        return _looked(asked.whole, *found) if found else None

    async def _find(self, question: str, person: Person) -> tuple[Retrieval, Evidence]:
        """The passages, and what of them answers."""
        visible = visible_to(person, self._config.rag)
        count = self._config.rag.passages
        if reaches(question):
            count *= 2  # whose number it is often stands in another passage than the trouble
        retrieval = await self._library.retrieve(question, count, visible=visible)
        return retrieval, await self._library.evidence(question, retrieval.passages)

    async def not_told(
        self, looked: Looked, language: str, person: Person, *, asked_for: bool = True
    ) -> str:
        """That the documents do not tell, or that there are none.

        asked_for: whether it was a question; of what is none it is said that it was not understood
        """
        visible = visible_to(person, self._config.rag)
        there_are = looked.retrieved.passages or await self._library.documents(visible=visible)
        if asked_for:
            lead = "not_told" if there_are else "no_documents"
        else:
            lead = "not_understood_nor_told" if there_are else "not_understood"
        return ask(language, lead) + self._being_read(language, person)

    async def refuse(
        self,
        looked: Looked,
        language: str,
        person: Person,
        conversation: str,
        clock: Clock,
        *,
        asked_for: bool,
    ) -> AsyncGenerator[Event, None]:
        """The same as events, with what comes closest."""
        if looked.found != "close":
            text = await self.not_told(looked, language, person, asked_for=asked_for)
            clock.mark("first_token_ms")
            yield Token(text=text)
            yield done_with(text, conversation, clock, refused=True)
            return
        clock.mark("first_token_ms")
        more = self._being_read(language, person)
        for event in _closest(looked, language, more, conversation, clock):
            yield event

    def _being_read(self, language: str, person: Person) -> str:
        """How many documents are still being read; empty where none is."""
        coming = self._library.coming(visible=visible_to(person, self._config.rag))
        return ask(language, "being_read", said=str(coming)) if coming else ""

    async def answer(
        self, looked: Looked, before: list[ChatMessage], conversation: str, clock: Clock
    ) -> AsyncGenerator[Event, None]:
        """What the model writes of the evidence, with its citations."""
        question, evidence = looked.question, looked.evidence
        grounding = Grounding(question, evidence, instead=_next_day(question, evidence))
        pieces: list[str] = []
        history = [] if grounding.complete else before
        read = [] if grounding.complete else prompt.build(question, evidence, history)
        parts = [PromptPart(role=one.role, content=one.text()) for one in read]
        written = self._write(question, evidence, grounding, clock, read, alone=not history)
        async with aclosing(written):
            async for grounded in written:
                clock.mark("first_token_ms")
                pieces.append(grounded.text)
                yield Token(text=grounded.text)
                yield Cited(index=len(pieces) - 1, citation=grounded.citation)
        done = done_with("".join(pieces), conversation, clock, citations=grounding.citations)
        left_out = len(history) - len(prompt.recent(history))
        yield msgspec.structs.replace(done, prompt=parts if read else [], left_out=left_out)

    async def _write(
        self,
        text: str,
        evidence: Evidence,
        grounding: Grounding,
        clock: Clock,
        read: list[ChatMessage],
        *,
        alone: bool,
    ) -> AsyncGenerator[Grounded, None]:
        """What the model writes, as far as it is supported; the quote where no model helps.

        read: what it reads; emptied where there is no model. alone: nothing was said before.
        """
        if grounding.complete:
            for grounded in grounding.finish():
                yield grounded
            return
        question = asked(self._engine.name, text, evidence.quotes)
        if alone and (known := self._answers.get(question)):
            for grounded in known:
                grounding.citations.append(grounded.citation)
                yield grounded
            return
        said: list[Grounded] = []
        async with aclosing(self._said(read, grounding, clock)) as written:
            async for grounded in written:
                said.append(grounded)
                yield grounded
        if alone and read:
            self._answers.put(question, said)

    async def _said(
        self, read: list[ChatMessage], grounding: Grounding, clock: Clock
    ) -> AsyncGenerator[Grounded, None]:
        """What the model says to ``read``; where there is none, the quote, and nothing was read."""
        try:
            client = await self._engine.client()
        except EngineDown:
            read.clear()
            for grounded in grounding.finish():
                yield grounded
            return
        pieces = write(client, read, grounding, self._config.assistant, clock.answered)
        async with aclosing(pieces) as written:
            async for grounded in written:
                yield grounded


def _asked(text: str, talk: Talk) -> Asked:
    return asked_after(text, talk.questions, talk.given[-1].person if talk.given else "")


def _looked(question: str, retrieval: Retrieval, evidence: Evidence) -> Looked:
    found = verdict(evidence)
    quote = evidence.quotes[0] if found == "answers" else None
    retrieved = Retrieved(passages=retrieval.passages, quote=quote, reranking=retrieval.reranking)
    return Looked(question, evidence, found, retrieved)


def _as_one(
    whole: tuple[Retrieval, Evidence], each: Sequence[tuple[Retrieval, Evidence]]
) -> tuple[Retrieval, Evidence]:
    """What was found for several questions in one: the quotes for all.

    Where the whole is answered, "the agent" is the one of the documents that answer it.
    """
    retrieval, evidence = whole
    together = [quote for _, found in each for quote in found.quotes]
    if verdict(evidence) == "answers":
        answering = {quote.document for quote in evidence.quotes}
        also = [quote for quote in together if quote.document in answering]
        return retrieval, msgspec.structs.replace(evidence, quotes=[*evidence.quotes, *also])
    passages = {(p.document, p.page, p.start): p for found, _ in each for p in found.passages}
    retrieval = msgspec.structs.replace(retrieval, passages=list(passages.values()))
    first = [found.quotes[0] for _, found in each]
    answerable = min(found.answerable for _, found in each)
    return retrieval, Evidence(quotes=first, answerable=answerable)


def _next_day(question: str, evidence: Evidence) -> str:
    """Where one asks when something is and a list of days answers: the next of them, in words."""
    today = date.today()
    asked = take_apart(question, today)
    day = next_day(asked, evidence.quotes[0], today)
    if day is None:
        return ""
    said = day_name(day, today, asked.language)
    return f"{said[:1].upper()}{said[1:]}{full_stop(asked.language)}"


def _closest(
    looked: Looked, language: str, more: str, conversation: str, clock: Clock
) -> Iterator[Event]:
    """That the documents do not tell, what comes closest in them, word for word, and ``more``."""
    quotes = looked.evidence.quotes
    said = lead = ask(language, "closest", said=quotes[0].document)
    best = msgspec.structs.replace(looked.evidence, quotes=quotes[:1])
    grounding = Grounding(looked.question, best, lead)
    yield Token(text=lead)
    for index, grounded in enumerate(grounding.finish()):
        said += grounded.text
        yield Token(text=grounded.text)
        yield Cited(index=index, citation=grounded.citation)
    if more:
        said += more
        yield Token(text=more)
    yield done_with(said, conversation, clock, citations=grounding.citations, refused=True)
