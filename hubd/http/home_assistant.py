"""Home Assistant: how it stands with it, looking at the link again, and its notifications."""

from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd.errors import HubError
from hubd.home.device import NOTIFY_PATH
from hubd.http import replies
from hubd.http.body import read_body, reply
from hubd.http.described import describe
from hubd.http.services import SERVICES, Services
from hubd.tool_context import Speaker
from plugins.api import ToolCall, ToolError

REMINDER = "reminders.add"


@describe(reply=replies.HomeAssistant)
async def status(request: web.Request) -> web.StreamResponse:
    """Whether Home Assistant is linked, and how it is."""
    return reply(_status(request.app[SERVICES]))


@describe(reply=replies.HomeAssistant)
async def reload(request: web.Request) -> web.StreamResponse:
    """Look at the link again: the command line has changed it."""
    services = request.app[SERVICES]
    await services.household.reload()
    return reply(_status(services))


class NotificationData(msgspec.Struct, kw_only=True):
    """What the sender of a notification adds for this hub; what is for other apps is left alone."""

    speak: bool = False
    """Read it aloud where a page is open that can."""
    remind: Annotated[str, Meta(max_length=200)] = ""
    """Make it a reminder: when, as one says it, such as "in 20 minutes"."""


class Notification(msgspec.Struct, kw_only=True):
    """What Home Assistant's ``notify.mobile_app_hubd`` posts."""

    message: Annotated[str, Meta(max_length=10_000)]
    push_token: Annotated[str, Meta(max_length=200)]
    title: Annotated[str, Meta(max_length=1_000)] = ""
    data: NotificationData = msgspec.field(default_factory=lambda: NotificationData())


class NotHomeError(HubError):
    """The notification does not carry the secret that Home Assistant was given."""

    code = "unauthorized"
    status = 401


@describe(body=Notification, reply=replies.Notified, status=201, others={400: replies.NotReminded})
async def notify(request: web.Request) -> web.StreamResponse:
    """A notification from Home Assistant: shown on every open page, read aloud, or a reminder."""
    services = request.app[SERVICES]
    services.deliveries.count("notifications of Home Assistant")
    told = await read_body(request, Notification)
    if not services.device.is_from_home(told.push_token):
        raise NotHomeError("this notification does not carry the hub's secret")
    if told.data.remind:
        return await _remind(services, told)
    shown = {
        "title": told.title,
        "message": told.message,
        "speak": told.data.speak,
        "source": "home_assistant",
    }
    services.board.publish("notification", shown)
    return reply({"shown_on": services.board.listeners}, 201)


async def _remind(services: Services, told: Notification) -> web.Response:
    """A reminder made of a notification; Home Assistant logs ``message`` when it cannot be."""
    what = ": ".join(part for part in (told.title, told.message) if part)
    call = ToolCall(tool=REMINDER, arguments={"what": what, "when": told.data.remind})
    try:  # whoever wrote the automation wanted it so; nobody is there to be asked
        result = await services.tools.call(call, Speaker(provenance="schedule"))
    except ToolError as error:
        return reply({"message": f"No reminder was made: {error}"}, 400)
    return reply({"reminder": result.text}, 201)


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
