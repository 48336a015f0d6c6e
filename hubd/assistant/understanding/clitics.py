"""Pronouns that French and Spanish join to a verb: "éteins-la", "apágala"."""

import re

_FRENCH = re.compile(r"-(la|le|les)\b")
_SPANISH = re.compile(r"(?P<verb>\w*[áéíóú]\w*?|pon)(?P<it>l[aoe]s?)\b")
_UNACCENTED = str.maketrans("áéíóú", "aeiou")


def apart(said: str, language: str) -> str:
    """``said`` (plain), its first verb and the pronoun apart: "éteins la", "apaga la"; as it
    stands in other languages."""
    if language == "fr":
        return _FRENCH.sub(r" \1", said)
    found = _SPANISH.match(said) if language == "es" else None
    if found is None:
        return said
    return f"{found['verb'].translate(_UNACCENTED)} {found['it']}{said[found.end() :]}"
