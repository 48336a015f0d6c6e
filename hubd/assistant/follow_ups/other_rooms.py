"""What a robot that cleans is sent to behind what it did before: "do the hall instead" after it was
stopped, „dann mach lieber den Flur“, 那就扫玄关吧.

Decides and does nothing.
"""

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.matched import CLEANS_ROOM
from hubd.assistant.understanding.robots import ROBOT, room_instead
from hubd.home.model import Snapshot
from plugins.api import ToolCall


def in_another_room(text: str, last: Decision, home: Snapshot) -> Decision | None:
    """The robot that was spoken of last, in the room that ``text`` names and nothing else; ``None``
    where it names none, or it is not of one robot."""
    if len(last.entities) != 1 or not last.entities[0].startswith(f"{ROBOT}."):
        return None
    if "?" in text or "？" in text or (room := room_instead(text, home, last.language)) is None:
        return None
    arguments: dict[str, object] = {"area": room.name, "entities": list(last.entities)}
    sent = continuing(last, ToolCall(tool=CLEANS_ROOM, arguments=arguments))
    return msgspec.structs.replace(sent, entities=last.entities)
