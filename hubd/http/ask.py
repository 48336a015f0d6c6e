"""Questions: ``POST /hub/ask`` and ``POST /hub/retrieve``."""

import hashlib
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd import logs
from hubd.assistant.turn import Utterance
from hubd.assistant.understanding.grammar import LANGUAGES
from hubd.assistant.understanding.language import language_of
from hubd.assistant.understanding.names import Names
from hubd.errors import BadRequestError, HubError, NotFoundError
from hubd.folders import visible_to
from hubd.http import replies
from hubd.http.answers import Answer
from hubd.http.body import LARGEST, query, read_body, reply
from hubd.http.callers import caller_of
from hubd.http.described import SERVER_SENT_EVENTS, describe
from hubd.http.services import SERVICES, Services
from hubd.http.sse import frame, stream
from hubd.spoken import spoken
from hubd.store.faults import storage_error
from hubd.turn_events import Done, Event, Failed, Retrieved, Started
from rag.types import Passage

log = logging.getLogger(__name__)

STATUS = {"engine_down": 503, "no_model": 503, "busy": 429, "timeout": 504, "storage": 503}
INTERNAL = Failed(
    code="internal",
    message="Something went wrong inside hubd.",
    hint="Ask again; if it stays so, look at hubd's log.",
)

EXPLAINED = ("route", "tool", "entities", "arguments", "score", "asks", "reason")

Text = Annotated[str, Meta(min_length=1, max_length=8_000)]


class Ask(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    text: Text
    conversation: Annotated[str, Meta(max_length=64)] | None = None
    stream: bool = False
    resumable: bool = False
    """Streamed, and goes on for a while when the connection breaks."""
    language: Annotated[str, Meta(max_length=20)] | None = None
    area: Annotated[str, Meta(max_length=120)] = ""
    """The area of the asking device: its id or name."""
    speech: bool = False
    """Whether the answer is going to be read aloud: ``Done.speech`` says how."""


class After(msgspec.Struct, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=LARGEST)] = 0
    """The number of the last event that came."""


