"""A question taken apart: its terms, whose thing it asks about, of which year, what kind of answer.

Must not know of passages or scores.
"""

import re
from datetime import date
from typing import NamedTuple

from rag.answer_types import AnswerType, expected
from rag.language import Language, detect
from rag.lexical import Term, keys, terms_of
from rag.years import years_asked

_IS = (
    "coming|going|staying|visiting|having|getting|doing|working|leaving|arriving|bringing|driving|"
    "sleeping|picking|looking|taking|moving|been|got|gone|here|there|not|a|an|the|to|in|on|at|back|"
    "off|away|out|up|over|round|just|still|always|never|only|also|already"
)
"""What follows "is" or "has": "when Nan's coming" is nothing of Nan's."""
_OWNER = re.compile(rf"\b(\w+)['’]s\b(?=\s+[a-z])(?!\s+(?:{_IS})\b)")
_SOMEBODYS = re.compile(
    rf"(?<!the )(?<!our )(?<!my )(?<!your )(?<!an )(?<!\ba )\b([a-z]{{3,}})['’]s\b(?=\s+[a-z])"
    rf"(?!\s+(?:{_IS})\b)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\bhow (?:much|many) (?:[a-z]+ (?=[a-z]+ (?:do|does|did|can|could|should|must|may|is|are|was"
    r"|were|has|have|had|will|would|goes?)\b))?([a-z]+)",
    re.IGNORECASE,
)
"""Of "how much dog food does …" the second noun: it is the thing, the first its kind."""
_LOOKED_UP = re.compile(
    r"\bwhat(?: (?:is|are|was|were)|['’]s) (?:the|our|my|your|his|her|their) (.+?)"
    r"(?= (?:of|in|for|on|at|from|to|with|by|that)\b|\?|$)",
    re.IGNORECASE,
)
_DOER = re.compile(
    r"\b(?:[Dd]o|[Dd]oes|[Dd]id|[Cc]an|[Cc]ould|[Ss]hould|[Mm]ust|[Mm]ay|[Ii]s|[Ww]as|[Hh]as)"
    r" (?!(?:Mr|Mrs|Ms|Dr)\b)([A-Z][a-z]+) (?:[a-z]+)"
)
_IN_CASE = re.compile(r"\b(?:[Ii]f|[Ii]n case) ([A-Z][a-z]+)(?= )")
"""Whom something may happen to: what one does then is said of anybody."""
_ACTION = re.compile(
    r"\b(?:do|does|did|can|could|should|must|may|to|have to|need to)"
    r" (?:i|we|you|he|she|it|they|one) (?:have to |need to |get to )?([a-z]+)",
    re.IGNORECASE,
)
GENERIC = keys(
    "mean happen call name kind type sort use work make go give show tell say find put take may per"
    " turn have need want know problem thing"
)
"""Terms too general to be missed."""
_ABOUT_CODES = keys(
    "error code fault message warning number display screen panel light indicator sign appear blink"
    " flash read"
)
_CALENDAR = keys(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june"
    " july august september october november december christmas easter halloween advent"
)
"""Capitalised, but no names: "before Christmas" is answered by a date."""
COMMON = keys(
    "be have do say get make go know take see come think look want give use find tell ask work"
    " seem feel try leave call keep let begin start stop show hear play run move live believe hold"
    " bring happen write provide sit stand lose pay meet include continue set learn change lead"
    " watch understand follow create speak read spend grow open walk win offer remember love"
    " consider appear buy wait serve die send expect build stay fall cut reach kill remain suggest"
    " raise pass sell require report decide pull turn put pick carry need help shut close allow"
    " become add break arrive choose good new last long great little own other old right big high"
    " different small large next early young important few public bad same able wrong whole main"
    " real certain sure current present recent various full free ready really altogether well also"
    " again still even back away always never often together already actually exactly everywhere"
    " outside inside around currently usually normally now then here there today thing way kind"
    " sort type part place lot number people man person problem matter question reason example"
    " case fact"
)
"""The commonest words of English besides function words: another text says them otherwise."""
_ASKING = (
    r"(?:who|whom|whose|what|which|when|where|why|how|until when|by when|from when)(?:['’]s)?\b"
)
_OPENS = re.compile(rf"(?:and |so |but )?{_ASKING}", re.IGNORECASE)
_AND_ASKS = re.compile(rf",? and (?={_ASKING})", re.IGNORECASE)
_LEANS = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|that|this|those|these|there|one|ones)\b",
    re.IGNORECASE,
)
COMMON_WEIGHT = 0.4
"""Of such a word, and of the verb in "How do I add salt?", where the manual says "fill in"."""


