"""What kind of thing a question asks for, and whether a text holds one.

"How much does it weigh?" is answered by something in kilograms or by nothing; the word "weigh" need
not occur. Must not know of scores or passages.
"""

import re
from typing import NamedTuple

from rag.lexical import Term, keys, terms_of


class AnswerType(NamedTuple):
    """A kind of answer: how one asks for it, and what it looks like."""

    name: str
    question: re.Pattern[str]
    answer: re.Pattern[str] | None
    """What the answering text must hold. ``None``: any number that is not in the question."""
    implied: frozenset[str]
    """Terms of the question that the answer's form stands for, so that they may be missing."""
    strict: bool
    """Such an answer always has this form: a text without it is no answer."""


_COUNT = (
    r"(?:\d+[\s-]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|a|an"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|half an?|few|several)[\s-]+)"
)
"""With what stands before the unit: in "has" no "a" counts seconds."""
_TIME_UNIT = (
    r"(?:s|sec|secs|seconds?|min|mins|minutes?|h|hrs?|hours?|days?|nights?|weeks?|months?|years?"
    r"|decades?|centur(?:y|ies))\b"
)
_LENGTH = r"\d\s*(?:m|cm|mm|km|metres?|meters?|feet|foot|ft|inch(?:es)?|in|miles?|yards?)\b"
_MONTH = (
    r"\b(?:january|february|march|april|(?-i:May)|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
)
_DAY = (
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:daily|weekly|monthly|yearly|annually)\b"
)
_WHEN = (
    rf"\d{{1,2}}[:.]\d\d|(?<!\d-)\b\d{{4}}s?\b|\b\d{{1,2}}\s*(?:a\.?m|p\.?m|o'clock)|{_DAY}|{_MONTH}"
    rf"|\d{{1,2}}[./-]\d{{1,2}}[./-]|\d+(?:st|nd|rd|th)\b"
    rf"|\b(?:within|after|before|in|every|each|than) {_COUNT}(?:\w+ )?{_TIME_UNIT}"
    rf"|{_COUNT}(?:\w+ )?{_TIME_UNIT} (?:after|before|later|ago|earlier|from|old)\b"
    r"|\d{1,2} (?:to|till|until) \d{1,2}"
    r"|\b(?:every|morning|noon|afternoon|evening|night|midnight|spring|summer|autumn|winter|century"
    r"|before|after|until|during|today|tomorrow|weekends?|weekdays?|christmas|easter|working day"
    r"|holidays?)\b|[点月日号周年]"
)
_MONEY = (
    r"[€$£¥]|\b(?:euros?|eur|dollars?|usd|pounds?|gbp|cents?|pence|francs?|chf|kr|rent|free)\b"
    r"|\d[.,]\d\d\b|元"
)
_MASS = r"(?:kg|kilos?|kilograms?|g|grams?|lbs?|pounds?|oz|ounces?|stones?|t|tons?|tonnes?)\b"
_COLOURS = (
    r"\b(?:black|white|red|green|blue|yellow|orange|brown|grey|gray|pink|purple|violet|silver|gold"
    r"|beige|cream|turquoise)\b|[黑白红绿蓝黄紫灰]色"
)
_CALENDAR = (
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August"
    r"|September|October|November|December|Christmas|Easter"
)
_NAME = (
    rf"(?-i:(?<=[a-z,;:(|\-] )\"?(?!(?:{_CALENDAR})\b)[A-Z][\w'’.-]+"
    r"|^(?!The |This |That |These |Those |Our |Your |We |You |It |If |An? )"
    r"[A-Z][\w'’-]+ (?:(?!and\b|or\b)[a-z]+ )?(?:[A-Z]|[a-z]+s\b|[a-z]+ed\b|is|was))"
    r"|\b(?:mr|mrs|ms|dr|prof)\b"
)
_PHONE = r"(?<![\d-])(?!\d{4}-\d\d|(?:19|20)\d\d/\d\d)\+?\d[\d\s()/.-]{4,}\d"
"""Not a date, "1958-11-02", nor two years, "2026/27"."""
_SERVICES = (
    r"breakdown|emergency|claims|service|services|support|help|helpline|hotline|advice|poisons?"
    r"|faults?|out[- ]of[- ]hours|customer care|line|desk|doctors?|dentists?|vets?|school|surgery"
    r"|practice|office|hospital|agent|agency|council|insurers?|police|neighbou?rs?|plumber"
    r"|locksmith|electrician|engineer|technician|landlord|landlady"
)
"""Whose number is one to ring: the breakdown number is no policy number."""
_TROUBLE = (
    "repair fix mend break broken fail failure dead stop leak fault problem trouble wrong damage"
    " scratch dent crash accident bump burst crack block jam drip"
)
"""What has happened, when one wants to know whom to ring."""
_REPAIRS = (
    r"(?:repair|mend|service)(?:s|ed)?|fix(?:es|ed)?|mends?|mended|changed?|replaced?|does|did"
    r"|looks? after|looked after"
)
_STREET = (
    r"\b(?:street|st\.|road|rd\.|lane|avenue|drive|square|close|terrace|row|quay|way|place)\b"
    r"|[路街道巷][\d一二三四五六七八九十]*|\d号"
)
_PLACE = (
    r"\b(?:in|on|at|under|beneath|behind|beside|above|below|near|inside|outside|between|opposite"
    r"|against|from|to|into|by|next to|around|along|through|where)\b"
    rf"(?! (?:\d|the (?:first|day|end)|(?:{_CALENDAR})\b|time\b|writing\b))"
    r"|\b(?:left|right|upstairs|downstairs|here|there|cellar|garage|kitchen|hall|shed|drawer)\b"
    rf"|{_STREET}|在|到|去|住|[里上下旁边内外楼层店]"
)


