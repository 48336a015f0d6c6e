"""Home Assistant's intents → the hub's tools and their arguments: one table."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hubd.home.model import Entity
from plugins.api import ToolCall

SWITCHED = (
    "light", "switch", "fan", "input_boolean", "media_player", "climate", "humidifier", "siren",
    "water_heater", "automation",
)  # fmt: skip
COVERS = ("cover", "valve")
READ_ONLY = ("sensor", "binary_sensor", "person", "weather", "device_tracker")


class Rule(NamedTuple):
    """What an intent asks for."""

    tool: str
    domains: tuple[str, ...] = ()
    """The domains of the entities that the tool acts on; empty: it acts on none."""
    arguments: Mapping[str, str] = {}
    """Slot → argument."""
    needs_entity: bool = True


_START = {"start_hours": "of_hours", "start_minutes": "of_minutes", "start_seconds": "of_seconds"}
_LASTING = {"hours": "hours", "minutes": "minutes", "seconds": "seconds"}
_WHICH_TIMER = {"name": "timer", "area": "area", **_START}

RULES: dict[str, Rule] = {
    "HassLightSet": Rule(
        "lights.set",
        ("light",),
        {"brightness": "brightness", "color": "color", "temperature": "kelvin"},
    ),
    "HassSetPosition": Rule("home.set_position", COVERS, {"position": "position"}),
    "HassFanSetSpeed": Rule("fans.set_speed", ("fan",), {"percentage": "percentage"}),
    "HassClimateSetTemperature": Rule("climate.set", ("climate",), {"temperature": "temperature"}),
    "HassClimateGetTemperature": Rule("climate.temperature", ("climate", "sensor")),
    "HassGetState": Rule("home.state", arguments={"state": "state"}),
    "HassGetWeather": Rule("weather.now", ("weather",), needs_entity=False),
    "HassMediaPause": Rule("media.pause", ("media_player",)),
    "HassMediaUnpause": Rule("media.play", ("media_player",)),
    "HassMediaNext": Rule("media.next", ("media_player",)),
    "HassMediaPrevious": Rule("media.previous", ("media_player",)),
    "HassMediaPlayerMute": Rule("media.mute", ("media_player",)),
    "HassMediaPlayerUnmute": Rule("media.unmute", ("media_player",)),
    "HassMediaSearchAndPlay": Rule(
        "media.search", ("media_player",), {"search_query": "query", "media_class": "kind"}
    ),
    "HassSetVolume": Rule("media.set_volume", ("media_player",), {"volume_level": "volume"}),
    "HassSetVolumeRelative": Rule(
        "media.change_volume", ("media_player",), {"volume_step": "step"}
    ),
    "HassVacuumStart": Rule("vacuum.start", ("vacuum",)),
    "HassVacuumReturnToBase": Rule("vacuum.return_home", ("vacuum",)),
    "HassVacuumCleanArea": Rule("vacuum.clean_area", ("vacuum",), {"area": "area"}),
    "HassLawnMowerStartMowing": Rule("mower.start", ("lawn_mower",)),
    "HassLawnMowerDock": Rule("mower.return_home", ("lawn_mower",)),
    "HassStartTimer": Rule("timers.start", arguments={**_LASTING, "name": "name"}),
    "HassCancelTimer": Rule("timers.cancel", arguments=_WHICH_TIMER),
    "HassCancelAllTimers": Rule("timers.cancel", arguments={"area": "area"}),
    "HassPauseTimer": Rule("timers.pause", arguments=_WHICH_TIMER),
    "HassUnpauseTimer": Rule("timers.resume", arguments=_WHICH_TIMER),
    "HassIncreaseTimer": Rule("timers.add", arguments={**_LASTING, **_WHICH_TIMER}),
    "HassDecreaseTimer": Rule("timers.subtract", arguments={**_LASTING, **_WHICH_TIMER}),
    "HassTimerStatus": Rule("timers.list", arguments={"name": "name", "area": "area", **_START}),
    "HassShoppingListAddItem": Rule("lists.add", arguments={"item": "items"}),
    "HassShoppingListCompleteItem": Rule("lists.complete", arguments={"item": "item"}),
    "HassListAddItem": Rule("lists.add", arguments={"item": "items", "name": "list_name"}),
    "HassListCompleteItem": Rule("lists.complete", arguments={"item": "item", "name": "list_name"}),
    "HassListRemoveItem": Rule("lists.remove", arguments={"item": "item", "name": "list_name"}),
    "HassBroadcast": Rule("announce.say", arguments={"message": "message"}),
    "HassGetCurrentTime": Rule("clock.time"),
    "HassGetCurrentDate": Rule("clock.date"),
    "HassRespond": Rule("help.show"),
    "HassNevermind": Rule("help.never_mind"),
}

TURN = {
    "HassTurnOn": ("home.turn_on", "home.open", "home.lock", "home.activate"),
    "HassTurnOff": ("home.turn_off", "home.close", "home.unlock", ""),
}
"""What turning on and off is for switched things, for covers, for locks, and for scenes."""


LATER = Rule("routines.later", arguments={**_LASTING, "conversation_command": "command"})

_SOME = re.compile(
    r"^(?:(?:some(?:thing (?:by|from))?|a (?:bit|little) of|any|anything (?:by|from)|"
    r"(?:et)?was von|ein (?:bisschen|wenig)|etwas) (?=\w)|[一]?(?:点儿?|些)(?=\w))",
    re.IGNORECASE,
)
"""How much of something shall be played, which is no part of what it is called."""


def rule_of(intent: str, domain: str = "", slots: Mapping[str, Any] = {}) -> Rule | None:
    """The rule of an intent; for turning on and off it depends on what is turned.

    A timer that is to carry out a command is no timer.
    """
    if intent in TURN:
        return _turning(intent, domain)
    if "conversation_command" in slots:
        return LATER
    return RULES.get(intent)


def rule_of_tool(tool: str) -> Rule | None:
    """The rule of the intent that asks for ``tool``, for the domains it speaks of."""
    return next((rule for rule in RULES.values() if rule.tool == tool), None)


def turned_domains() -> tuple[str, ...]:
    """Everything that Home Assistant turns on and off."""
    return (*SWITCHED, *COVERS, "lock", "scene", "script", "button", "input_button", "vacuum")


def _turning(intent: str, domain: str) -> Rule | None:
    switched, cover, lock, activated = TURN[intent]
    if domain in COVERS:
        return Rule(cover, COVERS)
    if domain == "lock":
        return Rule(lock, ("lock",))
    if domain in ("scene", "script", "button", "input_button"):
        return Rule(activated, (domain,)) if activated else None
    if domain == "vacuum":
        return Rule("vacuum.start" if intent == "HassTurnOn" else "vacuum.return_home", ("vacuum",))
    return Rule(switched, SWITCHED) if domain in SWITCHED or not domain else None


def call_of(
    rule: Rule, intent: str, slots: Mapping[str, Any], entities: Sequence[Entity]
) -> ToolCall:
    """The tool call of an intent whose entities are found."""
    arguments: dict[str, Any] = {
        argument: slots[slot] for slot, argument in rule.arguments.items() if slot in slots
    }
    if rule.domains:
        arguments["entities"] = [entity.id for entity in entities]
    if rule.tool == "home.state":
        arguments["entities"] = [entity.id for entity in entities]
    if intent == "HassCancelAllTimers":
        arguments["timer"] = "all"
    if "items" in arguments:
        arguments["items"] = [str(arguments["items"])]
    if rule.tool == "media.search" and "query" in arguments:
        arguments["query"] = _SOME.sub("", str(arguments["query"]))
    if rule.tool == "media.change_volume":
        arguments["step"] = str(arguments.get("step", "up"))
    return ToolCall(tool=rule.tool, arguments=arguments)
