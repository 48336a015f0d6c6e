"""Make examples of what people said in homes of their own, for what tells intents apart.

    python -m bench.spoken_examples [LANGUAGE…]

Reads the utterances of strangers in tests/data/assistant, and those of bench/spoken, which others
wrote for some of the same households; what they are is told there. Writes
hubd/assistant/understanding/spoken/LANGUAGE.yaml: the utterances by what they ask for, with the
names of things and rooms as their kinds. Then ``bench.fit_examples`` and ``bench.fit_worded`` have
to be run.
"""

import argparse
import asyncio
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

from bench.strangers import DATA
from hubd.assistant.evaluate import Sample, samples
from hubd.assistant.route import Router
from hubd.assistant.understanding.likeness import SPOKEN
from hubd.home.file import read_description
from hubd.tools import find_plugins, sentence_files

OTHERS = Path(__file__).parent / "spoken"
LANGUAGES = ("en", "de", "zh")
SETS = (*range(1, 39), 40, 41, 42, 43)
"""The sets of strangers that are examples (39 is in bench/spoken); what comes behind them is asked
first."""
NONE = "none"

Kind = tuple[str, str, str]
"""Tool, step, and the domains of its things."""


def files_of(language: str) -> list[Path]:
    """What was said in a language."""
    sets = [DATA / f"strangers{number}.{language}.yaml" for number in SETS]
    return [*filter(Path.is_file, sets), *sorted(OTHERS.glob(f"{language}*.yaml"))]


def kind_of(sample: Sample) -> Kind:
    """What an utterance asks for."""
    domains = sorted({entity.partition(".")[0] for entity in sample.entities})
    return sample.tool or NONE, str(sample.arguments.get("step", "")), " ".join(domains)


def said_in(file: Path, language: str) -> list[tuple[Kind, str]]:
    """The utterances of a file, with names as their kinds."""
    data = yaml.safe_load(file.read_text("utf-8"))
    home = read_description((DATA / data["home"]).read_text("utf-8"))
    plugins = find_plugins()
    tools = [tool for plugin in plugins for tool in plugin.tools.values()]
    router = Router(tools, [path for one in plugins for path in sentence_files(one)], lambda: home)
    said = samples(data)
    asyncio.run(router.prepare(said[0].text, language))
    return [(kind_of(one), router.masked(one.text, language)) for one in said]


def write(language: str) -> None:
    """Write the examples of a language."""
    found: dict[Kind, dict[str, None]] = defaultdict(dict)
    for file in files_of(language):
        for kind, text in said_in(file, language):
            if text:
                found[kind][text] = None
    groups: list[dict[str, Any]] = []
    for (tool, step, domains), texts in sorted(found.items()):
        group: dict[str, Any] = {"tool": tool}
        group |= {"arguments": {"step": step}} if step else {}
        group |= {"domains": domains.split()} if domains else {}
        groups.append({**group, "said": list(texts)})
    path = SPOKEN / f"{language}.yaml"
    path.write_text(
        "# Made by bench/spoken_examples.py.\n"
        + yaml.safe_dump(groups, allow_unicode=True, sort_keys=False, width=10_000),
        "utf-8",
    )
    print(f"{path.name}: {sum(len(texts) for texts in found.values())} utterances")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    for language in parser.parse_args().languages or LANGUAGES:
        write(language)


if __name__ == "__main__":
    main()
