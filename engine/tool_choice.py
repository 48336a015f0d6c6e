"""Tool calls that a request demands: a grammar which only a valid call of its tools follows.

OpenAI's `tool_choice` "required" and a named function. Knows nothing of HTTP or of models.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from engine.chat_parse import CONVENTIONS, END_THINK
from engine.errors import InvalidRequestError
from engine.sampling_params import Grammar

Tool = dict[str, Any]

_COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_SHAPES = {
    "hermes": ("\n", "\n"),
    "mistral": ("[", "]"),
    "phi": ("[", "]"),
    "gemma": ("\n", "\n"),
}
"""What stands between the marks of a convention and the JSON object of a call."""


def chosen_tools(
    tools: Sequence[Tool], choice: str | dict[str, Any] | None
) -> tuple[list[Tool], bool]:
    """The tools that may be called, and whether one of them has to be.

    choice: `tool_choice` of the request. Raises InvalidRequestError.
    """
    match choice:
        case None | "auto":
            return list(tools), False
        case "none":
            return [], False
        case "required":
            if tools:
                return list(tools), True
            raise InvalidRequestError("a call is required, but no tools are there", param="tools")
        case {"type": "function", "function": {"name": str(name)}}:
            named = [tool for tool in tools if tool["function"]["name"] == name]
            if named:
                return named, True
            raise InvalidRequestError(f"there is no tool {name!r} to call", param="tool_choice")
        case _:
            raise InvalidRequestError(
                "tool_choice must be 'auto', 'none', 'required' or"
                " {'type': 'function', 'function': {'name': NAME}}",
                param="tool_choice",
            )


def call_grammar(
    convention: str, control: Mapping[str, int], tools: Sequence[Tool], *, thinking: bool
) -> Grammar:
    """One call of one of these tools with arguments that follow its schema, and nothing else.

    control: the vocabulary's control tokens; a mark that is one of them is that token. thinking:
    the prompt has opened a reasoning block, which has to be closed first.
    """
    marks = CONVENTIONS[convention]
    if marks.bare_json:  # known by standing first, which it does not after a reasoning block
        parts = [_mark(marks.opening[0], control), "call"] if thinking else ["call"]
    else:
        before, after = _SHAPES[convention]
        parts = [_mark(marks.opening[0], control), json.dumps(before), "call", json.dumps(after)]
        if marks.closing is not None:
            parts.append(_mark(marks.closing, control))
    if thinking:
        parts = [json.dumps("\n"), _mark(END_THINK, control), json.dumps("\n\n"), *parts]
    key = "parameters" if convention == "llama3" else "arguments"
    rules = [f"start: {' '.join(parts)}"]
    rules.append("call: " + " | ".join(f"call_{index}" for index in range(len(tools))))
    for index, tool in enumerate(tools):
        rules.append(f"call_{index}: %json {json.dumps(_schema(tool, key))}")
    return Grammar("grammar", "\n".join(rules), "tools")


def _mark(text: str, control: Mapping[str, int]) -> str:
    return f"<[{control[text]}]>" if text in control else json.dumps(text)


def _schema(tool: Tool, key: str) -> dict[str, Any]:
    """The JSON schema of a call; definitions of the arguments' schema are moved to the root, where
    references look for them."""
    function = tool["function"]
    arguments = function.get("parameters") or {"type": "object"}
    if not isinstance(arguments, dict):
        raise InvalidRequestError(
            f"the parameters of {function['name']!r} are no JSON schema", param="tools"
        )
    definitions = {name: arguments[name] for name in ("$defs", "definitions") if name in arguments}
    inner = {name: value for name, value in arguments.items() if name not in definitions}
    return {
        "type": "object",
        "properties": {"name": {"const": function["name"]}, key: {"type": "object"} | inner},
        "required": ["name", key],
        "additionalProperties": False,
        "x-guidance": _COMPACT,
        **definitions,
    }
