"""A tool that calls webhook triggers of Home Assistant's automations, and says how sure it is.

Home Assistant answers 200 to unknown ids as well, so only a state that changes proves anything.
"""

import asyncio
from typing import Annotated, Any

import aiohttp
from msgspec import Meta

from hubd.home import webhooks
from hubd.home.household import Household
from plugins.api import Plugin, ToolContext, ToolError, ToolResult

CONFIRM_S = 5.0
LOOK_EVERY_S = 0.05


def automations(household: Household) -> Plugin:
    """The plugin for this household."""
    plugin = Plugin("automations")

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
