"""What the language model reads: the prompt contract, in one place.

First what never changes, byte-identical between requests, so that its keys and values are computed
once: instructions, the tools, the map of the home without its states. Then the
conversation. Last, in the final user message, what changes: notes from the documents, in the order
of the documents; the time, the room and states; the question. So a new device or tool invalidates
only what follows it, and a light switched on nothing before the final message.

Notes are the evidence, not whole passages: with SmolLM2-135M four times as many answers hold the
fact, after a sixth of the tokens.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from engine.protocol import ChatMessage
from plugins.api import Entity, Snapshot, Tool
from rag.types import Evidence

SYSTEM = (
    "You answer questions about a family's home. "
    "Answer from the notes in one short sentence. Use the words and numbers of the notes."
)

COMMAND_SYSTEM = (
    "You work the devices of a home. Somebody says something; you answer with the one tool call "
    "that does it, as JSON. Choose the tool for the verb, and the device that was named. "
    'When no tool does what was said, the tool is "none".\n'
    "Said: it is pitch black at the desk\n"
    '{"tool": "home.turn_on", "arguments": {"entities": ["light.desk"]}}\n'
    "Said: the radio has played long enough\n"
    '{"tool": "home.turn_off", "arguments": {"entities": ["media_player.radio"]}}\n'
    "Said: sing me a song about ducks\n"
    '{"tool": "none", "arguments": {"reason": "unknown"}}'
)

HISTORY_MESSAGES = 4
HISTORY_CHARACTERS = 4_000
"""About a thousand tokens, a quarter of the default context."""
NO_EVIDENCE = Evidence(quotes=[], answerable=0.0)


class Present(msgspec.Struct, frozen=True, kw_only=True):
    """What changes from one utterance to the next; what is left out is not told."""

    time: datetime | None = None
    """Aware, in the household's zone."""
    area: str | None = None
    """The name of the room in which it was said."""
    states: Sequence[Entity] = ()
    """Entities whose states matter for the utterance."""


def static_part(*, tools: Sequence[Tool] = (), home: Snapshot | None = None) -> str:
    """The system message: of answers from documents, or, with tools, of commands.

    The same bytes whatever the order in which things were found: this is what is kept warm.
    """
    if not tools:
        return SYSTEM
    parts = [COMMAND_SYSTEM, f"Tools:\n{tool_list(tools)}"]
    if home and home.entities:
        parts.append(f"Devices by area:\n{home_map(home)}")
    return "\n\n".join(parts)


def build(
    question: str,
    evidence: Evidence = NO_EVIDENCE,
    history: Sequence[ChatMessage] = (),
    *,
    static: str = SYSTEM,
    present: Present | None = None,
) -> list[ChatMessage]:
    """The messages of one question: static, then conversation, then what changes.

    The notes stand in the order of the documents, not of their scores: two questions about one page
    then share a longer prefix.
    """
    quotes = sorted(
        evidence.quotes, key=lambda quote: (quote.document, quote.page or 0, quote.start)
    )
    notes = "\n".join(quote.text for quote in quotes)
    said = present_part(present) if present else ""
    parts = [part for part in (notes, said, f"Question: {question}") if part]
    return [
        ChatMessage(role="system", content=static),
        *recent(history),
        ChatMessage(role="user", content="\n\n".join(parts)),
    ]


def recent(history: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """The last messages that there is room for, from something that a person said.

    Older ones are left out whole; none is cut.
    """
    room, first = HISTORY_CHARACTERS, len(history)
    while first and len(history) - first < HISTORY_MESSAGES:
        room -= len(history[first - 1].text())
        if room < 0:
            break
        first -= 1
    while first < len(history) and history[first].role != "user":
        first += 1  # templates such as Gemma's want the roles in turn
    return history[first:]


def command(
    text: str, static: str, tools: Sequence[str], present: Present | None = None
) -> list[ChatMessage]:
    """The messages of one command: static, then what changes: the tools that may fit, the time, the
    room and states, what was said."""
    said = present_part(present) if present else ""
    parts = [f"Tools that may fit: {', '.join(tools)}.", said, f"Said: {text}"]
    return [
        ChatMessage(role="system", content=static),
        ChatMessage(role="user", content="\n".join(part for part in parts if part)),
    ]


def tool_list(tools: Sequence[Tool]) -> str:
    """One tool a line, by name: its arguments, those that may be left out with a question mark, and
    the first line of its description. A fifth of the tokens of its JSON schema."""
    return "\n".join(map(_signature, sorted(tools, key=lambda tool: tool.name)))


def _signature(tool: Tool) -> str:
    required = tool.parameters.get("required", ())
    arguments = (
        name if name in required else f"{name}?"
        for name in sorted(tool.parameters.get("properties", {}))
    )
    first_line = tool.description.partition("\n")[0]
    return f"{tool.name}({', '.join(arguments)}): {first_line}"


def home_map(home: Snapshot) -> str:
    """Areas by name, each with the names and ids of its entities; nothing of their states."""
    names = {area.id: area.name for area in home.areas}
    by_area: dict[str, list[str]] = {}
    for entity in sorted(home.entities, key=lambda entity: entity.id):
        area = names.get(entity.area or "", "elsewhere")
        by_area.setdefault(area, []).append(f"{entity.name} ({entity.id})")
    return "\n".join(f"{area}: {', '.join(by_area[area])}" for area in sorted(by_area))


def present_part(present: Present) -> str:
    """Time, room and states as lines."""
    lines = []
    if present.time:
        lines.append(f"It is {present.time:%A, %Y-%m-%d %H:%M}.")
    if present.area:
        lines.append(f"This was said in: {present.area}.")
    lines += [f"{entity.name} ({entity.id}) is {entity.state}." for entity in present.states]
    return "\n".join(lines)
