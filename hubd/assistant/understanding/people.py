"""Who lives here, as they are called: by name, and as a family says it ("Mum", „Oma“, 老林)."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Snapshot

PERSON = "person"
FILE = Path(__file__).with_name("people.yaml")


@cache
def family_words(language: str, what: str) -> tuple[str, ...]:
    """What people.yaml has for a language: ``kin``, what is said ``fondly``, ``there``."""
    read: Mapping[str, Mapping[str, list[str]]] = texts_in(FILE)
    return tuple(read.get(language, {}).get(what, ()))


def people(snapshot: Snapshot, language: str) -> list[str]:
    """How the people here are called (plain), the longest first."""
    names = [plain(n) for e in snapshot.entities if e.domain == PERSON for n in called(e)]
    if lexicon(language).spaces:
        short = [name.split()[0] for name in names if name]
    else:  # 林浩 is 老林 and 小浩
        short = [one for name in names if len(name) > 1 for one in _short(name)]
    every = {*names, *short, *family_words(language, "kin")} - {""}
    return sorted(every, key=len, reverse=True)


def asks_whether_there(text: str, language: str) -> bool:
    """Whether ``text`` has to do with who is at home."""
    return any(re.search(form, plain(text)) for form in family_words(language, "there"))


def _short(name: str) -> tuple[str, ...]:
    return f"老{name[0]}", f"小{name[0]}", f"小{name[-1]}"
