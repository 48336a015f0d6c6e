"""German clauses as sentences of their own. Shared by plugins; no plugin itself.

Behind a "dass" the verb ends the clause: „dass das Essen auf dem Tisch steht“. What is told on,
noted or reminded of stands without it: „das Essen steht auf dem Tisch“, „Emil abholen“. What begins
with no "dass" is as it was said; where subject or verb are not plain, only the "dass" goes.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import yaml

from plugins.speech import FAST_LOADER


@cache
def _words() -> dict[str, frozenset[str]]:
    """german_clauses.yaml: ``_words()["modals"]`` has "muss"."""
    text = (Path(__file__).parent / "german_clauses.yaml").read_text(encoding="utf-8")
    return {kind: frozenset(said.split()) for kind, said in yaml.load(text, FAST_LOADER).items()}


_THAT = re.compile(r"(?:dass|daß) |das (?=(?:ich|wir|er|es|ihr|man) )", re.IGNORECASE)
"""The last is one that was misheard."""
_CLAUSE = re.compile(r"(?P<clause>.+?)(?P<rest>(?:[,;.!?:](?=\s|$)).*)?$")
_ARTICLE = re.compile(
    r"(?:d(?:er|ie|as)|(?:k|m|d|s)?eine?|ihre?|unse?re?|unser|eure?|diese[rs]?|jede[rs]?|alle|beide|"
    r"zwei|drei|vier|fünf)",
    re.IGNORECASE,
)
"""That of a subject: „den“ and „dem“ stand with none."""
_TIME = re.compile(
    r"(?:(?:ab )?(?:morgen|heute|übermorgen)(?: (?:früh|Morgen|Vormittag|Mittag|Nachmittag|Abend|"
    r"Nacht))?|jetzt|gleich|später|nachher|bald|hier|oben|unten|draußen) "
)
"""What may come first, and has the verb behind it: „gleich kommt Besuch“."""
_ADJECTIVE = re.compile(r"[a-zäöüß]+(?:e|en|er|es)")
_VERB = re.compile(r"[a-zäöüß]+(?:t|en|eln|ern|e)")
_STEM = (
    r"(?:sch[lmnrw]?|sp[rl]?|str?|pf[lr]?|[bfgkp][lr]|[dt]r|kn|qu|zw|[bdfghjklmnprstvwz])?"
    r"[aeiouäöü][a-zäöüß]{2,}"
)
"""How a verb begins: „an“ is no prefix of „antwortet“, nor „zu“ of „zuckt“."""
_SEPARABLE = "|".join(sorted(_words()["separable"], key=len, reverse=True))
_PARTED = re.compile(rf"(?P<prefix>{_SEPARABLE})(?P<stem>{_STEM})")
_WHOLE = re.compile(rf"(?:{'|'.join(_words()['whole'])})\w+")
_TO = re.compile(rf"\b(?P<prefix>{_SEPARABLE})zu(?P<stem>{_STEM}n)(?=$| und )(?<!fügen)")
_TO_DO = re.compile(r"(?<!etwas )(?<!nichts )\bzu (?=[a-zäöüß]+n(?:$| und ))")
_NO_TO = re.compile(
    r"\b(?:um|ohne|anstatt|statt) [^,]*\bzu\b|(?i:tür|tor|fenster|garage|luke|klappe|deckel|hahn|"
    r"schublade|rollladen|rollo|vorhang|vorhänge) zu (?:machen|drehen|ziehen|sperren|lassen)"
)
"""Where a "zu" is of something else: „um zu backen“, „die Tür zu machen“."""
_STEP = re.compile(r",? und (?:dann |danach )?|, (?:dann |danach )?")
"""Between what is done one after the other."""
_OWN = re.compile(r"(?P<who>ich|wir) (?P<what>.+) (?P<verb>[a-zäöüß]+)", re.IGNORECASE)


def main_clause(text: str) -> str:
    """„dass das Essen auf dem Tisch steht, kommt“ → „das Essen steht auf dem Tisch, kommt“; a text
    that begins with no "dass" as it is."""
    that = _THAT.match(text)
    if that is None:
        return text
    told = text[that.end() :]
    parts = _CLAUSE.match(told)
    said = parts["clause"].split() if parts else []
    length = _length_of_subject(said)
    if parts is None or not 0 < length < len(said) - 1 or not _is_verb(said[-1]):
        return told
    verb, prefix = _without_prefix(said[-1])
    order = [*said[:length], verb, *said[length:-1], prefix]
    return " ".join(order).strip() + (parts["rest"] or "")


def task(text: str) -> str:
    """What somebody is reminded of, as what is to be done: „die Wäsche aufzuhängen“ and „dass ich
    die Wäsche aufhängen muss“ → „die Wäsche aufhängen“; of what others do the `main_clause`."""
    that = _THAT.match(text)
    if that is None and _NO_TO.search(text):
        return text
    if that is None:
        return _TO_DO.sub("", _TO.sub(r"\g<prefix>\g<stem>", text))
    own = _OWN.fullmatch(text[that.end() :].rstrip(" .!"))
    if own is None or "," in own["what"] or own["verb"] in _words()["no_task"]:
        return main_clause(text)
    if own["verb"] in _words()["modals"]:
        return own["what"]
    return f"{own['what']} {_infinitive(own['verb'])}"


def as_requests(clauses: str) -> str:
    """„erst die Lampe anmacht und dann den Fernseher“ → „mach die Lampe an, dann mach den Fernseher
    an“: what something shall do, as what it is told; empty where the verb is not plain."""
    steps = [re.sub("^(?:erst|zuerst|dann|danach) ", "", one) for one in _STEP.split(clauses)]
    last = [step.rpartition(" ") for step in steps]
    verbs = [_request(verb) if thing else None for thing, _, verb in last]
    told: list[str] = []
    for at, (step, (thing, _, _)) in enumerate(zip(steps, last, strict=True)):
        verb = verbs[at] or next(filter(None, (*verbs[:at][::-1], *verbs[at:])), None)
        if verb is None:
            return ""
        what = thing if verbs[at] else step
        told.append(" ".join(filter(None, (verb[0], what, verb[1]))))
    return ", dann ".join(told)


def _request(verb: str) -> tuple[str, str] | None:
    """Of „anmacht“ how it is told to do, „mach“ and „an“; ``None``: that is no such verb."""
    if not re.fullmatch(r"[a-zäöüß]+t", verb):
        return None
    stem, prefix = _without_prefix(verb)
    stem = stem.removesuffix("et") if stem.endswith(("det", "tet")) else stem.removesuffix("t")
    return (stem, prefix) if _is_verb(verb) and len(stem) > 1 else None


def _length_of_subject(said: Sequence[str]) -> int:
    """How many words the subject has with which a clause begins, or the time; 0: not plain."""
    if len(said) < 2:
        return 0
    if first := _TIME.match(" ".join(said)):
        return len(first[0].split())
    if not any(word[0].isupper() for word in said) and _ARTICLE.fullmatch(said[0]):
        return 0  # nobody knows where its noun ends: "dass das essen fertig ist"
    has_article = _ARTICLE.fullmatch(said[0]) is not None
    length = _length_of_noun(said)
    if not length:
        return 1 if said[0].casefold() in _words()["pronouns"] else 0
    more = said[length:]
    if (
        has_article
        and more[2:]
        and more[0] in _words()["belonging"]
        and (of := _length_of_noun(more[1:]))
    ):
        length += 1 + of
    if said[length : length + 1] == ["und"]:
        other = _length_of_subject(said[length + 1 :])
        return length + 1 + other if other else 0
    return length


def _length_of_noun(said: Sequence[str]) -> int:
    """Of „der neue Rasenmäher“, „Tante Gabi“; 0: it is none."""
    at = 1 if _ARTICLE.fullmatch(said[0]) else 0
    while at and at < len(said) and _ADJECTIVE.fullmatch(said[at]):
        at += 1
    if at >= len(said) or not said[at][0].isupper():
        return 0
    at += 1
    if at == 1 and _is_owner(said):
        return 2
    while at < len(said) and said[at - 1] in _words()["titles"] and said[at][0].isupper():
        at += 1
    return at


def _is_owner(said: Sequence[str]) -> bool:
    """Whether the first noun tells whose the second is, and more than the verb stands behind them:
    „Omas Brille im Auto liegt“; „Hans Brot kauft“ has a subject of one word."""
    return (
        len(said) > 3
        and re.fullmatch(r"\w+[^\Ws]s", said[0]) is not None
        and said[1][0].isupper()
        and said[2][0].islower()
    )


def _is_verb(word: str) -> bool:
    return word in _words()["finite"] or (
        bool(_VERB.fullmatch(word)) and word not in _words()["no_verbs"]
    )


def _without_prefix(verb: str) -> tuple[str, str]:
    """„abfährt“ → „fährt“ and „ab“."""
    parted = None if _WHOLE.fullmatch(verb) else _PARTED.fullmatch(verb)
    return (parted["stem"], parted["prefix"]) if parted else (verb, "")


def _infinitive(verb: str) -> str:
    """Of a form that stands with "ich" or "wir": „abhole“, „abhol“, „abholen“ → „abholen“."""
    if verb.endswith("n"):
        return verb
    if re.search(r"[^aeiouäöülrhn]le$", verb):
        return f"{verb[:-2]}eln"
    if re.search(r"[^ieu]ere$", verb):
        return f"{verb[:-1]}n"
    return f"{verb}n" if verb.endswith("e") else f"{verb}en"
