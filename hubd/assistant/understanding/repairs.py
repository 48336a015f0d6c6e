"""What a sentence that corrects itself comes to: "set a timer for ten, no, fifteen minutes".

A repair takes up the sentence at the word that it replaces (Levelt, 1983): the last value, thing,
room or verb of the same kind. Why it was a slip may be said between ("…, no, it says fifteen on the
packet, fifteen minutes"), and what is not meant may be named ("…, no, no chives, parsley"). What is
left says one thing once, and is decided on like any other sentence. Knows no tools.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from hubd.assistant.understanding.asides import is_aside
from hubd.assistant.understanding.fluent import fluent, without_thoughts
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import NEVER as NEVER_FOUND
from hubd.assistant.understanding.plain import plain, words_as_said
from hubd.assistant.understanding.repaired_values import bare_value, with_value
from hubd.assistant.understanding.titles import played_instead
from hubd.assistant.understanding.values import (
    DAY_BEFORE,
    NEVER,
    VALUE,
)
from hubd.assistant.understanding.words import Phrases, Piece, pieces_of
from plugins.numbers import digits

COMMA = re.compile(r"\s*(?:[,;，；、…]|\.\.\.)+\s*")
VALUES = frozenset({"half", "full"})
"""Actions that are values: 一半 may be corrected to a number."""
MEANT = {"entity": "thing", "noun": "thing", "area": "room", "floor": "room",
         "action": "action", "color": "color"}  # fmt: skip
"""The kind of a piece by that of its tag: a thing is corrected by a thing."""
_ARTICLE = re.compile(r"^(?:the|a|an|my|our|der|die|das|den|dem|des|ein\w{0,2}|mein\w*|unser\w*)$")
_BY_A_BIT = re.compile(
    r"^(?:(?:a|an|the|just|only|little|bit|wee|tad|touch|ein|etwas|bisschen|noch|doch|nur) )*"
    r"(?:less|more|lower|higher|weniger|mehr|niedriger|höher|tiefer)$|"
    "^(?:再|稍微?|还是)?(?:少|多|低|高)一?点(?:点|儿)?$"
)
"""What says to which side a value was wrong: "forty, no, a bit less, thirty"."""
_LEFT_OPEN = re.compile(r"^(?:the|my|our|der|die|das|den|dem|eine[nmr]?|mein\w*|unser\w*)$")
"""What nothing ends with; "an" ends a command in German."""
_ENDING = re.compile(r"(?:[, ]+(?:all|the|a|an|my|our|to|at|on|up|der|die|das|den|dem|zu|auf))+$")
"""How what was broken off ends."""
_LEADS = re.compile(r"^(?:(?:only|just|nur|bloß|about|around|etwa|to|at|auf|bis|up) )+")
_PLACED = re.compile(r"(?:in|on|at|im|am|auf|bei|beim)\b")
"""How a correction begins that says where."""
_TAKEN_BACK = {
    "en": re.compile(
        r"[,.;!?…] (?:(?:oh|ah|no|um|actually|wait|hang on|on second thoughts?),? )*"
        r"(?:(?:just )?(?:leave|forget) (?:it|them|that)(?: be| alone)?|never ?mind|don't bother)"
        r"[.!]*$",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"[,.;!?…] (?:(?:ach|ah|nein|nee|doch|oder|äh),? )*"
        r"(?:lass (?:es|mal|sie|ihn|das)(?: (?:so|doch|lieber|gut sein|bleiben|gut))*|"
        r"vergiss es|doch nicht|schon gut)[.!]*$",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "[，,。！？!?] ?(?:哎呀?|嗯|哦|不)?[，,]?(?:还是)?"
        "(?:算了|不用了|留着吧|别弄了)[吧了]?[。！]*$"
    ),
}
"""What takes back at the end what was asked for: "actually, leave it"."""
_ONE = re.compile(r"(?<=\w) ones?$|的$")
"""What stands for the thing that was said: "the bedroom ones"."""
_I_MEAN = re.compile(r"^(?:i meant?|ich mein\w*|我是说|我的意思是)[, ，]*", re.IGNORECASE)
_LEANS = re.compile(r"\b(?:it|them|that|this|one|ones|ihn|es|sie|das|dies\w*)\b|它|这个|那个")
"""What a command that needs the one before says in the place of its thing."""
_TOLD = re.compile(r"\b(?:told|asked|hab\w* .*gesagt)\b(?! you)|跟(?![你您]).+说")
"""What tells of what was said to somebody else."""
_ASKS = re.compile(r"(.)[不没]\1|[吗么]$|几[点号个]|多少|什么|有没有")
"""What makes a Chinese clause a question."""
DAYS = frozenset({"clock"})
"""The plugin whose words are in a day by itself."""
LEAST_REPEATED, MOST_REPEATED = 2, 4
"""Words that are said again."""
BEGINNING = 4
"""Characters by which a verb is told: "remind me at four, no, remind me at five" is one command."""
_JOINED_ON = re.compile(r"^(?:and|so|but|und|also|aber)\b[, ]*")
_GOES_ON = re.compile(r"^(?:to (?!\d|the )\w|dass |an (?:die|den|das|meine?n?|unsere?n?) \w)")
"""How a sentence goes on behind what was corrected in it."""
_DAYS = {
    "de": re.compile(
        r"\b(?:am |für |auf )?(?:heute|morgen|übermorgen|(?:mon|diens|donners|frei|sams|sonn)tag|"
        r"mittwoch)(?: früh| abend| nachmittag| mittag| vormittag| nacht)?\b"
    )
}
"""How a day is said; other languages know days as words of their plugins."""
_DENIED = {
    "en": re.compile(r"^(?:not|no) (?:(?:the|a|an|any) )?(.+)$"),
    "de": re.compile(r"^(?:nicht|kein\w{0,2}) (?:(?:der|die|das|den|dem|ein\w{0,2}) )?(.+)$"),
    "zh": re.compile(r"^(?:不是|不要)(.+)$"),
}
"""What names the thing that was said by mistake."""


def is_taken_back(text: str, known: Lexicon) -> bool:
    """Whether ``text`` ends by taking back what it asked for."""
    pattern = _TAKEN_BACK.get(known.language)
    return pattern is not None and pattern.search(text) is not None


def repairs(text: str, known: Lexicon, phrases: Phrases) -> list[str]:
    """The sentences that ``text`` may come to, likeliest first; none where it corrects nothing."""
    found = known.corrected(_thought_out(text, known.language)) or known.corrected(text)
    if found is None:
        return []
    first, instead = _JOINED_ON.sub("", _begun(found[0], known)), found[1]
    again = repairs(instead, known, phrases)  # corrected twice: the second is of the first
    anew = [one for said in (*again, instead) for one in _said_anew(first, said, known, phrases)]
    made = [one for said in (*again, instead) for one in _repaired(first, said, known, phrases)]
    made = made or played_instead(known.stripped(first), instead)
    return list(dict.fromkeys(words_as_said(text, one) for one in (*anew, *made)))


def _begun(first: str, known: Lexicon) -> str:
    """``first`` without the thinking aloud that it begins with."""
    while (comma := COMMA.search(first)) and is_aside(first[: comma.start()], known):
        first = first[comma.end() :]
    return first


def without_denied(segments: Sequence[str], known: Lexicon, phrases: Phrases) -> list[str] | None:
    """The segments but for one that only says what is not meant, where what is meant comes after
    it: "the radio, not off, mute it"; ``None`` where there is none."""
    for at in range(1, len(segments) - 1):
        denied = pieces_of(_denied(segments[at], known), known, phrases)
        kinds = {kind_of(piece) for piece in denied} - {"ignore"}
        after = known.stripped(" ".join(segments[at + 1 :]))
        later = {kind_of(piece) for piece in pieces_of(after, known, phrases)}
        if len(kinds) == 1 and kinds <= later - {"unknown"}:
            return [*segments[:at], *segments[at + 1 :]]
    return None


def _said_anew(first: str, instead: str, known: Lexicon, phrases: Phrases) -> Iterator[str]:
    """What of ``instead`` needs nothing of ``first``: a question, or a command that names its
    thing ("ten, no, twelve, set a timer for twelve minutes") and is not the same over again."""
    begun, before = known.stripped(first), frozenset[str]()
    of_more = {kind_of(piece) for piece in pieces_of(begun, known, phrases)} - {"action", "ignore"}
    clauses = [one for one in COMMA.split(instead) if known.stripped(one)]
    if known.wonders(first) or _TOLD.search(first):
        return  # "I told him, no, turn it off" is told of somebody
    clauses = [_I_MEAN.sub("", clause) for clause in clauses]
    timed = [_says_when(clause, known) for clause in clauses]
    later = _says_when(first, known)
    for at, clause in enumerate(clauses):
        said, subjects = known.stripped(clause), known.subjects(clause) - DAYS
        commands, asked = known.commands(said), _asks(said, known, bool(subjects))
        kinds = {kind_of(piece) for piece in pieces_of(said, known, phrases)}
        of_it = not known.spaces and (bool({"action", "number"} & kinds) or "把" in said)
        acts = commands or of_it
        whole = asked or (subjects and acts) or (commands and {"action", "thing"} <= kinds)
        again = bool(of_more) and said[:BEGINNING] == begun[:BEGINNING] and len(said) < len(begun)
        alone = asked or not (again or _LEANS.search(said))
        if is_aside(clause, known):
            continue
        if whole and alone:
            if any(timed[:at]) and not timed[at]:
                if not later:  # else the time that was said is exchanged for it
                    yield ", ".join(clauses[timed.index(True) :])
            elif before <= _spoken(clause, known, phrases) and (asked or timed[at] or not later):
                day = _day_of(first, clause, known)
                yield day + ", ".join(clauses[at:])
                yield day + clause
            return
        before |= _spoken(clause, known, phrases, actions=False)


def _day_of(first: str, clause: str, known: Lexicon) -> str:
    """The day, and the part of it, of the time that ``first`` says, where ``clause`` begins with
    another time and no day: 晚上八点，不，八点半 is in the evening as well."""
    pattern, hour = DAY_BEFORE.get(known.language), r"\d{1,2}点"
    if pattern is None or not re.match(hour, digits(plain(clause), known.language)):
        return ""
    days = re.finditer(rf"(?P<day>{pattern})[^\d点]{{0,4}}{hour}", digits(plain(first), "zh"))
    return next((found["day"] for found in days if found["day"]), "")


def _says_when(clause: str, known: Lexicon) -> bool:
    """Whether ``clause`` says when, or in how long."""
    return known.times(digits(plain(clause), known.language))


def _asks(said: str, known: Lexicon, of_subjects: bool) -> bool:
    """Whether ``said`` is a question of its own, and no day alone ("the day after tomorrow")."""
    if known.inquires_first(said) or (of_subjects and known.inquires(said)):
        return True
    return not known.spaces and _ASKS.search(said) is not None


def _repaired(first: str, instead: str, known: Lexicon, phrases: Phrases) -> Iterator[str]:
    if whole := _begun_again(first, instead, known):
        yield whole
    if rest := _after_the_same(first, instead, known):
        instead = rest
    elif whole := _of_the_same_thing(first, instead, known, phrases):
        yield whole
        return
    clauses = [one for one in COMMA.split(instead) if known.stripped(one)]
    if len(clauses) > 1 and _only_names((first, *clauses[:-2]), known, phrases):
        named, command = clauses[-2:]
        if whole := _of_the_same_thing(named, command, known, phrases):
            yield whole  # "the radio, no, the lamp, switch that on"
    if len(clauses) > 1 and (denied := _denied(clauses[0], known)):
        if "," not in clauses[1] and denied in first:
            yield _exchanged(first, denied, clauses[1])
        elif left_open := _left_open(first):
            yield f"{left_open} {', '.join(clauses[1:])}"
        return
    if (left_open := _left_open(first)) and not known.negates(instead):
        yield f"{left_open} {instead}"  # "turn on the, no, the shelf lamp"
    if by_day := _with_day(first, instead, known):
        yield by_day
    if len(clauses) == 1 and known.breaks_off(first) and _is_value(instead, known):
        yield f"{_ENDING.sub('', first)} {instead}"  # "open them all the, no, to forty percent"
    if len(clauses) > 1 and _only_denies(clauses[-1], known, phrases):
        yield from _repaired(first, ", ".join(clauses[:-1]), known, phrases)
        return
    if len(clauses) == 1:
        yield from _taking_up(first, instead, known, phrases)
        return
    if not known.negates(instead) and (whole := with_value(first, instead, known)):
        yield whole  # "…, no, at four, to feed the cat"
    if clauses and _GOES_ON.match(known.stripped(clauses[-1])):
        for made in _repaired(first, ", ".join(clauses[:-1]), known, phrases):
            yield f"{made} {clauses[-1]}"  # "…, no, half an hour, to take the tablets"
        return
    for at in range(len(clauses) - 1, -1, -1):
        others = [*clauses[:at], *clauses[at + 1 :]]
        said = _spoken(f"{first} {clauses[at]}", known, phrases)
        named = _spoken(clauses[at], known, phrases)
        if named and all(_says_no_more(other, said, known, phrases) for other in others):
            yield from _taking_up(first, clauses[at], known, phrases)
    yield from _taking_up(first, instead, known, phrases)


def _only_names(clauses: Sequence[str], known: Lexicon, phrases: Phrases) -> bool:
    """Whether the first of the clauses names a thing, and none says anything besides."""
    first, *others = (pieces_of(known.stripped(one), known, phrases) for one in clauses)
    besides = {kind_of(piece) for other in others for piece in other}
    names = {kind_of(piece) for piece in first} - {"ignore"} == {"thing"}
    return names and besides <= {"ignore", "unknown"}


def _thought_out(text: str, language: str) -> str:
    return without_thoughts(fluent(text, language), language)


def _left_open(first: str) -> str:
    """``first`` without the article that it breaks off with; empty where it ends with none."""
    said = first.split()
    while said and _LEFT_OPEN.match(said[-1]):
        said.pop()
    return " ".join(said) if said and len(said) < len(first.split()) else ""


def _with_day(first: str, instead: str, known: Lexicon) -> str:
    """``first`` with its last day exchanged: "tomorrow" by "the day after"; empty where ``instead``
    does not begin with one."""
    pattern = _DAYS.get(known.language, NEVER_FOUND)
    said, meant = list(pattern.finditer(plain(first))), pattern.match(plain(instead))
    if not said or meant is None:
        return ""
    before, rest = plain(first)[: said[-1].start()], plain(instead)[meant.end() :]
    return f"{before}{meant[0]}{rest or plain(first)[said[-1].end() :]}"


def _is_value(text: str, known: Lexicon) -> bool:
    """Whether ``text`` is a number with its unit and nothing else: "only to about 40 percent"."""
    said = _LEADS.sub("", digits(plain(text), known.language))
    found = re.match(VALUE.get(known.language, NEVER), said)
    return known.spaces and found is not None and found.end() == len(said) and bool(found["unit"])


def _begun_again(first: str, instead: str, known: Lexicon) -> str:
    """``first`` taken up where ``instead`` repeats some words from within it: "tell everybody we're
    leaving in ten, no, we're leaving in five minutes"; empty where it repeats none, or would lose a
    number."""
    before, after = first.split(), instead.split()
    for length in range(min(len(after), MOST_REPEATED), LEAST_REPEATED - 1, -1):
        for at in range(len(before) - length, 0, -1):
            if before[at : at + length] == after[:length]:
                lost, said = (
                    re.findall(r"\d+", digits(" ".join(one), known.language))
                    for one in (before[at:], after)
                )
                return "" if len(said) < len(lost) else " ".join([*before[:at], *after])
    return ""


def _after_the_same(first: str, instead: str, known: Lexicon) -> str:
    """What ``instead`` says in the place of something in ``first``, where it begins with the same
    words: "remind me at four to feed the cat, no, remind me at five", "turn the telly off in ten
    minutes, no, turn it off in twenty"; empty where it does not."""
    before, after = known.stripped(first).split(), known.stripped(instead).split()
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    )
    others = after[same:]
    while same and others and (_LEANS.fullmatch(others[0]) or others[0] in before):
        others.pop(0)
    rest = " ".join(others)
    return rest if same and with_value(first, rest, known) else ""


