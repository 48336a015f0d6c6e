"""What goes wrong in the house and is told, not asked: "I smell gas", „die Waschmaschine läuft
aus“, 烤箱冒烟了. How that is said is in danger.yaml.

What to do then stands in papers, as what a question asks for does; no device is worked for it, and
no state told.
"""

import re
from functools import cache
from pathlib import Path
from typing import Literal

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.reasons import BREAK

Trouble = Literal["danger", "damage"]
KINDS: tuple[Trouble, ...] = ("danger", "damage")
FILE = Path(__file__).with_suffix(".yaml")


def trouble(text: str, language: str) -> Trouble | None:
    """What ``text`` tells of; ``None`` where it tells of no trouble, asks something, or says itself
    what shall be done."""
    known = lexicon(language)
    clauses = [known.stripped(clause) for clause in BREAK.split(text)]
    if text.rstrip().endswith(("?", "？")) or any(map(known.commands, clauses)):
        return None
    if known.inquires(known.stripped(text)):
        return None
    said = plain(text)
    return next((kind for kind in KINDS if any(p.search(said) for p in _of(language, kind))), None)


@cache
def _of(language: str, kind: Trouble) -> list[re.Pattern[str]]:
    read: dict[str, dict[str, list[str]]] = texts_in(FILE)
    return [re.compile(one) for one in read.get(language, {}).get(kind, ())]
