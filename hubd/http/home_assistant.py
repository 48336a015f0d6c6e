"""Home Assistant: how it stands with it, looking at the link again, and its notifications."""

from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd.errors import HubError
from hubd.home.device import NOTIFY_PATH
from hubd.http.body import read_body, reply
from hubd.http.services import SERVICES, Services


async def status(request: web.Request) -> web.StreamResponse:
    """Whether Home Assistant is linked, and how it is."""
    return reply(_status(request.app[SERVICES]))


async def reload(request: web.Request) -> web.StreamResponse:
    """Look at the link again: the command line has changed it."""
    services = request.app[SERVICES]
    await services.household.reload()
    return reply(_status(services))


class Notification(msgspec.Struct, kw_only=True):
    """What Home Assistant's ``notify.mobile_app_hubd`` posts."""

    message: Annotated[str, Meta(max_length=10_000)]
    push_token: Annotated[str, Meta(max_length=200)]
    title: Annotated[str, Meta(max_length=1_000)] = ""
    data: dict[str, Any] = {}


class NotHomeError(HubError):
    """The notification does not carry the secret that Home Assistant was given."""

    code = "unauthorized"
    status = 401


async def notify(request: web.Request) -> web.StreamResponse:
    """A notification from Home Assistant, shown on every open page."""
    services = request.app[SERVICES]
    services.deliveries.count("notifications of Home Assistant")
    told = await read_body(request, Notification)
    if not services.device.is_from_home(told.push_token):
        raise NotHomeError("this notification does not carry the hub's secret")
    shown = {"title": told.title, "message": told.message, "source": "home_assistant"}
    services.board.publish("notification", shown)
    return reply({"shown_on": services.board.listeners}, 201)


def _status(services: Services) -> dict[str, object]:
    status, problem = services.household.status(), services.household.problem
    if problem is not None:
        return {"linked": True, "problem": problem.message, "hint": problem.hint}
    return {"linked": status is not None, "status": status, "push": services.device.problem}


ROUTES = [
    web.get("/hub/home-assistant", status),
    web.post("/hub/home-assistant/reload", reload),
    web.post(NOTIFY_PATH, notify),
]