def _of_the_same_thing(first: str, instead: str, known: Lexicon, phrases: Phrases) -> str:
    """The command ``instead`` with what ``first`` names in the place of its "it": "turn the hall
    light on, no, turn it off in ten minutes"; empty where it says no "it", or names things."""
    said = known.stripped(instead)
    it, kinds = _LEANS.search(said), [kind_of(one) for one in pieces_of(said, known, phrases)[1:]]
    if it is None or not known.commands(said) or {"thing", "room"} & set(kinds):
        return ""
    before = pieces_of(known.stripped(first), known, phrases)
    at = [i for i, piece in enumerate(before) if kind_of(piece) in ("thing", "room")]
    named = before[at[0] : at[-1] + 1] if at else []
    if not any(kind_of(piece) == "thing" for piece in named):
        return ""
    if not all(kind_of(piece) in ("thing", "room", "ignore") for piece in named):
        return ""
    between = " " if known.spaces else ""
    return f"{said[: it.start()]}{between.join(one.text for one in named)}{said[it.end() :]}"


def _exchanged(first: str, denied: str, meant: str) -> str:
    at = first.rindex(denied)
    return first[:at] + meant + first[at + len(denied) :]


def _denied(clause: str, known: Lexicon) -> str:
    """What ``clause`` says is not meant; empty where it says something else."""
    pattern = _DENIED.get(known.language)
    found = pattern.match(known.stripped(clause)) if pattern else None
    return found[1] if found else ""


