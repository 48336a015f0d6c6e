"""For whom something shall be done: "unlock the door for Ann", "schließ dem Malte die Tür auf".

That is nothing that is worked, nor where: without it the sentence asks for the same. What is said,
set or noted for somebody keeps the name.
"""

import re
from collections.abc import Iterator, Mapping

from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Snapshot

FORMS: Mapping[str, str] = {
    "en": r"\s*\bfor (?:{names})(?=$|[,.!]| please\b)",
    "de": r"(?<!\bbei )(?<!\bvon )\b(?:für )?"
    r"(?:(?:den|dem|der|die|unser\w{{2}}|mein\w{{2}}) )?(?:{names})"
    r" (?=(?:(?:bitte|mal|doch|schnell|kurz|gleich) )*(?:die|den|das|unser\w*|mein\w*|sein\w*) )",
    "zh": r"[给帮替为](?:{names})(?=.)",
}
SPEAKING = re.compile(
    r"\b(?:tell|say|ask|call|sag\w*|frag\w*|ruf\w*|richte|schreib\w*|gib|les\w*|lies)\b|告诉|叫|问|说|打电话"
)
"""What is told somebody is not done for them."""


def without_receiver(text: str, known: Lexicon, snapshot: Snapshot) -> str:
    """``text`` without the person of the household for whom a thing shall be worked."""
    form = FORMS.get(known.language)
    names = "|".join(map(re.escape, _people(snapshot)))
    if not form or not names or SPEAKING.search(plain(text)) or known.subjects(text):
        return text
    pattern = re.compile(form.format(names=names), re.IGNORECASE)
    rest = pattern.sub("", text, count=1)
    return rest if rest != text and known.actions_in(plain(rest)) else text


def _people(snapshot: Snapshot) -> Iterator[str]:
    return (
        name for entity in snapshot.entities if entity.domain == "person" for name in called(entity)
    )
