"""A request in a clause that depends on its politeness, as the plain command that it is: "ich hätte
gern, dass du die Lampe ausschaltest", "wärst du so nett, die Lampe auszuschalten" → "schalt die
Lampe aus".

German, where the verb of such a clause ends it and has its prefix before it. What somebody only
tells, doubts or does not want is no request and stays as it was said.
"""

import re

_PREFIXES = (
    *("an", "ab", "auf", "aus", "ein", "zu", "hoch", "runter", "herunter", "hinunter", "rauf"),
    *("herauf", "hinauf", "raus", "heraus", "rein", "herein", "hinein", "um", "weiter", "fort"),
    *("los", "durch", "vor", "zurück", "hinzu", "dazu", "drauf", "dran", "fest", "stumm", "weg"),
    *("nach", "mit", "bereit", "bescheid", "heller", "dunkler", "lauter", "leiser", "wärmer"),
    *("kälter", "kühler", "höher", "tiefer", "schneller", "langsamer", "sauber", "leer"),
)
"""What a verb is parted from where it begins a sentence."""
_SEPARABLE = "|".join(sorted(_PREFIXES, key=len, reverse=True))
_MODAL = (
    "könntest|kannst|würdest|magst|möchtest|willst|tätest|wolltest|könnten?|können|würden?|möchten?"
)
_GREETING = (
    r"(?:(?:bitte|hallo|hey|hi|du|ach|also|so|ja|übrigens|entschuldigung|entschuldige|verzeihung|"
    r"sorry|guten \w+|liebe\w*|sag mal|hör mal|pass auf|weißt du was),? )*"
)
_WHO = "(?P<who>du|ihr|sie|jemand|einer|wer|man)"
_TAIL = r"(?P<tail>(?:[,.!?;:…]|\s(?:und|weil|denn|damit|bevor|bitte|danke|ja)\b).*)?$"
_WISH = re.compile(
    rf"^{_GREETING}(?P<lead>(?:ich|wir|es|das|mir|uns|wie|wäre?|würde|fände)\b[^,.;:!?]*?),?\s+"
    rf"(?:dass|wenn)\s+{_WHO}\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_WISHES = re.compile(
    r"\b(?:möchten?|will|wollen|wünschen?|wünsch|bräuchten?|(?:ich|wir) bitten?|bitten)\b|"
    r"\bhätte?n? gerne?\b|"
    r"\b(?:hätte?n?|hätt|wäre?n?|wär's|würden?|würd|fänden?|fänd|ginge)\b.*\b(?:gerne?|lieb\w*|nett|"
    r"gut|schön|toll|super|prima|klasse|recht|dankbar|froh|freuen|dagegen|hilfreich|praktisch|besser|"
    r"gefallen|schlecht|möglich|verbunden)\b",
    re.IGNORECASE,
)
_IS_NONE = re.compile(
    r"\b(?:nicht|nie\w*|kein\w*|nichts|gewesen|wissen|fragen|hören|sicher|gehört|gedacht|glaube?n?|"
    r"sage?n?|gesagt|schlimm|schlecht|blöd|doof|ärger\w*|als|früher|gestern|auch)\b",
    re.IGNORECASE,
)
_FINE = re.compile(r"\b(?:nicht schlecht|nichts dagegen|nichts aus|nicht zu viel)\b", re.IGNORECASE)
"""A "not" that wants it all the same: "es wäre nicht schlecht, wenn du …"."""
_WHETHER = re.compile(
    rf"^{_GREETING}(?:(?:ich )?(?:frage|wollte|würde|darf|dürfte)(?![^,]*wissen)[^,.;!?]*,\s+)?"
    rf"ob\s+{_WHO}\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
"""A request that only wonders: "ob du wohl die Lampe ausmachen könntest"; it needs the modal."""
_BEHIND = re.compile(
    rf"^{_GREETING}wenn\s+{_WHO}\s+(?P<rest>[^.!?]+?),\s*(?:dann )?"
    r"(?:wäre?|würde|das wäre|fände|wär)\b(?P<lead>[^,.;!?]*?\b(?:dankbar|nett|lieb|schön|super|"
    r"toll|prima|klasse|freuen|gut|großartig|spitze|hilfreich)\b[^,.;!?]*)[.!]*$",
    re.IGNORECASE,
)
_SO_KIND = re.compile(
    rf"^{_GREETING}wenn (?:du|sie) so (?:nett|lieb|gut|freundlich) (?:wärst|wärest|bist|wären|sind)"
    r"\s+und\s+(?:du\s+)?(?P<rest>.+)$",
    re.IGNORECASE,
)
_SO_KIND_AS_TO = re.compile(
    rf"^{_GREETING}(?:wärst|wärest|bist|wärt|seid) (?:du|ihr) (?:bitte |mal )*so "
    r"(?:nett|lieb|gut|freundlich),? und (?:du )?(?P<verb>[a-zäöü]\w*t) (?P<rest>[^?]+?)[?.!]*$",
    re.IGNORECASE,
)
"""The same with its verb before the object: "wärst du so nett und setzt Mehl auf die Liste?"."""
_DO_YOU = re.compile(
    rf"^{_GREETING}(?P<verb>(?:schreib|notier|pack|leg|stell|mach|schalt|dreh|fähr|träg|nimm|häng|"
    r"streich|lösch|weck|öffne|spiel|lies|gib|räum|merk)s?t|setzt|schließt|lässt|hältst|liest) du "
    r"(?![^?]*\b(?:dich|dir|gern|nicht|nie|kein\w*)\b)"
    r"(?P<rest>(?:(?:mir|uns|mal|noch|eben|kurz|dann) )*bitte [^?]+|(?:mir|uns) [^?]+|[^?]+ bitte)"
    r"[?.!]*$",
    re.IGNORECASE,
)
"""The same with the verb first and a "please", or for whom: „Schreibst du bitte Mehl auf den
Zettel?“; without either it may be asked of the hub: „Schreibst du Gedichte?“."""
_FOR_WHOM = re.compile(r"\b(?:bitte|mir|uns) ", re.IGNORECASE)
_EXCLAIMED = re.compile(
    r"^(?:(?:boah|mann|oh mann|mensch|puh|uff|meine güte|du meine güte|herrje|oje|oh gott|ach gott|"
    r"himmel|junge|alter|wow|hui|brr+|ach|ah|oh),? )+(?P<is>ist|sind|wird|stinkt|riecht|zieht) "
    r"(?P<what>das|es) (?P<how>[^?]+?)[.!]*$",
    re.IGNORECASE,
)
"""What is told with its verb first, and no question: "boah, ist das grell hier"."""
_ASKED_TO = re.compile(
    rf"^{_GREETING}(?:wärst|wären|wärt|würdest|würden|könntest|könnten|kannst|bist|sind|hättest|hätten|"
    r"magst|darf|dürfte|ist|wäre|wär|würde|ginge|ich|wir|macht|sei|seien)\b[^,.;:!?]*?\b"
    r"(?:nett|lieb|gut|freundlich|güte|freundlichkeit|bitten?|ausmachen|möglich|gefallen|umstände|aus)"
    r"\b[^,.;:!?]{0,20},\s+(?P<object>[^.;:!?]+?)\s+"
    rf"(?P<verb>zu\s+\w+n|(?:{_SEPARABLE})zu\w+n){_TAIL}",
    re.IGNORECASE,
)
_POLITE_QUESTION = (
    r"^(?:(?:bitte|ähm?|hey|du|ach|also|so|ja|und|übrigens|entschuldigung|hallo|sorry|sag mal),? )*"
    r"(?:kannst|könntest|würdest|magst|möchtest|willst|können|könnten|würden) (?:du|sie|ihr) "
    r"(?P<object>[^.;:!?]+?)\s+(?P<verb>(?-i:[a-zäöü])\w*n)"
)
_COULD_YOU = re.compile(_POLITE_QUESTION + _TAIL, re.IGNORECASE)
_COULD_YOU_THERE = re.compile(
    rf"{_POLITE_QUESTION}(?P<place>\s(?:im|in|am|bei|auf)\s[\w-]+(?:\s[\w-]+)?){_TAIL}",
    re.IGNORECASE,
)
"""The same with the place behind the verb: "kannst du das Rollo runterlassen im Bad"."""
_STATE = re.compile(
    r"^(?P<object>.+)\s(?:(?:(?<=\san\s)|(?<=\saus\s)|(?<=\sauf\s)|(?<=\szu\s)|(?<=\soffen\s)|"
    r"(?<=geschlossen\s)|(?<=\soben\s)|(?<=\sunten\s)|(?<=\shoch\s)|(?<=\srunter\s)|(?<=er\s))"
    r"(?:ist|sind|wäre|wären|wär|wird|würde|würden|werden)|"
    r"(?P<runs>leuchtet|leuchten|brennt|brennen|läuft|laufen|(?:an|aus|auf|zu|hoch|runter|herunter)(?:geht|ginge|gehen|fährt|führe|fahren)))"
    r"(?P<tail>[,.!?;].*)?$",
    re.IGNORECASE,
)
"""How things shall be: "wenn das Terrassenlicht an wäre"."""
_THING = re.compile(
    rf"^{_GREETING}(?P<lead>(?:ich|wir|es|mir|uns|wäre?|würde|fände|sorge?|kannst|könntest)\b[^,.;:!?]*?),?"
    r"\s+(?:dass|wenn)\s+(?P<rest>(?:der|die|das|es|in|im|um|ab|bei|sämtliche|mein\w*|unser\w*|hier|alle)\b.+)$",
    re.IGNORECASE,
)
_BY_ITSELF = re.compile(r"\b(?:von (?:selbst|alleine?)|automatisch)\s", re.IGNORECASE)
_DOES = re.compile(
    r"^(?P<thing>(?:der|die|das|mein\w*|unser\w*)\s[\w-]+)\s(?P<how>.+?)\s(?P<verb>[a-zäöüß]{3,}t)"
    r"(?P<tail>[,.!?;].*)?$"
)
_DOING = {"fährt": "fahren", "läuft": "laufen", "hält": "halten", "lädt": "laden", "gibt": "geben"}
_ASKS_WHAT = re.compile(r",?\s*(?:ob|wie|was|wann|wo|wer|welch\w*|warum)\b", re.IGNORECASE)
"""What makes an indirect question of it: "kannst du mir sagen, wie warm es ist"."""
_THOUGH = re.compile(
    r"(?<=\w),? (?:und )?(?:dabei|obwohl|obgleich|wo doch)\s(?:ist|sind|hat|haben|schläft|schlafen|"
    r"sitzt|sitzen|liegt|braucht|wohnt|war|waren|er|sie|wir|ich|da|dort|die|der|das|alle|keiner|niemand|es)"
    r"(?![^,]*\b(?:keiner|niemand|kein)\b)\s[^,]+$",
    re.IGNORECASE,
)
"""Why a state is odd, behind what complains of it: "…, dabei ist sie längst in der Schule"."""
_WRITES = re.compile(
    r"^(?:bitte |mal )*(?:merk|notier|schreib|sag|erinner|durchsage|richte|gib|trag|such|spiel|"
    r"notiz)",
    re.IGNORECASE,
)
"""How what is kept or said word for word begins."""
_NOT_BEFORE = re.compile(
    r",? aber (?:bitte )?erst (?=(?:in|um|ab|gegen|morgen|heute|am)\b)", re.IGNORECASE
)
"""Between a command and its time: "mach die Lampe an, aber erst in zehn Minuten"."""
_LISTED = re.compile(
    r"^(?:bitte )?(?:(?:auf )?(?:die|den|unsere|unseren) )?"
    r"(?P<list>einkaufsliste|einkaufszettel|liste)\s*:\s*(?P<items>.+)$",
    re.IGNORECASE,
)
"""What stands behind a colon: "Einkaufsliste: Milch, Eier"."""
_RUNS = {
    **dict.fromkeys(("leuchtet", "leuchten", "brennt", "brennen", "läuft", "laufen"), " an"),
    **{f"{way}{goes}": f" {way}" for way in ("an", "aus", "auf", "zu", "hoch", "runter", "herunter")
       for goes in ("geht", "ginge", "gehen", "fährt", "führe", "fahren")},
}  # fmt: skip
_SEES_TO_IT = re.compile(r"\bdafür\b|^sorg", re.IGNORECASE)
_NO_VERB = frozenset({
    "hast", "bist", "wirst", "warst", "hattest", "sonst", "fast", "erst", "zuerst", "selbst",
    "meist", "längst", "jetzt", "nicht", "sogst", "weißt", "darfst", "musst", "sollst",
})  # fmt: skip
_IRREGULAR = {
    "fährst": "fahr", "öffnest": "öffne",
    "lässt": "lass", "hältst": "halt", "trägst": "trag", "läufst": "lauf",
    "liest": "lies", "tust": "tu", "gibst": "gib", "nimmst": "nimm", "lädst": "lad",
    "fährt": "fahr", "gibt": "gib", "nimmt": "nimm", "trägt": "trag", "hält": "halt",
    "tut": "tu", "bläst": "blas",
}  # fmt: skip
_STRONG = {
    "geben": "gib", "nehmen": "nimm", "lesen": "lies", "sprechen": "sprich", "brechen": "brich",
    "werfen": "wirf", "vergessen": "vergiss", "sehen": "sieh", "helfen": "hilf", "tun": "tu",
}  # fmt: skip


def commanded(text: str, language: str) -> str:
    """The command that ``text`` asks for in a clause of its own; ``text`` where it does not."""
    if language != "de":
        return text
    text = _EXCLAIMED.sub(r"\g<what> \g<is> \g<how>", _NOT_BEFORE.sub(" ", text))
    text = text if _WRITES.match(text) else _THOUGH.sub("", text)
    if found := _LISTED.match(text):
        return f"Setz {found['items']} auf die Einkaufsliste"
    if not _COULD_YOU.match(text) and _COULD_YOU_THERE.match(text):
        return imperative(text, language) or text
    found = _ASKED_TO.match(text)
    if found and _DENIES.search(found["object"]):
        return text
    if found and not _IS_NONE.search(_FINE.sub("", _lead_of(found))):
        verb = re.sub(rf"^(?:zu\s+|({_SEPARABLE})zu(?=\w))", r"\1", found["verb"].lower())
        return _joined(found["object"], verb, _told(found["tail"]), finite=False)
    for pattern in (_BEHIND, _WISH):
        if (found := pattern.match(text)) and (pattern is _BEHIND or _is_wish(found["lead"])):
            return _of_clause(found["rest"], found["who"].lower()) or text
    if found := _SO_KIND.match(text):
        return _of_clause(found["rest"], "du") or text
    if found := _SO_KIND_AS_TO.match(text):
        return f"{_from_finite(found['verb'].lower())} {found['rest']}"
    if found := _DO_YOU.match(text):
        rest = _FOR_WHOM.sub("", found["rest"].removesuffix(" bitte"), count=2)
        return f"{_from_finite(found['verb'].lower())} {rest}"
    if found := _WHETHER.match(text):
        return _of_clause(found["rest"], found["who"].lower(), modal=True) or text
    if (found := _THING.match(text)) and (
        _SEES_TO_IT.search(found["lead"]) or _is_wish(found["lead"])
    ):
        rest = _BY_ITSELF.sub("", found["rest"])
        state = _STATE.match(rest)
        if state is None:
            return _shall(rest) or text
        return (
            state["object"] + (_RUNS[state["runs"]] if state["runs"] else "") + _told(state["tail"])
        )
    return text


def imperative(text: str, language: str) -> str:
    """The command that a question for it is: "kannst du Tomaten auf den Zettel schreiben" →
    "schreib Tomaten auf den Zettel"; empty where it is none."""
    found = None
    if language == "de":
        found = _COULD_YOU.match(text) or _COULD_YOU_THERE.match(text)
    if found is None:
        return ""
    if _ASKS_WHAT.match(found["tail"] or "") or _DENIES.search(found["object"]):
        return ""
    place = found.groupdict().get("place") or ""
    return _joined(
        found["object"] + place, found["verb"].lower(), _told(found["tail"]), finite=False
    )


def _told(tail: str | None) -> str:
    """What follows the clause, without the mark that made a question of it."""
    return (tail or "").replace("?", ".", 1)


def _shall(rest: str) -> str:
    """What somebody wishes a thing to do, as what it shall do: "dass Staubi durch die Küche fährt";
    empty where the clause does not end with a verb."""
    found = _DOES.match(rest)
    if found is None:
        return ""
    verb = found["verb"]
    does = _DOING.get(verb) or re.sub(r"e?t$", "en", verb)
    return f"{found['thing']} soll {found['how']} {does}{_told(found['tail'])}"


def _lead_of(found: re.Match[str]) -> str:
    return found.string[: found.start("object")]


def _is_wish(lead: str) -> bool:
    return bool(_WISHES.search(lead)) and not _IS_NONE.search(_FINE.sub("", lead))


def _of_clause(rest: str, who: str, *, modal: bool = False) -> str:
    """The command of a clause that ends with its verb, and of the one that "and" joins to it;
    empty where it ends with none. modal: only with "könntest" and the like"""
    pattern = re.compile(
        rf"^(?P<object>.+?)\s+(?P<verb>[a-zäöüß]{{3,}}?)(?P<modal>\s+(?:{_MODAL})(?!\w))?{_TAIL}"
    )
    found = pattern.match(rest)
    if found is None or (modal and not found["modal"]):
        return ""
    verb, tail = found["verb"], _told(found["tail"])
    finite = found["modal"] is None
    if _DENIES.search(found["object"]):
        return ""
    if verb in _NO_VERB or not re.search(_ending(who) if finite else "n$", verb):
        return ""
    if joined := re.match(r"\s+und\s+(?:du\s+)?(.+)$", tail):
        further = _of_clause(joined[1], who)
        tail = f" und {further}" if further else tail
    return _joined(found["object"], verb, tail, finite=finite)


def _ending(who: str) -> str:
    return {"du": r"(?:st|ßt|zt)$", "sie": "n$"}.get(who, "t$")


_DENIES = re.compile(r"\b(?:nicht|nie|niemals|kein\w*|nichts|ohne|statt)\b", re.IGNORECASE)
"""What shall not be stays as it was said."""


def _joined(thing: str, verb: str, tail: str, *, finite: bool) -> str:
    prefix = ""
    if (parted := re.match(rf"({_SEPARABLE})(?=\w{{3}})", verb)) and verb[
        parted.end() :
    ] not in _NO_VERB:
        prefix, verb = f" {parted[1]}", verb[parted.end() :]
    said = _from_finite(verb) if finite else _from_infinitive(verb)
    return f"{said} {thing}{prefix}{tail}"


def _from_finite(verb: str) -> str:
    if known := _IRREGULAR.get(verb):
        return known
    if verb.endswith("n"):
        return _from_infinitive(verb)
    if verb.endswith(("test", "dest", "nest")):
        return verb[:-2]
    stem = verb[:-1] if verb.endswith(("ßt", "zt", "sst")) or not verb.endswith("st") else verb[:-2]
    if stem.endswith("el") and not stem.endswith("iel"):
        return stem[:-2] + "le"
    return stem + "e" if stem.endswith("ier") else stem


def _from_infinitive(verb: str) -> str:
    if known := _STRONG.get(verb):
        return known
    if verb.endswith("eln"):
        return verb[:-3] + "le"
    if verb.endswith(("ieren", "ffnen", "chnen", "ten", "den", "ern")):
        return verb[:-1]
    return verb[:-2] if verb.endswith("en") else verb[:-1]
