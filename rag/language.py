"""Which language a text is in, and how text of any language becomes terms for full-text search.

Chinese, Japanese and Korean runs become overlapping character bigrams, because FTS5's tokenizer
knows only words between spaces: on XQuAD-zh bigrams find the paragraph first for .93 of the
questions, SQLite's trigram tokenizer for .84. Must not know of databases or models.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

Language = Literal["en", "zh", "other"]

_SAMPLE = 500
"""Characters that tell a text's language."""

MAX_QUERY_CHARACTERS = 2_000
MAX_QUERY_TERMS = 64

CJK_RANGES = (
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0002fa1f"
)
CJK_RUN = re.compile(f"[{CJK_RANGES}]+")
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]")
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W_]+(?:[-'’\u2010\u2011][^\W_]+)*")
_COMPOUND = re.compile(r"(?<!\w)[^\W_]+(?:[-\u2010\u2011][^\W_]+){1,2}(?![\w-])")
_POSSESSIVE = re.compile(r"['’]s$")
_HYPHENS = re.compile(r"[-'’\u2010\u2011]")

CJK_FUNCTION_WORDS = re.compile(
    "为什么|為什麼|什么|什麼|多少|哪[些个個里裡儿兒年种種位一]?|怎么样?|怎麼樣?|怎样|怎樣|如何|是否|请问|請問"
    "|谁|誰|吗|嗎|呢|吧"
)
"""Question words and particles; they split a run, so that no bigram spans them."""
_COMMON_CHARACTERS = re.compile(
    "[的了是在有要可以能会我们你他她它这那个几多大小上下到去不也就和与]"
)
"""By themselves they say nothing of a topic."""

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """
            a about above after again all am an and any are aren't as at be been before being
            below between both but by can can't could couldn't did didn't do does doesn't doing
            don't down during each else ever every few for from further get gets getting got had
            has hasn't have haven't having he he's her here hers him his how how's i i'd i'll
            i'm i've if in into is isn't it it's its just let me more most much many must my
            need no nor not of off on once only or other our ours out over own please s same
            shall she should shouldn't so some such t tell than that that's the their them then
            there there's these they this those through to too under until up us very was wasn't
            we we're were weren't what what's when when's where where's which while who who's
            whom whose why will with won't would you you're your yours
        """,
        "de": """
            aber alle als am an auch auf aus bei beim bin bis bitte da das dass dem den der des
            die dies diese dieser doch du ein eine einem einen einer eines er es finde für gibt
            hat hatte ich ihr im in ist ja kann kein keine können lange mache man mein meine
            mich mir mit muss nach nicht noch nur ob oder oft schon sein seine sich sie sind so
            soll über um und uns unser unsere viel viele vom von vor wann war warum was welche
            welcher welches wenn wer werden wie wieviel wir wird wo zu zum zur
        """,
        "fr": """
            à au aux avec ce cette ces comment combien dans de des du elle en est et faut il ils
            je la le les leur l'on ma mais mes mon ne nos notre nous où ou par pas pour pourquoi
            quand que quel quelle quelles quels qui quoi sa se ses son sont sur ta tes ton tu un
            une vos votre vous y
        """,
        "es": """
            al como cómo con cuál cuando cuándo cuánto cuántos de del dónde donde el ella en es
            esta está este ha hay la las lo los me mi mis nos nuestra nuestro o para pero por
            porque puedo que qué quién se si sin sobre son su sus tiene un una y ya
        """,
        "it": """
            al alla che chi ci come con cosa da dei del della delle di dove e è gli ha i il in
            io la le lo mi mia mio nel nella non nostra nostro o per perché posso quale quali
            quando quanta quanto quanti se si sono su sua suo un una uno
        """,
        "nl": """
            aan als bij dan dat de deze die dit door een en er ge geen had heb heeft het hij hoe
            hoeveel ik in is kan maar me met mijn moet naar niet nog om onze ons ook op of te
            tot uit van voor waar waarom wanneer was wat we welke wel wie wordt zijn
        """,
        "pt": """
            a ao as com como da das de do dos e é ela em está eu já mais mas me meu minha na não
            nas no nos nosso nossa o onde os ou para pela pelo por posso qual quais quando
            quanto quantos que quem se sem seu sua são um uma
        """,
        "sv": """
            att av de den det du där en ett för från han har hur i inte jag kan man med men min
            mitt när och om på ska som så till vad var vem vi vilken vår är
        """,
        "pl": """
            aby ale co czy dla do gdzie ile i jak jaki jaka jakie jest kiedy kto który która na
            nie od po się są to w we z za że
        """,
    }.items()
}
"""Words that carry grammar, not topic, by ISO 639-1 code; they tell languages apart."""

_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in FUNCTION_WORDS.items():
    for _one in _words:
        _LANGUAGES_OF.setdefault(_one, []).append(_language)