class Explain(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    text: Text
    language: Annotated[str, Meta(max_length=20)] | None = None
    area: Annotated[str, Meta(max_length=120)] = ""


class Retrieve(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    text: Text
    k: Annotated[int, Meta(ge=1, le=50)] = 5


@describe(body=Ask, reply=replies.Answer, streamed=SERVER_SENT_EVENTS)
async def ask(request: web.Request) -> web.StreamResponse:
    """One turn, streamed or as a whole."""
    services = request.app[SERVICES]
    body = await read_body(request, Ask)
    if not body.text.strip():
        raise BadRequestError("text: must not be empty")
    utterance = Utterance(
        text=body.text.strip(),
        conversation=body.conversation or None,
        language=body.language,
        area=area_id(services, body.area),
        person=caller_of(request).person,
        speech=body.speech,
    )
    if body.resumable:
        return await _resumable(request, services, utterance)
    async with services.turns.one():
        if body.stream or "text/event-stream" in request.headers.get("Accept", ""):
            return await stream(request, _frames(services, utterance))
        return reply(fields(await finished(services, utterance)))


@describe(reply=list[replies.AnswerInTheMaking])
async def running(request: web.Request) -> web.StreamResponse:
    """The answers that are being made for this person, and what was asked."""
    answers = request.app[SERVICES].answers.running()
    theirs = [answer for answer in answers if answer.person == caller_of(request).person.name]
    return reply([_shown(answer) for answer in theirs])


@describe(query=After, reply=SERVER_SENT_EVENTS)
async def resume(request: web.Request) -> web.StreamResponse:
    """The rest of an answer, after the event that came last."""
    services = request.app[SERVICES]
    answer = _answer(request)
    after = query(request, After).after
    return await stream(request, _followed(services, answer, after))


@describe(reply=replies.Stopped)
async def stop(request: web.Request) -> web.StreamResponse:
    """End the work on an answer, for everybody who reads it."""
    request.app[SERVICES].answers.stop(_answer(request))
    return reply({"stopped": True})


def _answer(request: web.Request) -> Answer:
    answer = request.app[SERVICES].answers.find(request.match_info["answer"])
    if answer is None or answer.person != caller_of(request).person.name:
        raise NotFoundError("there is no such answer any more", "Look in the conversation.")
    return answer


def _shown(answer: Answer) -> dict[str, str]:
    return {"answer": answer.id, "conversation": answer.conversation, "text": answer.text}


async def _resumable(
    request: web.Request, services: Services, utterance: Utterance
) -> web.StreamResponse:
    """An answer of its own task; this request is its first reader."""
    answer = Answer(utterance.text, utterance.person.name)

    async def made() -> AsyncGenerator[tuple[str, object], None]:
        yield "answer", {"answer": answer.id, "text": utterance.text}
        try:
            async with services.turns.one(), aclosing(events(services, utterance)) as turn:
                async for event in turn:
                    yield str(event.__struct_config__.tag), fields(event)
                    if isinstance(event, Started):
                        change = {"change": "answering", "answer": answer.id}
                        _tell(services, event.conversation, change)
        except HubError as error:
            yield "error", {"code": error.code, "message": error.message, "hint": error.hint}

    services.answers.start(answer, made())
    return await stream(request, _followed(services, answer))


async def _followed(
    services: Services, answer: Answer, after: int = 0
) -> AsyncGenerator[bytes, None]:
    async with aclosing(services.answers.follow(answer, after)) as events:
        async for number, event, data in events:
            yield frame(event, data, number=number)


def _tell(services: Services, conversation: str, change: dict[str, str]) -> None:
    """Every page hears what became of a conversation."""
    services.board.publish("conversation", {"conversation": conversation, **change})


@describe(body=Explain, reply=replies.Explained)
async def explain(request: web.Request) -> web.StreamResponse:
    """What would be done with a text, and why; nothing is."""
    services = request.app[SERVICES]
    body = await read_body(request, Explain)
    decision = await services.assistant.commands.decider.decide(
        body.text.strip(), body.language, area_id(services, body.area)
    )
    return reply({name: getattr(decision, name) for name in EXPLAINED})


def area_id(services: Services, said: str) -> str:
    """The id of the area of that id or name; an empty string where there is none."""
    area = Names.area(services.household.snapshot(), said) if said else None
    return area.id if area else ""


@describe(body=Retrieve, reply=list[Passage])
async def retrieve(request: web.Request) -> web.StreamResponse:
    """The passages that fit a text, best first."""
    body = await read_body(request, Retrieve)
    services = request.app[SERVICES]
    visible = visible_to(caller_of(request).person, services.config.rag)
    retrieval = await services.library.retrieve(body.text, body.k, visible=visible)
    return reply(retrieval.passages)


async def events(services: Services, utterance: Utterance) -> AsyncGenerator[Event, None]:
    """The events of a turn, ended by exactly one ``Done`` or ``Failed`` whatever happens."""
    retrieved: Retrieved | None = None
    try:
        async with aclosing(services.assistant.turn(utterance)) as turn:
            async for event in turn:
                if isinstance(event, Started):
                    logs.add_field("conversation", _short(event.conversation))
                if isinstance(event, Retrieved):
                    retrieved = event
                if isinstance(event, Done):
                    event = _with_speech(event, utterance)
                    await services.device.answered(utterance.text, event)
                    if utterance.history is None:
                        await _kept(services, event, retrieved)
                yield event
                if isinstance(event, Done | Failed):
                    return
    except HubError as error:
        yield Failed(code=error.code, message=error.message, hint=error.hint)
        return
    except Exception as error:
        if (storage := storage_error(error)) is not None:
            log.error("%s", storage.message)
            yield Failed(code=storage.code, message=storage.message, hint=storage.hint)
            return
        log.exception("a turn failed")
    yield INTERNAL


def _short(conversation: str) -> str:
    """A conversation's name for the log; callers choose names, and may choose a person's."""
    return hashlib.sha256(conversation.encode()).hexdigest()[:8]


async def _kept(services: Services, done: Done, retrieved: Retrieved | None) -> None:
    """Keep what the answer was made from, and tell every page of the new turn."""
    if retrieved and retrieved.passages:
        await services.conversations.explain(
            done.conversation, retrieved.passages, retrieved.reranking
        )
    _tell(services, done.conversation, {"change": "turn"})


async def finished(services: Services, utterance: Utterance) -> Done:
    """A whole turn.

    Raises:
        HubError: it failed; status and words as its ``Failed`` event.
    """
    async with aclosing(events(services, utterance)) as turn:
        async for event in turn:
            if isinstance(event, Done):
                return event
            if isinstance(event, Failed):
                raise failure(event)
    raise AssertionError("a turn ended without an end")


def failure(failed: Failed) -> HubError:
    """The exception that makes the reply of a failed turn."""
    error = HubError(failed.message, failed.hint)
    error.code = failed.code
    error.status = STATUS.get(failed.code, 500)
    return error


async def _frames(services: Services, utterance: Utterance) -> AsyncGenerator[bytes, None]:
    async with aclosing(events(services, utterance)) as turn:
        async for event in turn:
            yield frame(str(event.__struct_config__.tag), fields(event))


def _with_speech(done: Done, utterance: Utterance) -> Done:
    if not utterance.speech:
        return done
    language = utterance.language or language_of(done.answer, tuple(LANGUAGES))
    return msgspec.structs.replace(done, speech=spoken(done.answer, language))


def fields(event: Event) -> dict[str, object]:
    """The event's fields without its tag, which is the name of the server-sent event."""
    return {name: getattr(event, name) for name in event.__struct_fields__}


ROUTES = [
    web.post("/hub/ask", ask),
    web.get("/hub/answers", running),
    web.get("/hub/answers/{answer}", resume),
    web.delete("/hub/answers/{answer}", stop),
    web.post("/hub/explain", explain),
    web.post("/hub/retrieve", retrieve),
]