def _only_denies(clause: str, known: Lexicon, phrases: Phrases) -> bool:
    """Whether ``clause`` says of one thing that it is not meant: "…, not the main light"."""
    denied = pieces_of(_denied(clause, known), known, phrases)
    return {kind_of(piece) for piece in denied} - {"ignore"} == {"thing"}


def _says_no_more(clause: str, said: frozenset[str], known: Lexicon, phrases: Phrases) -> bool:
    """Whether ``clause`` only says why: nothing in it is named that was not ``said`` beside it."""
    if is_aside(clause, known) or _BY_A_BIT.match(known.stripped(clause)):
        return True
    if known.negates(clause) and (known.forbids(clause) or not known.remarks(clause)):
        return False
    if known.asks(clause) and not known.keeps(clause):
        return False  # "if"; but "it says fifteen on the packet"
    if known.subjects(clause) or known.commands(known.stripped(clause)):
        return False
    named = _spoken(clause, known, phrases, actions=not known.remarks(clause))
    return named <= said


def _spoken(text: str, known: Lexicon, phrases: Phrases, *, actions: bool = True) -> frozenset[str]:
    """The values, things, rooms and verbs of ``text``."""
    kinds = {"number", "color", "thing", "room"} | ({"action"} if actions else set())
    pieces = pieces_of(known.stripped(text), known, phrases)
    return frozenset(piece.text for piece in pieces if kind_of(piece) in kinds)


