"""Which tool an utterance asks for, by sentence grammar: milliseconds, and no language model.

A plugin's sentence file is a hassil intents file whose intent names are tool names and whose slots
are the tool's arguments. An utterance that no sentence covers is a question for the documents.
"""

from collections.abc import Iterable
from pathlib import Path

import yaml
from hassil import Intents, recognize_best

from plugins.api import ToolCall

MAXIMUM_UTTERANCE = 300
"""Characters. A command is short; matching time grows with length."""


class SentenceFileError(Exception):
    """A plugin's sentence file cannot be used; the message names the file."""


class Router:
    """The sentences of all plugins, compiled once."""

    def __init__(self, sentence_files: Iterable[Path]) -> None:
        """Raises ``SentenceFileError`` for a file that is not a hassil intents file."""
        self._intents = [_load(path) for path in sentence_files]

    def route(self, text: str) -> ToolCall | None:
        """The tool call that ``text`` asks for, or ``None``."""
        if len(text) > MAXIMUM_UTTERANCE:
            return None
        for intents in self._intents:
            match = recognize_best(text.strip(), intents)
            if match is not None:
                arguments = {name: entity.value for name, entity in match.entities.items()}
                return ToolCall(tool=match.intent.name, arguments=arguments)
        return None


def _load(path: Path) -> Intents:
    try:
        return Intents.from_dict(yaml.safe_load(path.read_text(encoding="utf-8")))
    except Exception as error:  # hassil and PyYAML share no base class
        raise SentenceFileError(f"{path.name}: not a sentence file: {error}") from error
