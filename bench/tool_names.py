"""The tools and their arguments, as authors of sentences are told them.

python -m bench.tool_names
"""

from hubd.tools import find_plugins

UNSAID = {"restore", "drop", "put", "follow_event"}
"""Tools that undo calls, and nobody asks for."""


def main() -> None:
    for plugin in find_plugins():
        for name, tool in plugin.tools.items():
            if name.partition(".")[2] in UNSAID:
                continue
            arguments = [
                f"{argument} ({', '.join(schema['enum'])})" if "enum" in schema else argument
                for argument, schema in tool.parameters["properties"].items()
            ]
            line = f"- `{name}`: {tool.description.splitlines()[0]}"
            print(f"{line} Arguments: {', '.join(arguments)}." if arguments else line)


if __name__ == "__main__":
    main()
