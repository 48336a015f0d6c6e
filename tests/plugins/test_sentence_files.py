"""What a sentence of a plugin hears is told to its tool."""

import re
from collections.abc import Iterator, Mapping

import pytest
import yaml

from hubd.tools import find_plugins, sentence_files

LEFT = {
    "alarms.set": {"why"},
    "announce.say": {"name"},
    "chance.pick": {"why"},
    "dates.until": {"who"},
    "lists.add": {"purpose"},
    "lists.create": {"purpose"},
    "lists.show": {"asked"},
    "timers.start": {"reason"},
    "weather.on": {"gear", "going", "purpose"},
}
"""What is said and changes nothing of what is done."""
SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
RULE = re.compile(r"<(\w+)>")
PLUGINS = find_plugins()
TOOLS = {name: tool for plugin in PLUGINS for name, tool in plugin.tools.items()}
FILES = [path for plugin in PLUGINS for path in sentence_files(plugin)]


def slots(sentence: str, rules: Mapping[str, str]) -> Iterator[str]:
    """Also of the rules that it is made of, which use one another in no circle."""
    for listed, slot in SLOT.findall(sentence):
        yield slot or listed
    for rule in RULE.findall(sentence):
        yield from slots(rules.get(rule, ""), rules)


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_every_slot_is_an_argument(path):
    content = yaml.safe_load(path.read_text())
    rules = content.get("expansion_rules", {})
    for intent, sentences in content["intents"].items():
        arguments = set(TOOLS[intent].parameters["properties"])
        if "entities" in arguments:
            continue  # things and rooms are looked up in the home
        told = arguments | LEFT.get(intent, set())
        for group in sentences["data"]:
            assert group.get("slots", {}).keys() <= told
            for sentence in group["sentences"]:
                assert set(slots(sentence, rules)) <= told, sentence
