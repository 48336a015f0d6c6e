"""Reasons that are given beside a command: clauses that ask for nothing and change nothing.

"Set the office to 66, I'm heading down there after lunch". Whether a clause is like reasons is told
by its words (``idle``); what is a question, a command, a condition, an item, or only a name never
is one.
"""

import re
from collections.abc import Iterable

from hubd.assistant.understanding.idle import is_idle
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import NEVER, plain

BREAK = re.compile(
    r"\s*(?:(?:[,;，；…]|\.\.\.|(?<!\d)[:：](?!\d)|[.!?。！？](?=\s|$)|(?<=[。！？])|"
    r"(?<=[\u4e00-\u9fff》”])[!?](?=[\u4e00-\u9fff《“])|\s[-–—]+\s)\s*)+"
)
"""Between two clauses."""
_UNMARKED = {
    "en": re.compile(
        r"(?<=\w) (?=(?:so|because|cause|cos|since) (?:that )?"
        r"(?:i|we|he|she|they|it|the|my|our|there|that|nobody|everyone|(?!what|who|how|which)\w+ "
        r"(?:can|could|can't|doesn't|don't|won't|isn't|is|has|gets|stays))\b|before (?:i|we)\b)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"(?<=\w) (?=(?:damit|nicht dass|weil) (?:ich|wir|er|sie|es|man|die|der|das|mein\w*|"
        r"unser\w*|keiner|niemand|nichts|alle)\b)"
    ),
}
"""Where a reason begins without a pause."""
_WANTS = re.compile(
    r"^(?:(?:i|we)(?:'d| would)? (?:like|need|want|could do with)|"
    r"(?:ich|wir) (?:bräuchten?|brauchen?|brauch|hätten? gern|möchten?|wollen|will))\b|^我们?想?要"
)
_NEEDED_FOR = re.compile(r"^\w+(?:'ll)? (?:need|want|use) (?:it|them|that|some) (?:for|in|on)\b")
"""What says what for: "we need them for the cake". "We need milk" wants some."""
_CONDITION = re.compile(
    r"^(?:if|when|once|until|till|unless|as soon as|in case|whenever|provided)\b|"
    r"^(?:wenn|falls|sobald|bis|solange|erst|sofern)\b|要是|如果|假如|的话|的时候|^[等除]|以[前后]$"
)
"""When, or whether at all, something shall be done."""
THEN = re.compile(r"[,，]\s*(?:[就再]|(?:then|dann)\b)", re.IGNORECASE)
"""What may say when: "Tom is asleep, then turn off the light"."""
_ARTICLE = re.compile(r"(?:the|an?|my|our|that|those|der|die|das|den|dem|ein\w*|mein\w*)\b")
TELLS = re.compile(
    r"[我你他她它们了]|\b(?:i|we|he|she|they|it|ich|wir|er|sie|es|man|is|are|was|has|have|had|can't|"
    r"don't|\w+'(?:s|re|ve|m|ll|d)|ist|sind|hat|haben|wird|wollen|will|kommt|kommen|muss|müssen|"
    r"braucht|brauchen|kocht|kochen|hängt|hängen|steht|stehen|liegt|liegen|schläft|schlafen|geht|gehen|"
    r"läuft|laufen|macht|machen|scheint|wartet|warten|sitzt|sitzen|friert|frieren|beschwer\w+|"
    r"werden|darf|dürfen|soll|sollen|kann|können)\b|(?:要|得)[用放带]的?$|用得上$"
)
"""What a reason has in it, and an item of a list or a title mostly not."""
_OF_ANOTHER = {"de": re.compile(r"(?:\bzu \w+n|\w{2,}zu\w{2,}n)$")}
"""What depends on the clause before it."""
_PURPOSE = {
    "en": re.compile(
        r"^(?:in case|before|so) (?:i|we) (?:forget|don't|can|get)\b|^otherwise\b|"
        r"^(?:so that|now that|because|since|as(?! (?:soon|long|if)\b)) \w|"
        r"^so (?:(?:it|he|she|they|we|i|you|there|that)(?:'s|'re|'m|'ll|'d)|(?:the |my |our )?"
        r"(?!what|who|how|which|where|when)[\w']+ (?:can|could|can't|doesn't|don't|won't|isn't|is|"
        r"are|has|have|will|gets?|stays?|starts?))\b"
    ),
    "de": re.compile(r"^(?:sonst|damit|nicht dass|weil|bis dahin sind)\b"),
    "zh": re.compile(
        "^(?:免得|省得|不然|要不然|否则|好让|别太|不要太|这样(?:就|才|我|好)|以免|以防|没必要|没有必要)|"
        "^别(?:让|老|一直|再?[直对]着|总)|睡过头|(?:千万|可)(?:别|不能)(?:迟到|误|晚)"
    ),
}
"""What begins with what it is good for, or against."""
_IS_DONE = {
    "en": re.compile(
        r"(?:it|that|they|those|everything)(?:'s|'re| is| are| has| have)?"
        r"(?: (?:all|already|well|been|just))* "
        r"(?:done|ready|finished|cooked|over|eaten|sorted)(?: (?:now|already|anyway|ages ago))*"
    ),
    "de": re.compile(
        r"(?:(?:das|es|die|der|sie|er|alles) )?(?:ist|sind|war|waren)"
        r"(?: (?:ja|doch|eh|schon|längst|bereits|jetzt|nämlich|sowieso|alles|alle))* "
        r"(?:fertig|durch|gar|vorbei|erledigt|gegessen|rum)"
        r"|(?:das )?hat sich (?:schon |ja |eh |längst )*erledigt"
        r"|(?:den |die |das )?brauch(?:e|en)? (?:ich|wir) (?:ja |doch |eh |jetzt )*nicht(?: mehr)?"
    ),
    "zh": re.compile(
        "(?:它们?|都|已经|早就?|全)*(?:做|煮|炖|烤|弄|吃|蒸)?(?:好|熟|完|结束)了|已经(?:吃|做)了"
    ),
}
"""What is over: „ist schon fertig“ has its verb in front and is no question."""
_SO = {
    "en": re.compile(r"(?:(?:right|yeah|yes|ok(?:ay)?|well)[, ]+)*(?:so|but|anyway|anyhow)[, ]+"),
    "de": re.compile(r"(?:(?:ja|gut|okay|na)[, ]+)*(?:also|aber|jedenfalls|drum|dann)[, ]+"),
    "zh": re.compile("(?:所以|反正|总之|那就)"),
}
"""How the clause begins that says what is wanted, behind why."""
_FEWEST_WORDS, _FEWEST_CHARACTERS = 3, 5
"""Of a clause that is like reasons; what is shorter may be an item of a list, or a name."""


def parted(text: str, known: Lexicon) -> str:
    """``text`` with a comma where a reason begins without a pause: "… so we get some sun"."""
    return _UNMARKED.get(known.language, NEVER).sub(", ", text)


def without_reasons(text: str, known: Lexicon) -> str:
    """``text`` without the clauses before and behind it that are like reasons; empty where there
    are none, or nothing else."""
    pieces = [one for one in BREAK.split(parted(text, known)) if known.stripped(one)]
    kept = [
        at
        for at, one in enumerate(pieces)
        if not (is_reason(one, known) and _tells(one, known))
        and not (at > 1 and is_conditional(plain(one)) and is_purpose(pieces[at - 1], known))
    ]
    if not kept or len(kept) == len(pieces) or THEN.search(text):
        return ""
    rest = (", " if known.spaces else "，").join(pieces[kept[0] : kept[-1] + 1])
    if known.corrected(text) and not known.corrected(rest):
        return ""  # what said that it is a correction is no reason
    return "" if is_of_another(rest, known) else rest


def without_people(text: str, known: Lexicon, people: Iterable[str]) -> str:
    """``text`` without the clauses behind the first that tell something of a person: "…, Ann is not
    up there yet", „…, Ben will baden“; empty where there are none.

    people: how the people of the household are called
    """
    first, *others = [one for one in BREAK.split(text) if known.stripped(one)] or [""]
    names = "|".join(re.escape(plain(one)) for one in people) or NEVER.pattern
    end = r"(?!\w)" if known.spaces else ""
    of_people = re.compile(rf"(?:{names}){end}")

    def only_tells(clause: str) -> bool:
        said = plain(clause)
        told = of_people.match(said) is not None and TELLS.search(said) is not None
        return told and not known.inquires(clause) and not is_conditional(said)

    kept = [one for one in others if not only_tells(one)]
    if len(kept) == len(others) or is_conditional(plain(first)):
        return ""
    return (", " if known.spaces else "，").join([first, *kept])


def concluded(text: str, known: Lexicon) -> tuple[str, str]:
    """What is told first, and the command that ``text`` concludes with: "a bath, yeah, so put the
    boiler on"; both empty where it does not."""
    clauses = list(BREAK.finditer(text))
    for gap in clauses:
        last = text[gap.end() :]
        found = _SO.get(known.language, NEVER).match(last)
        command = last[found.end() :] if found else ""
        if command and known.commands(known.stripped(command)) and not is_conditional(plain(text)):
            return text[: gap.start()], command
    return "", ""


def _tells(text: str, known: Lexicon) -> bool:
    """Whether a clause is long enough for no item and no title, or says what only reasons do."""
    long = known.spaces and len(text.split()) > _FEWEST_WORDS + 1
    return long or known.remarks(text) or TELLS.search(plain(text)) is not None


def is_reason(text: str, known: Lexicon) -> bool:
    """Whether a clause is like reasons, and neither a question nor a command."""
    said = known.stripped(text)
    if _ARTICLE.match(plain(text)) and not TELLS.search(plain(text)):
        return False  # "the rose window one" is which
    if is_purpose(text, known) or _is_done(text, known):
        return True
    if is_conditional(said):
        return False
    short = is_short(said, known) and not (known.spaces and known.remarks(text))
    if short or "、" in said or known.inquires_first(said):
        return False
    if known.subjects(said) and _WANTS.search(said):
        return False  # "I could do with a timer for the roast"
    if known.commands(said) and not _NEEDED_FOR.search(said):
        return False
    return is_idle(text, known)


def _is_done(text: str, known: Lexicon) -> bool:
    form = _IS_DONE.get(known.language, NEVER)
    return form.fullmatch(plain(text)) is not None


def is_purpose(text: str, known: Lexicon) -> bool:
    """Whether a clause says what a command is good for, or against."""
    return _PURPOSE.get(known.language, NEVER).search(plain(text)) is not None


def has_purpose(text: str, known: Lexicon) -> bool:
    """Whether ``text`` goes on with what something is good for, so that a condition behind it is of
    that: "turn it on so it's not dark when we get back"."""
    _, *others = BREAK.split(parted(text, known))
    return any(is_purpose(one, known) for one in others)


def is_conditional(said: str) -> bool:
    """Whether a clause says when, or whether at all, something shall be done."""
    return _CONDITION.search(said) is not None


def is_of_another(text: str, known: Lexicon) -> bool:
    """Whether ``text`` depends on a clause before it: "er hat vergessen, die Tür abzuschließen"."""
    return _OF_ANOTHER.get(known.language, NEVER).search(plain(text)) is not None


def is_short(said: str, known: Lexicon) -> bool:
    """Whether it may be an item of a list, or a name."""
    if known.spaces:
        return len(said.split()) < _FEWEST_WORDS
    return len(said) < _FEWEST_CHARACTERS