class Question(NamedTuple):
    """A question, taken apart once."""

    text: str
    language: Language
    wanted: frozenset[str]
    specific: frozenset[str]
    """Codes, numbers and names: a text without them speaks of something else."""
    codes: frozenset[str]
    coded: frozenset[str]
    """What a code is asked of: the oven of "E04 on the oven". Another thing's E04 is another."""
    anchors: frozenset[str]
    """What is counted or looked up, and whose it is."""
    actions: frozenset[str]
    """What "do I" or "can we" do: named by many words, so that one may be missing."""
    owners: frozenset[str]
    """Whose it is, where that is a name."""
    people: frozenset[str]
    """Owners, and names of who does something: "how much may Ella have"."""
    perhaps_people: frozenset[str]
    """Owners in whatever case: "edie's" is somebody's where the documents write a name so."""
    counted: frozenset[str]
    """Of what there is so much: the food of "how much food"."""
    years: frozenset[int]
    """Of which year it asks; "last year" counted from today."""
    kind: AnswerType | None


def take_apart(question: str, today: date | None = None) -> Question:
    """The question's terms and the kind of answer it wants; ``today`` is for "last year"."""
    kind = expected(question)
    found = terms_of(question)
    wanted = frozenset(term.key for term in found)
    asked_by_form = kind.implied if kind else frozenset()
    wanted = (wanted - GENERIC - asked_by_form) or wanted
    codes = frozenset(term.key for term in found if term.kind == "code")
    return Question(
        text=question,
        language=detect(question),
        wanted=wanted,
        specific=frozenset(term.key for term in found if _is_specific(term, question))
        - _in_case(question),
        anchors=_anchors(question) & wanted,
        actions=keys(" ".join(match[1] for match in _ACTION.finditer(question))),
        owners=_owners(question),
        people=_owners(question) | keys(" ".join(m[1] for m in _DOER.finditer(question))),
        perhaps_people=_perhaps_people(question),
        counted=_counted(question) & wanted,
        codes=codes,
        coded=wanted - codes - _ABOUT_CODES - COMMON if codes else frozenset(),
        years=years_asked(question, today or date.today()),
        kind=kind,
    )


def asked_together(question: str) -> list[str]:
    """The questions of "who is the landlord and what is the agent's number?"; else ``question``.

    None that leans on the one before ("and when is it?").
    """
    for match in _AND_ASKS.finditer(question):
        parts = [question[: match.start()].rstrip(" ,"), question[match.end() :].strip()]
        alone = [keys(part) - COMMON - GENERIC for part in parts]
        asks = _OPENS.match(parts[0]) is not None
        if asks and all(alone) and not _LEANS.search(parts[1]):
            return [f"{part.rstrip('?')}?" for part in parts]
    return [question]


def _owners(question: str) -> frozenset[str]:
    return keys(" ".join(m[1] for m in _OWNER.finditer(question) if m[1][0].isupper()))


def _in_case(question: str) -> frozenset[str]:
    return keys(" ".join(match[1] for match in _IN_CASE.finditer(question)))


def _perhaps_people(question: str) -> frozenset[str]:
    return keys(" ".join(match[1] for match in _SOMEBODYS.finditer(question)))


def _counted(question: str) -> frozenset[str]:
    counted = _COUNTED.search(question)
    return keys(counted[1]) - COMMON if counted else frozenset()


def _anchors(question: str) -> frozenset[str]:
    """The noun after "how many" or at the end of "what is the …", and every owner ("Ella's")."""
    found = frozenset[str]().union(*(keys(match[1]) for match in _OWNER.finditer(question)))
    found |= _counted(question)
    looked_up = _LOOKED_UP.search(question)
    if looked_up and (terms := terms_of(looked_up[1])):
        found |= {terms[-1].key}
    return found


def _is_specific(term: Term, question: str) -> bool:
    """Codes and numbers but "one"; capitalised words unless they only begin the question."""
    number = term.kind == "number" and question[term.start : term.end].lower() != "one"
    return number or term.kind == "code" or is_name(term)


def is_name(term: Term) -> bool:
    """A capital that does not merely begin the sentence, on no day, month, or unit ("150 °C")."""
    return (
        term.kind == "word"
        and term.capital
        and term.start > 0
        and term.end - term.start > 2
        and term.key not in _CALENDAR
    )
