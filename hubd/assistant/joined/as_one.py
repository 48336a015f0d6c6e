"""Commands of one sentence that are one or go together: items of a list that are said one after the
other, an event and when it is, a "stop" with what shall stop behind it, what plays and how loud.
"""

import re
from datetime import UTC, datetime

import msgspec

from hubd.assistant.decision import Decision, is_named
from hubd.assistant.several import LISTED, Part, is_cry
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import plain
from plugins.api import ToolCall
from plugins.when import parse

EVENT = "calendar.add"
STOP = "home.stop"
SEARCH = "media.search"
ENDS = frozenset({STOP, "home.turn_off", "vacuum.stop", "vacuum.return_home", "mower.return_home"})
ACTIVATE, RUN = "home.activate", "routines.run"
TOO_LOUD = "media.change_volume:down"
VOLUME = frozenset({"media.set_volume", "media.change_volume"})


def with_items_joined(parts: list[Part]) -> list[Part]:
    """The parts, with what goes on the same list one after the other as one command."""
    joined: list[Part] = []
    for part in parts:
        before = joined[-1] if joined else None
        together = _as_one(before.decision, part.decision) if before else None
        if before and together:
            texts = dict.fromkeys((before.text, part.text))
            joined[-1] = Part(text=", ".join(texts), decision=together)
        else:
            joined.append(part)
    return joined


def with_its_time(parts: list[Part]) -> list[Part]:
    """The parts, with an event that has no time and the time that is said alone behind it as one:
    把看牙加到日历，下周三上午十点."""
    joined: list[Part] = []
    for part in parts:
        before = joined[-1] if joined else None
        call = before.decision.call if before else None
        bare = call is not None and call.tool == EVENT and not call.arguments.get("when")
        if before and call and bare and _is_time(part):
            arguments = {**call.arguments, "when": part.text}
            decision = msgspec.structs.replace(
                before.decision,
                call=msgspec.structs.replace(call, arguments=arguments),
                arguments={**before.decision.arguments, "when": part.text},
            )
            joined[-1] = Part(text=f"{before.text}, {part.text}", decision=decision)
        else:
            joined.append(part)
    return joined


def _is_time(part: Part) -> bool:
    """Whether it is not understood by itself, and names a time and nothing else."""
    if part.decision.tool is not None:
        return False
    when = parse(part.text, part.decision.language, datetime.now(UTC))
    return (when.said or when.on is not None) and not re.search(r"\w", when.rest)


def with_same_player(parts: list[Part]) -> list[Part]:
    """The parts, with the volume as that of what was asked to play just before, where a sentence
    names no other player: "play jazz in the kitchen and turn the volume to 30"."""
    found: list[Part] = []
    for part in parts:
        before, call = found[-1].decision if found else None, part.decision.call
        plays = before is not None and before.tool == SEARCH and bool(before.entities)
        told = part.decision.route != "semantic"  # which does not tell what it names
        named = not told or bool({"name", "area", "floor"} & part.decision.arguments.keys())
        if before is None or not plays or named or call is None or call.tool not in VOLUME:
            found.append(part)
            continue
        call = msgspec.structs.replace(
            call, arguments={**call.arguments, "entities": before.entities}
        )
        decision = msgspec.structs.replace(part.decision, entities=before.entities, call=call)
        found.append(msgspec.structs.replace(part, decision=decision))
    return found


def without_its_occasion(parts: list[Part]) -> list[Part]:
    """The parts without what people say when they leave or go to bed, beside the scene or the
    routine for it that is named: 我们走了，离家模式."""
    named = [part for part in parts if part.decision.tool == ACTIVATE or is_named(part.decision)]
    said = [part for part in parts if part.decision.tool == RUN and not is_named(part.decision)]
    return [part for part in parts if part not in said] if named else parts


def without_a_cry(parts: list[Part]) -> list[Part]:
    """The parts without a "stop" that is called out first and said of something else behind it:
    "stop, er, the awning, hold it"."""
    first, *rest = parts
    stops = any(part.decision.tool == STOP for part in rest)
    return rest if stops and is_cry(first.text) else parts


def without_its_noise(parts: list[Part], known: Lexicon) -> list[Part]:
    """The parts without a "too loud" that is said of something else, which is stopped: 太吵了，
    扫地机停一下 is about the vacuum alone; "make it quieter and stop the vacuum" wishes both."""
    stopped = any(
        part.decision.tool in ENDS and not any(map(_plays, part.decision.entities))
        for part in parts
    )
    return [part for part in parts if not (stopped and _is_too_loud(part, known))]


def _plays(entity: str) -> bool:
    return entity.startswith("media_player.")


def _is_too_loud(part: Part, known: Lexicon) -> bool:
    """Whether it only complains of noise, and names nothing that makes it."""
    told, said = part.decision.arguments, plain(part.text)
    complains = TOO_LOUD in known.implied(said) and not known.actions_in(said)
    quieter = f"{part.decision.tool}:{told.get('step')}" == TOO_LOUD
    return complains and quieter and not {"name", "area", "floor"} & told.keys()


def _as_one(first: Decision, other: Decision) -> Decision | None:
    """Both as one, where both put items on the same list."""
    calls = first.call, other.call
    if first.asks or other.asks or not all(call and call.tool == LISTED for call in calls):
        return None
    before, after = (dict(call.arguments) for call in calls if call)
    items = [*before.pop("items", ()), *after.pop("items", ())]
    if before != after:
        return None
    call = ToolCall(tool=LISTED, arguments={**before, "items": items})
    return msgspec.structs.replace(first, call=call, arguments={**first.arguments, "items": items})
