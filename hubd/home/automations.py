"""What Home Assistant does on the hub's word: webhook triggers of automations, and reports.

Home Assistant answers 200 to unknown ids as well, so only a state that changes proves that an
automation ran. A report is a template that the owner wrote into the configuration, and none comes
from anywhere else, since a template sees every state there is.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import aiohttp
from msgspec import Meta

from hubd.home import webhooks
from hubd.home.household import Household
from plugins.api import Plugin, ToolContext, ToolError, ToolResult

CONFIRM_S = 5.0
LOOK_EVERY_S = 0.05


def automations(
    household: Household, reports: Mapping[str, str], render: Callable[[str], Awaitable[str]]
) -> Plugin:
    """The plugin for this household.

    Args:
        reports: name → template, of the configuration.
        render: what Home Assistant makes of a template; raises ``HomeError``.
    """
    plugin = Plugin("automations", sentences="automations.{language}.yaml")
    known = {name.casefold(): template for name, template in reports.items()}

    def is_report(arguments: Mapping[str, Any], language: str) -> bool:
        return str(arguments.get("name", "")).casefold().strip() in known

    @plugin.tool(risk="read", fits=is_report)
    async def report(
        context: ToolContext, name: Annotated[str, Meta(min_length=1, max_length=60)]
    ) -> ToolResult:
        """Tell a report that Home Assistant makes, by the name it has in the configuration.

        name: for instance laundry
        """
        template = known.get(name.casefold().strip())
        if template is None:
            names = ", ".join(sorted(reports)) or "none"
            raise ToolError(f"There is no report “{name}”. There are: {names} ([home.reports]).")
        return ToolResult(text=await render(template), data={"report": name})

    @plugin.tool(risk="act", timeout_s=20)
    async def trigger(
        context: ToolContext,
        webhook_id: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[\w.~-]+$")],
        data: dict[str, Any] | None = None,
        entity: str = "",
        state: str = "",
    ) -> ToolResult:
        """Call the webhook trigger of an automation in Home Assistant.

        webhook_id: the trigger's id; data: what the automation gets as trigger.json; entity and
        state: what shows that it ran, such as input_boolean.gate and on
        """
        home = household.linked
        if home is None:
            raise ToolError("Home Assistant is not connected.")
        known = household.snapshot().entity(entity) if entity else None
        if entity and known is None:
            raise ToolError(f"There is no {entity} in this household.")
        async with aiohttp.ClientSession() as session:
            await webhooks.trigger(session, home.link, webhook_id, data or {})
        if known is None:
            return ToolResult(text="Sent, not confirmed.", data={"confirmed": False})
        before = known if not state else None
        try:
            async with asyncio.timeout(CONFIRM_S):
                while True:
                    now = household.snapshot().entity(entity)
                    if now is not None and (now.state == state if state else now != before):
                        text = f"Done: {now.name} is {now.state}."
                        return ToolResult(text=text, data={"confirmed": True})
                    await asyncio.sleep(LOOK_EVERY_S)
        except TimeoutError:
            text = f"Sent, not confirmed: {known.name} has not changed."
            return ToolResult(text=text, data={"confirmed": False})

    return plugin
