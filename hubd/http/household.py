"""The household that a file describes: ``PUT /hub/home``; and how it is: ``GET /hub/home``."""

import msgspec
from aiohttp import web

from hubd.errors import BadRequestError
from hubd.http import replies
from hubd.http.body import read_body, reply
from hubd.http.described import describe
from hubd.http.services import SERVICES
from plugins.api import Snapshot


class Description(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    description: str
    """YAML or JSON, see docs/home.md."""


@describe(reply=Snapshot)
async def show(request: web.Request) -> web.StreamResponse:
    """Floors, areas and entities with their states, Home Assistant's where it is linked."""
    return reply(request.app[SERVICES].household.snapshot())


@describe(body=Description, reply=replies.HomeCounts)
async def load(request: web.Request) -> web.StreamResponse:
    """Replace the described household."""
    services = request.app[SERVICES]
    body = await read_body(request, Description)
    if services.household.linked is not None:
        raise BadRequestError("Home Assistant is connected: its home is the one in use")
    snapshot = await services.described.load(body.description)
    return reply(counts(snapshot))


def counts(snapshot: Snapshot) -> dict[str, int]:
    """How much a household holds."""
    return {
        "floors": len(snapshot.floors),
        "areas": len(snapshot.areas),
        "entities": len(snapshot.entities),
    }


ROUTES = [web.get("/hub/home", show), web.put("/hub/home", load)]
