"""What is said to the hub and asks for nothing: thanks in many forms, "fair enough", „na dann ist
es ja gut“, 原来如此. How that is said is in chatter.yaml.

What consists of nothing else is chatter; before a request it is no part of it („Schade. Dann …“).
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.reasons import BREAK

Chatter = Literal["hello", "thanks", "bye", "noted"]
KINDS: tuple[Chatter, ...] = ("thanks", "bye", "hello", "noted")
"""What is answered first where several are said: "okay, thanks, bye" are thanks."""
FILE = Path(__file__).with_suffix(".yaml")
LONGEST = 80
"""Characters of what is looked at."""
_THEN = {
    "de": re.compile(
        r"dann (?:halt |eben |bitte |doch )?(?=(?:schreib|setz|pack|tu|trag|nimm|lösch|streich|"
        r"mach|schalt|stell|dreh|spiel|gib|lass|merk|sperr|fahr|schick)e?\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile("那(?:就|你)?(?=[放关开把加播设定提打调暂继])"),
}
"""What links a request to what was said before and is no word of it."""


def chatter(text: str, language: str) -> Chatter | None:
    """What ``text`` is, if it asks for nothing; ``None`` where it is anything else."""
    if len(text) > LONGEST:
        return None
    if _consists(text, language, *KINDS):
        kind = next((kind for kind in KINDS if _has(text, language, kind)), None)
        asks = text.rstrip().endswith(("?", "？")) and kind in ("thanks", "bye")
        return None if asks else kind
    return "noted" if _is_waived(text, lexicon(language)) else None


def without_openings(text: str, language: str, people: Sequence[str]) -> str:
    """``text`` without what it only begins with: „Schade. Dann schreib …“ → „schreib …“, "it's Ann,
    turn on the lamp" → "turn on the lamp".

    people: how the people of the household are called
    """
    if chatter(text, language) is not None:
        return text
    rest = text
    while (gap := BREAK.search(rest)) and gap.end() < len(rest):
        first = rest[: gap.start()]
        if not (_consists(first, language, "openings") or _introduces(first, language, people)):
            break
        rest = rest[gap.end() :]
    then = _THEN.get(language, NEVER).match(rest)
    return rest[then.end() :] if then else rest


_WISHES = {"zh": re.compile("吧[。！! ]*$")}
"""What ends as a wish does, and tells no reason: 算了，全拉开吧."""


def behind_never_mind(text: str, language: str) -> str:
    """What is said behind a "never mind" that stands first; empty where none does."""
    gap = BREAK.search(text)
    if gap is None or language not in _read():
        return ""
    first = plain(text[: gap.start()])
    forms = f"{_any(language, 'waived')}|{_any(language, 'dropped')}"
    return text[gap.end() :] if re.fullmatch(forms, first) else ""


def _introduces(text: str, language: str, people: Sequence[str]) -> bool:
    """Whether it says who speaks: „ich bin die Oma“."""
    form = _any(language, "introduced") if language in _read() else NEVER.pattern
    named = "|".join(map(re.escape, people)) or NEVER.pattern
    return (
        re.fullmatch(form.replace("{person}", f"(?:{named})(?: (?:{named}))?"), plain(text))
        is not None
    )


def _is_waived(text: str, known: Lexicon) -> bool:
    """Whether it only tells why nothing is wanted: "never mind, they've gone"."""
    gap = BREAK.search(text)
    if gap is None or not _consists(text[: gap.start()], known.language, "waived"):
        return False
    why = known.stripped(text[gap.end() :])
    asks = text.rstrip().endswith(("?", "？")) or known.inquires(why) or known.corrected(text)
    wishes = _WISHES.get(known.language, NEVER).search(text) is not None
    return not (asks or wishes or known.commands(why, whole=False))


def _consists(text: str, language: str, *kinds: str) -> bool:
    pattern = _whole(language, kinds)
    return pattern is not None and pattern.fullmatch(plain(text)) is not None


def _has(text: str, language: str, kind: str) -> bool:
    edge = r"\b" if lexicon(language).spaces else ""
    return re.search(f"{edge}(?:{_any(language, kind)}){edge}", plain(text)) is not None


@lru_cache(maxsize=64)
def _whole(language: str, kinds: tuple[str, ...]) -> re.Pattern[str] | None:
    """Matches what consists of forms of these kinds, one after the other."""
    if language not in _read():
        return None
    among = (*kinds, "beside") if len(kinds) > 1 else kinds
    every = "|".join(_any(language, kind) for kind in among)
    between = r"(?: |$)" if lexicon(language).spaces else "[ ,]*"
    return re.compile(f"(?:(?:{every}){between})+")


def _any(language: str, kind: str) -> str:
    return "|".join(f"(?:{form})" for form in _read()[language][kind])


@cache
def _read() -> dict[str, dict[str, list[str]]]:
    read: dict[str, dict[str, list[str]]] = texts_in(FILE)
    return read
