"""To which room a robot that cleans is sent: by its name ("Dusty, just the hall", 小白，扫玄关), or
behind what it did before ("do the hall instead", „dann mach lieber den Flur“).

Only a room of the house, and nothing else, is meant so. How it is said is in robots.yaml.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from hubd.assistant.understanding.data_files import first_match, texts_in
from hubd.assistant.understanding.names import Names, called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Area, Snapshot

ROBOT = "vacuum"
_PAUSE = re.compile(r"\s*[,，:：]\s*|\s+(?=nur |just |only )")


def room_instead(text: str, home: Snapshot, language: str) -> Area | None:
    """The room that ``text``, said behind what a robot did, sends it to; ``None``: it sends it
    nowhere."""
    return _room_in(text, home, language, "instead")


def sent_by_name(text: str, home: Snapshot, language: str) -> str:
    """``text`` as a command, where a robot is called or sent and a room named: "have Dusty clean
    the Hall"; else as it stands."""
    if language not in _words() or "?" in text or "？" in text:
        return text
    beginning, *rest = _PAUSE.split(text.strip(), maxsplit=1)
    sent = first_match(plain(text), _words()[language]["sent"])
    ways = [(sent["robot"], Names.area(home, sent["room"]))] if sent else []
    ways += [(beginning, _room_in(one, home, language, "called")) for one in rest]
    command: str = _words()[language]["command"]
    for name, room in ways:
        robots = [one for one in home.entities if one.domain == ROBOT and _is_called(one, name)]
        if room is not None and len(robots) == 1:
            return command.format(name=robots[0].name, room=room.name)
    return text


def _room_in(text: str, home: Snapshot, language: str, way: str) -> Area | None:
    said = " ".join(re.sub("[,，]", " ", plain(text)).split())
    said = said if language != "zh" else said.replace(" ", "")
    found = first_match(said, _words().get(language, {}).get(way, ()))
    return Names.area(home, found["room"]) if found else None


def _is_called(robot: Any, said: str) -> bool:
    return plain(said) in {plain(name) for name in called(robot)}


@cache
def _words() -> dict[str, Any]:
    read: dict[str, Any] = texts_in(Path(__file__).with_suffix(".yaml"))
    return read
