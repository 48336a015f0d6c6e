"""What is quoted of the sentences that answer best: how far a quote reaches, what stands beside it.

A sentence by itself may say too little (a step of several, what holds "afterwards") and a second
one too much (the row of another squad). Must not know of features, models or databases.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

import msgspec

from rag.answer_types import PHONE, TO_REACH
from rag.candidates import Candidate
from rag.dates import coming, dates_in, is_list_of_dates
from rag.lexical import keys, terms_of
from rag.question import Question, is_name
from rag.sentences import Sentence, cells, split
from rag.types import Evidence, Passage

MAX_QUOTES = 3
MAX_PARAGRAPH = 300
"""Characters of a paragraph that is quoted whole."""
MAX_LIST = 900
"""Characters of a list that is quoted whole."""
MAX_TABLE = 400
SHORT_ITEM = 60
"""Characters: "2 carrots, 1 leek, 1 onion", and no advice by itself."""
AS_GOOD = 0.8
"""A list of days, to be told the next of, must be at least this fraction as likely."""
KEEP_QUOTE = 0.5
"""A second or third quote must be at least this fraction as likely as the first."""

_STEPS = re.compile(
    r"\bhow (?:do|can|should|must|shall|would|to)\b"
    r"|\bwhat (?:do|should|must|can|shall) (?:i|we|you|one) (?:do|try)\b"
    r"|\bwhat (?:to do|now\b|are the steps)|怎么|如何|怎样",
    re.IGNORECASE,
)
"""Asks for a procedure, of which one step is no answer."""
_COLLECTION = re.compile(
    r"\bwhat (?:do|does|did|should|must|shall|will|can) (?:the )?[\w'’]+ "
    r"(?:have to |need to )?(?:need|bring|pack|take along|buy|wear|put)\b"
    r"|\bwhat(?:['’]s| is| are| goes| all)\b.*\b(?:in|into|needed|included|excluded|covered)\b"
    r"|\bwhat to (?:bring|pack|buy|wear)\b|\bingredients?\b|需要什么|带什么|材料|配料",
    re.IGNORECASE,
)
"""Asks for all of a list."""
_NUMBERED = re.compile(r"\(?\d{1,2}[.)]\s|步骤\d|[①-⑳]")
_LEANS_BACK = re.compile(
    r"(?:afterwards|after that|otherwise|then|in that case|in this case|however|but|instead|until"
    r" then|if (?:so|not)|without (?:it|this|that))\b|否则|之后|此后|然后|但|不过|这样|那时",
    re.IGNORECASE,
)
"""Begins a sentence that is true only after the one before it."""
_NEXT = re.compile(r"\bnext\b|下一?[次个场]", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|did|had|last)\b|上次|上一次", re.IGNORECASE)
_SEE = re.compile(r"\bsee (?:above|below)\b", re.IGNORECASE)


class Weighed(NamedTuple):
    """A sentence, and how likely it answers."""

    candidate: Candidate
    score: float
    untyped: bool
    """Whether a kind of thing is asked for that has a form, and it does not hold such a thing."""


def quotes_of(
    asked: Question, weighed: Sequence[Weighed], passages: Sequence[Passage], today: date
) -> list[Passage]:
    """One to three quotes of ``weighed``, which are best first, and what these point to in
    ``passages``."""
    if not weighed:
        return []
    best = weighed[0]
    kept = [best, *(one for one in weighed[1:MAX_QUOTES] if _adds(asked, best, one))]
    kept = _of_what_is_counted(asked, kept)
    quotes = [_quote(asked, one, kept) for one in kept]
    quotes = [*_next_row(asked, best, today)] or quotes
    if _COLLECTION.search(asked.text):
        quotes = _list_first(quotes)
    quotes = _that_comes_next(asked, quotes, today)
    further = [
        *_link(asked, best.candidate, passages),
        *_pointed_to(quotes, passages),
        *_number_of(asked, quotes, passages),
        *_said_of_the_day(asked, quotes, passages, today),
    ]
    return [*quotes, *further]


def next_day(asked: Question, quote: Passage, today: date) -> date | None:
    """Where one asks when something is, and ``quote`` only lists the days: the next of them."""
    of_time = asked.kind is not None and asked.kind.name == "time"
    if not of_time or _PAST.search(asked.text) or not is_list_of_dates(quote.text):
        return None
    return coming(dates_in(quote.text, today), today)


def shown(found: Evidence) -> list[Passage]:
    """The quotes, but what repeats part of a better one.

    So both are shown of two documents that contradict each other.
    """
    chosen: list[Passage] = []
    for quote in found.quotes:
        if all(_apart(quote, better) for better in chosen):
            chosen.append(quote)
    return chosen


def is_list(quote: Passage) -> bool:
    """Whether it holds several items of a list."""
    return sum(piece.kind == "item" for piece in split(quote.text)) > 1


def _apart(one: Passage, other: Passage) -> bool:
    same_page = (one.document, one.page) == (other.document, other.page)
    return not same_page or one.end <= other.start or other.end <= one.start


def _adds(asked: Question, best: Weighed, other: Weighed) -> bool:
    """Whether ``other`` may answer as well, and is not of something else beside ``best``."""
    if other.score < best.score * KEEP_QUOTE or (other.untyped and not best.untyped):
        return False
    if _is_header(other.candidate):
        return False
    if _same_table(best.candidate, other.candidate):
        # Of a table's rows the one that names what is asked for: the Juniors' fee, not the Youth's.
        named = asked.wanted & keys(best.candidate.sentence.text)
        return named <= keys(other.candidate.sentence.text)
    return True


def _of_what_is_counted(asked: Question, kept: list[Weighed]) -> list[Weighed]:
    """``kept``; where one asks how much food, what names it comes first."""
    naming = [
        one
        for one in kept
        if asked.counted
        and asked.counted <= keys(one.candidate.sentence.text)
        and one.score >= kept[0].score * AS_GOOD
    ]
    return [*naming, *(one for one in kept if one not in naming)]


def _same_table(one: Candidate, other: Candidate) -> bool:
    """Whether both are rows of one table."""
    same = (one.passage.document, one.passage.page, one.passage.heading, one.sentence.context) == (
        *(other.passage.document, other.passage.page),
        *(other.passage.heading, other.sentence.context),
    )
    return same and one.sentence.kind == other.sentence.kind == "row"


def _is_header(candidate: Candidate) -> bool:
    """Whether it only names the columns of the rows below it."""
    sentence, rows = candidate.sentence, split(candidate.passage.text)
    return sentence.kind == "row" and any(_header_of(row) == _title(sentence) for row in rows)


def _header_of(row: Sentence) -> str:
    """The last part of what stands above a row, "" for anything else."""
    return row.context.rsplit(" > ", 1)[-1] if row.kind == "row" else ""


def _title(row: Sentence) -> str:
    return row.text.strip("| \t")


def _columns(passage: Passage, row: Sentence) -> str:
    """The row that names the columns of ``row``, where there is one."""
    header = _header_of(row)
    rows = (piece for piece in split(passage.text) if piece.kind == "row" and header)
    return next((piece.text for piece in rows if _title(piece) == header), "")


def _quote(asked: Question, one: Weighed, kept: Sequence[Weighed]) -> Passage:
    passage, sentence = one.candidate.passage, one.candidate.sentence
    start, end = sentence.start, sentence.end
    if sentence.kind == "row":
        start, end = _rows_alike(asked, one, kept)
        whole = _cut(passage, start, end, one.score)
        return msgspec.structs.replace(whole, columns=_columns(passage, sentence))
    if sentence.kind == "item":
        start, end = _whole_list(asked, one.candidate, kept)
    elif sentence.kind == "sentence":
        if asked.kind is None or asked.kind.name == "reason":
            start, end = _paragraph(one.candidate)
        start = _back_to_what_it_leans_on(passage.text, start)
    return _cut(passage, start, end, one.score)


def _cut(passage: Passage, start: int, end: int, score: float) -> Passage:
    return msgspec.structs.replace(
        passage,
        start=passage.start + start,
        end=passage.start + end,
        text=passage.text[start:end],
        score=score,
    )


def _paragraph(candidate: Candidate) -> tuple[int, int]:
    """Offsets of the sentences around it without a gap, as far as they are short together.

    Where no kind of answer is asked for, the remedy often stands one sentence after the words of
    the question.
    """
    text, sentence = candidate.passage.text, candidate.sentence
    start, end = sentence.start, sentence.end
    pieces = [piece for piece in split(text) if piece.kind == "sentence"]
    for after in (piece for piece in pieces if piece.start >= end):
        if "\n\n" in text[end : after.start] or after.end - start > MAX_PARAGRAPH:
            break
        end = after.end
    for before in (piece for piece in reversed(pieces) if piece.end <= sentence.start):
        if "\n\n" in text[before.end : start] or end - before.start > MAX_PARAGRAPH:
            break
        start = before.start
    return start, end


def _back_to_what_it_leans_on(text: str, start: int) -> int:
    """``start``, or that of the sentence before, where what begins there is true only after it."""
    if not _LEANS_BACK.match(text, start):
        return start
    before = [piece for piece in split(text) if piece.end <= start and piece.kind == "sentence"]
    gap = "\n\n" in text[before[-1].end : start] if before else True
    return start if gap else before[-1].start


def _whole_list(asked: Question, candidate: Candidate, kept: Sequence[Weighed]) -> tuple[int, int]:
    """Offsets of the list that an item stands in, where one item is no answer; else its own."""
    sentence, text = candidate.sentence, candidate.passage.text
    alone = sentence.start, sentence.end
    items = _items_around(candidate.passage, sentence)
    start, end = items[0].start, items[-1].end
    if len(items) < 2 or end - start > MAX_LIST or (asked.kind and asked.kind.name != "reason"):
        return alone
    numbered = _NUMBERED.match(text, start) is not None
    short = (end - start) / len(items) <= SHORT_ITEM
    inside = sum(
        one.candidate.passage == candidate.passage and start <= one.candidate.sentence.start < end
        for one in kept
    )
    steps = numbered and (_STEPS.search(asked.text) or inside > 1)
    collection = short and _COLLECTION.search(asked.text)
    return (start, end) if steps or collection else alone


def _rows_alike(asked: Question, one: Weighed, kept: Sequence[Weighed]) -> tuple[int, int]:
    """Offsets of a row; of the whole short table where one asks whom to ring and nothing tells
    which of its numbers is meant."""
    sentence, passage = one.candidate.sentence, one.candidate.passage
    alone = sentence.start, sentence.end
    reaching = asked.kind is not None and asked.kind.name in TO_REACH
    alike = [other for other in kept if _same_table(one.candidate, other.candidate)]
    if not reaching or len(alike) < 2 or asked.wanted & keys(sentence.text):
        return alone
    rows = [
        piece
        for piece in split(passage.text)
        if piece.kind == "row" and piece.context == sentence.context
    ]
    start, end = rows[0].start, rows[-1].end
    return (start, end) if end - start <= MAX_TABLE else alone


def _items_around(passage: Passage, sentence: Sentence) -> list[Sentence]:
    """The items of the list in which ``sentence`` is one, in order."""
    pieces = split(passage.text)
    at = next(i for i, piece in enumerate(pieces) if piece.start == sentence.start)
    first = last = at
    while first and _is_item_of(pieces[first - 1], sentence):
        first -= 1
    while last + 1 < len(pieces) and _is_item_of(pieces[last + 1], sentence):
        last += 1
    return list(pieces[first : last + 1])


def _is_item_of(piece: Sentence, of: Sentence) -> bool:
    return piece.kind == "item" and piece.context == of.context


def _list_first(quotes: list[Passage]) -> list[Passage]:
    """``quotes``, first a list of the section in which the best one stands."""
    best = quotes[0]
    lists = [
        quote
        for quote in quotes
        if is_list(quote)
        and (quote.document, quote.heading) == (best.document, best.heading)
        and quote.score >= best.score * AS_GOOD
    ]
    return [*lists[:1], *(quote for quote in quotes if quote not in lists[:1])]


def _next_row(asked: Question, best: Weighed, today: date) -> Iterator[Passage]:
    """Of a table of dated events, where one asks for the next without naming one: that row."""
    passage, sentence = best.candidate.passage, best.candidate.sentence
    if sentence.kind != "row" or not _NEXT.search(asked.text):
        return
    days: dict[date, Sentence] = {}
    for row in split(passage.text):
        if row.kind == "row" and row.context == sentence.context:
            if asked.wanted & keys(row.text):
                return
            first = cells(row.text)[0]
            days |= {day: row for day in dates_in(first, today) if day >= today}
    if days:
        row = days[min(days)]
        quote = _cut(passage, row.start, row.end, best.score)
        yield msgspec.structs.replace(quote, columns=_columns(passage, row))


def _that_comes_next(asked: Question, quotes: list[Passage], today: date) -> list[Passage]:
    """``quotes``, of lists of days the one with the next day alone, and first."""
    near = [quote for quote in quotes if quote.score >= quotes[0].score * AS_GOOD]
    days = {quote.start: next_day(asked, quote, today) for quote in near}
    first = min((day for day in days.values() if day), default=None)
    if first is None:
        return quotes
    chosen = next(quote for quote in near if days[quote.start] == first)
    others = [quote for quote in quotes if quote is not chosen and not is_list_of_dates(quote.text)]
    return [chosen, *others]


def _said_of_the_day(
    asked: Question, quotes: Sequence[Passage], passages: Sequence[Passage], today: date
) -> Iterator[Passage]:
    """What the document says of the next day by itself: that it is moved."""
    day = next_day(asked, quotes[0], today)
    for passage in passages if day else ():
        for piece in split(passage.text) if passage.document == quotes[0].document else ():
            told = piece.kind == "sentence" and day in dates_in(piece.text, today)
            if told and not is_list_of_dates(piece.text):
                yield _cut(passage, piece.start, piece.end, quotes[0].score * KEEP_QUOTE)
                return


def _link(asked: Question, candidate: Candidate, passages: Sequence[Passage]) -> Iterator[Passage]:
    """What makes a row one about somebody who is asked about, and is not named in it."""
    people = (asked.people | asked.perhaps_people) & keys(candidate.link)
    if not people or people & keys(candidate.sentence.text):
        return
    for passage in passages:
        at = passage.text.find(candidate.link)
        if passage.document == candidate.passage.document and at >= 0:
            yield _cut(passage, at, at + len(candidate.link), KEEP_QUOTE)
            return


def _pointed_to(quotes: Sequence[Passage], passages: Sequence[Passage]) -> Iterator[Passage]:
    """The steps that "top up, see above" points to, where their lead-in says it so."""
    for quote in quotes:
        said = keys(quote.text) if _SEE.search(quote.text) else frozenset[str]()
        for passage in passages if said else ():
            for piece in split(passage.text) if passage.document == quote.document else ():
                lead_in = keys(piece.context.rsplit(" > ", 1)[-1])
                if piece.kind == "item" and lead_in and lead_in <= said:
                    items = _items_around(passage, piece)
                    start, end = items[0].start, items[-1].end
                    if end - start <= MAX_LIST:
                        yield _cut(passage, start, end, quote.score * KEEP_QUOTE)
                    return


def _number_of(
    asked: Question, quotes: Sequence[Passage], passages: Sequence[Passage]
) -> Iterator[Passage]:
    """Where somebody is to be rung whose number the quotes do not tell: the sentence that does."""
    reaching = asked.kind is not None and asked.kind.name in TO_REACH
    if not reaching or any(PHONE.search(quote.text) for quote in quotes):
        return
    text = quotes[0].text
    named = {term.key for term in terms_of(text) if is_name(term)} - asked.wanted
    for passage in passages:
        for piece in split(passage.text):
            if named & keys(piece.text) and PHONE.search(piece.text):
                yield _cut(passage, piece.start, piece.end, quotes[0].score * KEEP_QUOTE)
                return