def _type(
    name: str, question: str, answer: str | None, implied: str = "", *, strict: bool = True
) -> AnswerType:
    compiled = re.compile(answer, re.IGNORECASE) if answer else None
    return AnswerType(name, re.compile(question, re.IGNORECASE), compiled, keys(implied), strict)


# The first that fits the question counts.
ANSWER_TYPES = (
    _type("email", r"\be-?mail\b|邮箱|邮件地址", r"\S@\S", "email mail address write"),
    _type(
        "phone",
        r"\b(?:tele)?phone\b.*\bnumber|['’]s (?:tele|mobile |cell)?phone\b\??$|\bnumber\b.*\bcall\b"
        r"|\bwhose number\b|\bmobile\b.*\bnumber|\b(?:call|reach|ring)\b.*\bnumber"
        rf"|['’]s (?:work |home |office |emergency )?number\b|\b(?:{_SERVICES}) number\b"
        rf"|\bnumber (?:for|of) (?:the |our )?(?:[\w-]+ ){{0,2}}(?:{_SERVICES})\b"
        r"|\bhow (?:do|can) (?:i|we) (?:reach|call)|电话|號碼|热线",
        _PHONE,
        "phone telephone number call reach mobile ring 电话 号码 contact cell",
    ),
    _type(
        "contact",
        r"\bwhom?\b.*\b(?:ring|call|phone|contact|reach|get hold of|speak to|talk to)\b",
        rf"{_PHONE}|\S@\S|\b(?:call|ring|phone|contact) (?-i:[A-Z])[a-z]",
        "ring call phone contact reach hold speak talk somebody someone anybody anyone service"
        f" customer helpline hotline emergency engineer {_TROUBLE}",
    ),
    _type(
        "repairer",
        r"^who(?:['’]s| is| can| could| will| would|['’]ll)?(?: going)?(?: to)? "
        r"(?:fix|repair|mend)(?:es|s|ing)?\b",
        rf"{_PHONE}|\b(?:call|ring|phone|contact) (?-i:[A-Z])[a-z]"
        rf"|(?-i:\b[A-Z][a-z]+ (?:[a-z]+ )?(?:{_REPAIRS}))\b|\b(?:{_REPAIRS}) by (?-i:[A-Z])",
        f"service engineer {_TROUBLE}",
        strict=False,
    ),
    _type(
        "web",
        r"\b(?:web ?site|url|web ?page|web address|admin page|homepage|link)\b|网址|网站",
        r"https?://|www\.|\b[\w-]+\.(?:com|org|net|info|io|de|uk|eu|cn|local)\b|\d+\.\d+\.\d+\.\d+",
        "website url address link page 网址 网站",
    ),
    _type(
        "frequency",
        r"\bhow (?:often|frequently)\b|多久.*一次",
        rf"\b(?:every|each|once|twice|times|per)\b|{_DAY}|每",
        "often frequently",
        strict=False,
    ),
    _type(
        "money",
        r"\bhow much (?:is|are|was|were|(?:do|did|does) .* cost|(?:do|did|does) \w+ pay)\b"
        r"|\bhow expensive\b|\b(?:price|cost|costs|fee|premium)\b|多少钱|价格|费用",
        _MONEY,
        "cost price pay expensive fee much money amount total altogether charge"
        " 多少钱 价格 钱 费用",
    ),
    _type(
        "temperature",
        r"\bhow (?:hot|warm|cold)\b|\btemperature\b|\bdegrees\b|温度|多少度|几度",
        r"°|º|℃|\bdegrees?\b|\d\s?[CF]\b|\bgas mark\b|\d度",
        "hot warm cold temperature degrees 温度",
    ),
    _type(
        "weight",
        r"\bhow (?:heavy|much .* weigh)\b|\bweigh(?:t|s)?\b|多重|重量",
        rf"\d\s*{_MASS}|公斤|千克|克",
        "heavy weigh weight much 重量",
    ),
    _type(
        "duration",
        rf"\bhow long\b|\bhow many {_TIME_UNIT}|\bhow much (?:time|notice|longer)\b|多久|多长时间",
        rf"{_COUNT}(?:full |more |calendar |working )?{_TIME_UNIT}|\b(?:until|till)\b"
        rf"|{_LENGTH}|小时|分钟|天|年|月|\b(?:over)?night\b",
        "long last take time duration 多久 时间",
        strict=False,
    ),
    _type(
        "age",
        r"\bhow old\b|\bwhat age\b|多大年纪|几岁",
        rf"(?!an?\b){_COUNT}(?:years?|months?|weeks?)\b|\b(?:19|20)\d\d\b|\b\d+th\b|\bborn\b|\bold\b"
        r"|\baged?\b|岁",
        "old age",
        strict=False,
    ),
    _type(
        "until",
        r"\b(?:until|till|up to) when\b",
        rf"{_WHEN}|{_COUNT}(?:full |more |calendar |working )?{_TIME_UNIT}",
        "time date until",
        strict=False,
    ),
    _type(
        "time",
        r"\bwhen\??$|\bhow (?:late|early)\b|什么时候|几点|何时|哪天|哪一?年"
        r"|\b(?:what|which) (?:times?|days?|date|month|year|weekday|century|decade)\b",
        _WHEN,
        "time date day year month 时候 时间",
        strict=False,
    ),
    _type(
        "distance",
        r"\bhow far\b|多远",
        rf"{_LENGTH}|\b(?:km|kilomet\w+|miles?|minutes?|hours?)\b|公里|米|分钟|小时",
        "far away distance",
        strict=False,
    ),
    _type(
        "address",
        r"\b(?:address|postcode)\b|地址|门牌",
        rf"{_STREET}|\b[A-Z]{{1,2}}\d{{1,2}} ?\d[A-Z]{{2}}\b|\b\d{{5}}\b",
        "address live 地址",
    ),
    _type(
        "birthday",
        r"\b(?:birthdays?|born)\b|生日",
        rf"{_MONTH}|\b\d{{4}}\b|\d[./-]\d|\d月",
        "birthday born date 生日",
    ),
    _type("place", r"哪里|哪儿|在哪|什么地方", _PLACE, "where place 哪里", strict=False),
    _type(
        "reason",
        r"为什么",
        r"\b(?:because|since|due to|so that|otherwise|as|too|for|reasons?|cause[sd]?|prevents?|not"
        r"|never|protect\w*|damage\w*|attack\w*|after|to)\b|因为|由于|所以|否则|不然|以免|会|太",
        "why reason 为什么",
        strict=False,
    ),
    _type(
        "size",
        r"\bhow (?:tall|wide|deep|thick)\b|\b(?:dimensions?|width|height|depth|diameter)\b"
        r"|多高|多宽|多深",
        rf"{_LENGTH}|\bstor(?:e?y|ies)\b|米|厘米",
        "tall wide deep thick dimension width height depth high",
    ),
    _type(
        "area",
        r"\bsquare (?:met|feet|foot)|平方"
        r"|\bhow (?:large|big) is (?:the|our) (?:flat|house|apartment|room)",
        r"m²|sq\.?\s?m|square|m2\b|平方",
        "square metre meter feet large big have",
    ),
    _type(
        "extent",
        r"\bhow (?:big|large) (?:is|are|was|were)\b|多大",
        rf"{_LENGTH}|\d\s*(?:[x×\"″]|m²|m2|m³|sq|l\b|ml\b|lit|gall|acre|hect|kwh|[mgt]b\b|%|people|person)"
        r"|\binch|平|升|米|寸|亩|吨",
        "big large size",
    ),
    _type(
        "loudness", r"\bhow (?:loud|noisy)\b|\bnoise level\b", r"\d\s*dB", "loud noisy noise level"
    ),
    _type(
        "speed",
        r"\bhow fast\b|\bspeed\b",
        r"\d\s*(?:km/h|kph|mph|m/s|[mg]bit|[mg]bps|rpm|knots)|per (?:second|minute|hour)|\brpm\b",
        "fast speed",
    ),
    _type(
        "power",
        r"\bhow (?:powerful|many watts)\b|\bwattage\b|功率",
        r"\d\s*k?W\b|\bwatts?\b|瓦",
        "power watt 功率",
    ),
    _type("colour", r"\bwhat colou?r\b|什么颜色", _COLOURS, "colour color"),
    _type(
        "number",
        r"\bhow (?:many|much|big|large|high|far|full|strong)\b|\bhow .{0,30}percent"
        r"|\b(?:serial|model|part|account|customer|policy|contract|social security|registration"
        r"|frame|order|flight|room|house) number\b"
        r"|\bwhat (?:percentage|percent|number|amount|pressure)\b|多少|几[个台张次位只]",
        None,
        "many much number big large high far amount",
        strict=False,
    ),
    _type(
        "code",
        r"\b(?:licen[cs]e plate|(?:alarm|door|gate|access|pin|security) code|pin)\b"
        r"|\bcode (?:of|for|to)\b",
        r"\b(?=[\w-]*\d)[\w-]{3,}\b",
        "plate",
    ),
    _type(
        "name",
        r"\bwhat\b.*(?:\b(?:name of|named|called)\b|['’]s (?:first |last )?name\b)",
        rf"{_NAME}|[\"“'‘]\w|\w*\d",
        "name named called",
    ),
    _type(
        "person",
        r"\bname of the (?:person|doctor|vet|teacher)\b|\bwho\??$",
        _NAME,
        "person name",
        strict=False,
    ),
)
PHONE = re.compile(_PHONE)
_YEAR = re.compile(r"(?:19|20)\d\d")
"""Written like that, a number is hardly how many there are of something."""
NAMES = ("name", "person")
"""Kinds whose answer is not what the question names already."""
_BY_NAME = {kind.name: kind for kind in ANSWER_TYPES}
_OPENINGS = {
    "who": "person",
    "whose": "person",
    "whom": "person",
    "when": "time",
    "where": "place",
    "why": "reason",
}
_OPENING = re.compile(
    r"(?:(?:and|but|so|by|with|to|from|since|until)\s+)?(who|whose|whom|when|where|why)\b", re.I
)
_AFTER_A_REMARK = re.compile(r"[.!;,]\s+(?=(?:who|whose|whom|when|where|why)\b[^.,;]*\?)", re.I)
"""What begins the question in "We are stranded, who helps?"."""

