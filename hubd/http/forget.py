"""``POST /hub/forget``: a person, a conversation, a document, or whatever holds certain words."""

from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd.errors import BadRequestError
from hubd.http import replies
from hubd.http.body import read_body, reply
from hubd.http.described import describe
from hubd.http.services import SERVICES, Services
from hubd.policy import OWNER
from hubd.store.forget import forget_conversation, forget_person, forget_words

Text = Annotated[str, Meta(min_length=2, max_length=200)]


class Forget(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Exactly one of these."""

    person: Text | None = None
    conversation: Text | None = None
    document: Text | None = None
    words: Text | None = None


@describe(body=Forget, reply=replies.Forgotten)
async def forget(request: web.Request) -> web.StreamResponse:
    """What was removed, counted; nothing can bring it back but a backup of before."""
    services = request.app[SERVICES]
    body = await read_body(request, Forget)
    said = {name: value for name, value in msgspec.structs.asdict(body).items() if value}
    if len(said) != 1:
        raise BadRequestError("say one of person, conversation, document and words")
    counts = {"turns": 0, "devices": 0, "documents": 0}
    if body.person:
        counts |= await _person(services, body.person)
    elif body.conversation:
        counts["turns"] = await forget_conversation(services.database, body.conversation)
    elif body.document:
        counts["documents"] = int(await services.library.remove(body.document))
    elif body.words:
        counts["turns"] = await forget_words(services.database, body.words)
    services.assistant.answers.clear()
    return reply(counts)


async def _person(services: Services, name: str) -> dict[str, int]:
    """What they said, their devices, and they themselves; an owner stays, with their devices."""
    person = services.access.person(name)
    turns = await forget_person(services.database, name)
    if person is OWNER:
        return {"turns": turns}
    theirs = [token.id for token in services.access.tokens() if token.person == name]
    await services.access.remove_person(name)
    for identity in theirs:
        services.traffic.end(identity)
    return {"turns": turns, "devices": len(theirs)}


ROUTES = [web.post("/hub/forget", forget)]