def detect(text: str) -> Language:
    """``en``, ``zh`` or ``other``, by script and then by function words.

    A Han character counts as one word, so "wifi 密码" is Chinese, "How do I cook 红烧肉?" English.
    Latin text without any function word counts as English: short queries are mostly nouns.
    """
    text = unicodedata.normalize("NFKC", text[:MAX_QUERY_CHARACTERS])
    words = _latin_words(text)
    if text.isascii():
        return "en" if _latin_language(words) == "en" else "other"
    han = len(_HAN.findall(text))
    kana_or_hangul = len(_KANA_OR_HANGUL.findall(text))
    others = _far_letters(text) - han - kana_or_hangul
    if kana_or_hangul > 0 and han + kana_or_hangul > len(words):
        return "other"
    if han > len(words):
        return "zh"
    if others > sum(map(len, words)):
        return "other"
    return "en" if _latin_language(words) == "en" else "other"


def is_english(text: str) -> bool:
    """Whether a long text is, by its beginning: an English encoder can read it."""
    return detect(text[:_SAMPLE]) == "en"


def terms(text: str) -> str:
    """The text to put into the full-text index: normalised, CJK runs as bigrams, the rest as it is.

    A run's last character is added alone, so that a prefix query for one character finds every
    occurrence. Hyphenated words are added joined, at the end ("Wi-Fi" is also found as "wifi").
    """
    text = unicodedata.normalize("NFKC", text)
    joined = " ".join(_HYPHENS.sub("", match[0]) for match in _COMPOUND.finditer(text))
    spaced = CJK_RUN.sub(lambda match: f" {' '.join(_bigrams(match[0]))} {match[0][-1]} ", text)
    return f"{spaced}\n{joined}" if joined else spaced


def fts_query(text: str) -> str:
    """A safe FTS5 ``MATCH`` expression for a question: quoted terms joined by ``OR``.

    Function words are dropped unless nothing else remains. ``""`` when nothing is to be found.
    """
    return " OR ".join(_match_expression(term) for term in query_terms(text))


def character_query(text: str) -> str:
    """The same from the single Chinese characters of a question, "" without any.

    For where its bigrams find too little: 车险 is written 车辆保险 elsewhere.
    """
    kept = _COMMON_CHARACTERS.sub("", CJK_FUNCTION_WORDS.sub("", text[:MAX_QUERY_CHARACTERS]))
    characters = dict.fromkeys(_HAN.findall(unicodedata.normalize("NFKC", kept)))
    return " OR ".join(f'"{character}" *' for character in list(characters)[:MAX_QUERY_TERMS])


@lru_cache(maxsize=256)
def query_terms(text: str) -> tuple[str, ...]:
    """The distinct terms of a question: lower-case words and CJK bigrams (or lone characters)."""
    text = unicodedata.normalize("NFKC", text[:MAX_QUERY_CHARACTERS]).lower()
    words = list(_words_and_bigrams(text))
    dropped = FUNCTION_WORDS[_latin_language(_latin_words(text))]
    kept = [word for word in words if word not in dropped] or words
    return tuple(dict.fromkeys(kept))[:MAX_QUERY_TERMS]


def _words_and_bigrams(text: str) -> Iterator[str]:
    for run in CJK_RUN.split(text):
        yield from (_POSSESSIVE.sub("", word) for word in _WORD.findall(run))
    for run in CJK_RUN.findall(CJK_FUNCTION_WORDS.sub(" ", text)) or CJK_RUN.findall(text):
        yield from _bigrams(run) if len(run) > 1 else [run]


def _match_expression(term: str) -> str:
    if len(term) == 1 and CJK_RUN.fullmatch(term):
        return f'"{term}" *'
    joined = _HYPHENS.sub("", term)
    return f'"{term}"' if joined == term else f'"{term}" OR "{joined}"'


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _far_letters(text: str) -> int:
    """Letters of other scripts than Latin."""
    return sum(1 for c in text if ord(c) > 0x24F and c.isalpha())


def _latin_words(text: str) -> list[str]:
    if text.isascii():  # half of the time of what follows
        return [word for word in _WORD.findall(text.lower()) if word[0].isalpha()]
    return [
        word.lower().replace("’", "'")
        for part in CJK_RUN.split(text)
        for word in _WORD.findall(part)
        if word[0].isalpha() and ord(word[0]) <= 0x24F
    ]


def _latin_language(words: list[str]) -> str:
    """The code with the most function words; a word with other letters is half a vote."""
    votes = dict.fromkeys(FUNCTION_WORDS, 0)
    for word in words:
        for language in _LANGUAGES_OF.get(word, ()):
            votes[language] += 1
    foreign = sum(not word.isascii() for word in words) / 2
    best = max((language for language in votes if language != "en"), key=votes.__getitem__)
    return best if votes[best] + foreign > votes["en"] else "en"