TO_REACH = ("contact", "phone", "repairer")
"""Kinds for which one is told whom to ring, or the number."""
_OF_A_PERSON = ("birthday", "age", "phone", "email", "address")
_WHATEVER_OPENS = (*TO_REACH, "until")
"""Kinds that are asked for whatever the first word is: "until when" asks for no time of day."""
_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|may|must|should|am) (?!you\b)"
    r"(?!.*\b(?:or|what|when)\b)",
    re.IGNORECASE,
)
"""But not "can I have the number" and "do you know when"."""


_WHO_IS = re.compile(
    r"[Ww]ho(?:['’]s| is| are| was| were) (?:the )?(?-i:[A-Z])[\w'’-]+(?: [A-Z][\w'’-]+)*\??$"
)
"""Asks who somebody is, whose name is known."""
_TOLD_ELSEWHERE = re.compile(
    r"\bnot (?:written|noted|listed|kept|stored|put)(?: down)? here\b|, not here\b"
    r"|\bask (?-i:[A-Z])[a-z]|不写在这里|没有写在这里",
    re.IGNORECASE,
)
"""Says where to look instead: all that there is to be told of a secret."""
_ITEM_MARK = re.compile(r"\s*\(?\d{1,2}[.)]\s+")


def expected(question: str) -> AnswerType | None:
    """The kind of answer that ``question`` asks for, ``None`` when its words do not say.

    A question that begins with "who", "when", "where" or "why" asks for that, whatever it goes
    on to mention; but whom to ring is answered by a number. Yes or no is no kind.
    """
    question = question.strip()
    if _YES_OR_NO.match(question) or _WHO_IS.match(question):
        return None
    remark = None if _OPENING.match(question) else _AFTER_A_REMARK.search(question)
    opening = _OPENING.match(question, remark.end() if remark else 0)
    if opening and not any(_BY_NAME[name].question.search(question) for name in _WHATEVER_OPENS):
        return _BY_NAME.get(_OPENINGS[opening[1].lower()])
    return next((kind for kind in ANSWER_TYPES if kind.question.search(question)), None)


def reaches(question: str) -> bool:
    """Whether it asks whom to ring, or for a number to ring."""
    kind = expected(question)
    return kind is not None and kind.name in TO_REACH


def is_of_a_person(question: str) -> bool:
    """Whether it asks for what everybody has of their own: a birthday, a number, an address."""
    return any(_BY_NAME[name].question.search(question) for name in _OF_A_PERSON)


def holds(kind: AnswerType, text: str, question_keys: frozenset[str]) -> bool:
    """Whether ``text`` holds something of that kind that the question does not say already."""
    if kind.name in ("code", "number") and _TOLD_ELSEWHERE.search(text):
        return True
    if mark := _ITEM_MARK.match(text):
        text = text[mark.end() :]
    if kind.answer is None:
        return any(
            _is_new_number(term, question_keys) and not _YEAR.fullmatch(text[term.start : term.end])
            for term in terms_of(text)
        )
    if kind.name in NAMES:
        return any(not keys(match[0]) <= question_keys for match in kind.answer.finditer(text))
    return kind.answer.search(text) is not None


def _is_new_number(term: Term, question_keys: frozenset[str]) -> bool:
    return term.kind in ("number", "code") and term.key not in question_keys
