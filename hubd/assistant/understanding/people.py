"""Who lives here, as they are called: by name, and as a family says it ("Mum", „Oma“, 老林)."""

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
    """The words (plain) for the family of a language: ``kin``, or what is said ``fondly``."""
    read: Mapping[str, Mapping[str, list[str]]] = texts_in(FILE)
    return tuple(map(plain, read.get(language, {}).get(what, ())))


def people(snapshot: Snapshot, language: str) -> list[str]:
    """How the people here are called (plain), the longest first."""
    names = [plain(n) for e in snapshot.entities if e.domain == PERSON for n in called(e)]
    if lexicon(language).spaces:
        short = [name.split()[0] for name in names if name]
    else:  # 林浩 is 老林 and 小浩
        short = [one for name in names if len(name) > 1 for one in _short(name)]
    every = {*names, *short, *family_words(language, "kin")} - {""}
    return sorted(every, key=len, reverse=True)


def _short(name: str) -> tuple[str, ...]:
    return f"老{name[0]}", f"小{name[0]}", f"小{name[-1]}"