def _taking_up(first: str, instead: str, known: Lexicon, phrases: Phrases) -> Iterator[str]:
    """``first`` with ``instead`` in the place of the last of its kind."""
    if known.negates(instead):
        return
    if exchanged := with_value(first, instead, known):
        yield exchanged
    bare = bare_value(known.stripped(instead))
    if known.commands(bare):
        bare = known.fixed(bare)  # "send Robbie back" docks him
    if not any(character.isdigit() for character in digits(_ONE.sub("", bare), known.language)):
        bare = _ONE.sub("", bare)
    after = pieces_of(bare, known, phrases)
    kinds = [kind for piece in after if (kind := kind_of(piece)) != "ignore"]
    before = list(pieces_of(known.stripped(first), known, phrases))
    if not kinds:
        return
    for at in range(len(before) - 1, 0, -1):
        if kind_of(before[at]) == kinds[0]:
            while kinds[0] == "unknown" and at > 1 and kind_of(before[at - 1]) == "unknown":
                at -= 1  # "shearing combs" is one thing that nobody knows
            kept = [piece.text for piece in before[:at]]
            twice = kept[-1] == "把" and bare.startswith("把")
            if twice or (_ARTICLE.match(kept[-1]) and _ARTICLE.match(after[0].text)):
                kept.pop()
            if _PLACED.match(bare):
                kept = _without_place(kept)
            between = " " if known.spaces else ""
            verb = [] if "action" in kinds else _verb_behind(before[at + 1 :])
            yield between.join([*kept, bare, *verb])
            return
    if (
        kinds[0] == "thing"
        and set(kinds) <= {"thing", "action"}
        and kind_of(before[-1]) == "unknown"
    ):
        kept = [piece.text for piece in before]
        while len(kept) > 1 and kind_of(before[len(kept) - 1]) == "unknown":
            kept.pop()  # "lock the front, no, the back door": of a name that was not ended
        while len(kept) > 1 and _ARTICLE.match(kept[-1]):
            kept.pop()
        yield " ".join([*kept, bare])


def _without_place(words: Sequence[str]) -> list[str]:
    """Words without a preposition, and its article, that they end with: "jazz in the"."""
    said = [word for piece in words for word in piece.split()]
    while len(said) > 1 and (_ARTICLE.match(said[-1]) or _PLACED.fullmatch(said[-1])):
        said.pop()
    return said


def _verb_behind(pieces: Sequence[Piece]) -> list[str]:
    """The verb that ended the sentence, or a half of it: "schließ die Haustür auf"."""
    return [piece.text for piece in pieces if kind_of(piece) == "action"]


def kind_of(piece: Piece) -> str:
    """What may stand in the place of ``piece``: "unknown" of a word that nobody knows, "ignore" of
    one without a meaning of its own."""
    if piece.number is not None:
        return "number"
    for tag in piece.tags:
        if tag.kind == "action" and tag.value in VALUES:
            return "number"
        if tag.kind in MEANT:
            return MEANT[tag.kind]
    return "ignore" if piece.tags else "unknown"
