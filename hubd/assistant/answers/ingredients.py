"""The things that a recipe, or another list in a document, asks for: "300 g red lentils".

From the passages under one heading; knows no answers and no tools.
"""

import re
from collections.abc import Sequence

MOST = 30
LONGEST = 60
LEAST = 2
"""Things that a sentence or a table counts, or it is none that lists them."""
_BULLET = re.compile(r"^\s*[-*•·–]\s+(?P<item>.+)$")
_QUANTITY = re.compile(
    r"^(?:about |ca\.? |etwa |rund )?"
    r"(?:\d+(?:[.,/]\d+)? ?(?!and\b|to\b|und\b|bis\b)[a-zäöüß]|[½¼¾]|"
    r"an? (?:pinch|handful|bunch|few|little|tin|can|knob|drop|teaspoon|tablespoon)|half an?|"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|some) [a-z]|(?:juice|zest) of|"
    r"eine? (?:prise|handvoll|bund|dose|tasse|schuss)|"
    r"(?:ein|eine|zwei|drei|vier|fünf|sechs|etwas|saft) [a-zäöü])",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:再?[加放用入])?(?P<item>[\u4e00-\u9fff]{1,5}?(?:\d+|[一二两三四五六七八九十半]+)"
    r"(?:千克|公斤|毫升|克|升|斤|茶匙|汤匙|小勺|勺|碗|个|杯|只|片|根|瓣|把))"
)
_VERB = re.compile(
    r"^(?:mix|whisk|take|weigh|use|combine|beat|you need|we need|man braucht|wir brauchen|"
    r"[\w ,]+:)\s+",
    re.IGNORECASE,
)
_TABLE_OF_THEM = re.compile("ingredient|zutat|材料|食材|配料", re.IGNORECASE)
_PART = re.compile(r"[,，、;；](?![^(（]*[)）])\s*")
_AND = re.compile(r"^(?:and|und|和)\s+", re.IGNORECASE)


def items_in(passages: Sequence[str]) -> list[str]:
    """What is listed, each as it is written: the points of a list, else the cells or the sentence
    that count several things. Empty where nothing is."""
    text = "\n".join(passages)
    lines = text.splitlines()
    points = [found["item"] for line in lines if (found := _BULLET.match(line))]
    if points:
        return _each_once([item for point in points for item in (_counted(point) or [point])])
    if "|" in text and _TABLE_OF_THEM.search(text):
        cells = [cell for line in lines for cell in line.split("|")]
        return _enough([item for cell in cells for item in _counted(cell)])
    if re.search("[\u4e00-\u9fff]", text):
        return _enough([found["item"] for found in _CHINESE.finditer(text)])
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(text.split()))
    return _enough(max(map(_counted, sentences), key=len, default=[]))


def _counted(said: str) -> list[str]:
    """The things that a part of a text counts, where it begins with one."""
    text = _VERB.sub("", said.strip(" .。"))
    parts = [_AND.sub("", part).strip(" .。") for part in _PART.split(text)]
    if not _QUANTITY.match(parts[0]):
        return []
    return [part for part in parts if _QUANTITY.match(part) and len(part) <= LONGEST]


def _enough(items: Sequence[str]) -> list[str]:
    return _each_once(items) if len(items) >= LEAST else []


def _each_once(items: Sequence[str]) -> list[str]:
    return [item for item in dict.fromkeys(items) if len(item) <= LONGEST][:MOST]
