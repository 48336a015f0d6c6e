"""How it stands with Home Assistant: ``GET /hub/home-assistant``, and looking at the link again."""

from aiohttp import web

from hubd.errors import HubError
from hubd.http.body import reply
from hubd.http.security import over_unix_socket
from hubd.http.services import SERVICES, Services


class OwnerOnlyError(HubError):
    """Asked by somebody who may not."""

    code = "forbidden"
    status = 403


async def status(request: web.Request) -> web.StreamResponse:
    """Whether Home Assistant is linked, and how it is."""
    return reply(_status(request.app[SERVICES]))


async def reload(request: web.Request) -> web.StreamResponse:
    """Look at the link again: the command line has changed it."""
    if not over_unix_socket(request):
        raise OwnerOnlyError("only the hub's owner may do this", "Use `hubd home connect`.")
    services = request.app[SERVICES]
    await services.household.reload()
    return reply(_status(services))


def _status(services: Services) -> dict[str, object]:
    status, problem = services.household.status(), services.household.problem
    if problem is not None:
        return {"linked": True, "problem": problem.message, "hint": problem.hint}
    return {"linked": status is not None, "status": status}


ROUTES = [
    web.get("/hub/home-assistant", status),
    web.post("/hub/home-assistant/reload", reload),
]
