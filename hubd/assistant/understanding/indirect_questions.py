"""An indirect question as the direct one: "tell me if the door is locked" → "is the door locked".

What comes out is a question and nothing else: whoever uses it may answer, and never act.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class _Forms(NamedTuple):
    """How a language reports a question."""

    opening: re.Pattern[str]
    """What stands before it, ``if`` or ``whether`` included."""
    asking: re.Pattern[str]
    """The same before a question word, which stays."""
    direct: Callable[[str], str]
    """The clause in the order of a question."""
    idle: re.Pattern[str]
    """Words in it that ask nothing."""


def direct(text: str, language: str) -> str:
    """The question that ``text`` (stripped of politeness) reports; an empty string: it is none."""
    forms = FORMS.get(language)
    if forms is None:
        return ""
    if language == "zh" and (asked := _TOPIC_FIRST.sub(r"\g<topic>", text)) != text:
        return asked
    clause, reported = forms.opening.subn("", text, count=1)
    if reported:
        return _idle(forms.direct(clause), forms)
    clause, reported = forms.asking.subn("", text, count=1)
    idle = _idle(clause, forms)
    if language == "de" and reported:
        return forms.direct(idle)
    if language == "en" and reported:
        idle = _OWN.sub(lambda own: f"{own[1]} {_VERBS[own[3]]} {own[2]} ", idle)
        idle = _IS_GOING.sub(" is ", idle)
        return _REPORTED.sub(r"\1 \3 \2", re.sub(r"(?<=\w)'s (?=got\b)", " has ", idle))
    return idle if reported or idle != text else ""


def _idle(text: str, forms: _Forms) -> str:
    return " ".join(forms.idle.sub(" ", text).split())


def _english(clause: str) -> str:
    """ "the door is locked" → "is the door locked"; "any windows are open" too."""
    for told, state in _DONE_BY:
        clause = told.sub(state, clause)
    clause = re.sub(r"^(i|we|it|you)(?:'ll| will) (.+)$", r"will \1 \2", clause)
    clause = re.sub(
        r"^((?:the |my |our )?\w+(?: \w+)?)'s (?=home|in|on|off|open|closed|locked|back|worth)",
        r"\1 is ",
        clause,
    )
    return re.sub(r"^(.+?) (is|are|was|has|have) (.+)$", r"\2 \1 \3", clause)


_SOMEBODY = (
    r"^(?:i|we|you|he|she|they|any(?:one|body)|some(?:one|body)|no ?(?:one|body)|"
    r"(?:the )?(?:kids|children|boys|girls))(?:'ve|'s|'d| have| has| had| did)?"
    r"(?: (?:already|actually|even|just|ever|properly|remembered to|forgot to))?"
)
_DONE_BY: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = (
    (re.compile(rf"{_SOMEBODY} (locked|closed|shut|opened|unlocked|lock|close) (?:up )?(.+)$"),
     lambda done: f"{done[2]} is {_DONE_SO.get(done[1], done[1])}"),
    (re.compile(rf"{_SOMEBODY} (?:left|forgot) (.+) (on|open|unlocked|running|up|down|off)$"),
     r"\1 is \2"),
    (re.compile(rf"{_SOMEBODY} (?:turned|switched|put|got|set|turn|switch) (.+) (on|off|up|down)$"),
     r"\1 is \2"),
    (re.compile(rf"{_SOMEBODY} (?:turned|switched|put|turn|switch) (on|off) (.+)$"), r"\2 is \1"),
)  # fmt: skip
_DONE_SO: Mapping[str, str] = {"opened": "open", "lock": "locked", "close": "closed"}
"""What somebody may have done, and the state that it would be in."""
_REPORTED = re.compile(
    r"^(what|when|where|who|how(?: \w+)?) (?!is |are |will |has |do |does )"
    r"((?:the|my|our|it|there)\b(?: [\w']+){0,3}?) (is|are|will|has|was)\b(?<! there is)"
)
"""What somebody wants to be told, in the order of a statement: "what the weather will be like"."""
_IS_GOING = re.compile(r"(?<=weather)'s (?=going to\b|like\b|doing\b)")
"""What is short for "is" there: "what the weather's going to be like"."""
_VERBS = {"'ve": "have", " have": "have", "'m": "am", " am": "am", "'re": "are", " are": "are"}
_OWN = re.compile(rf"^(wh\w+|how(?: \w+)?) (i|we)({'|'.join(_VERBS)}) (?=got\b|\w+ing\b)")
"""The same of what the speaker has or does: "what we've got on tomorrow"."""


def _german(clause: str) -> str:
    """ "die Tür abgeschlossen ist" → "ist die Tür abgeschlossen"; the same after "welche"."""
    clause = _DONE.sub(lambda done: f"{done[1]} {_STATES[done[2]]} ist", clause)
    if asking := _ASKING_WORD.match(clause):
        rest = clause[asking.end() :]
        return asking[0] + re.sub(rf"^(.+) ({_LAST})$", r"\2 \1", rest)
    clause = re.sub(r"^(.+ \w+e?n) (wird|muss|müssen|kann|können|soll|sollen)$", r"\2 \1", clause)
    return re.sub(rf"^(.+) ({_LAST})$", r"\2 \1", clause)


def _chinese(clause: str) -> str:
    """ "门是不是锁着" → "门锁着吗"."""
    clause = re.sub(r"是不是|是否|有没有", "", clause)
    return clause if clause.endswith(("吗", "没有", "没")) else f"{clause}吗"


_LAST = (
    "ist|sind|hat|haben|läuft|laufen|brennt|brennen|steht|stehen|regnet|schneit|wird|"
    "brauche?|brauchst|braucht|brauchen|steckt|stecken|bleibt|bleiben"
)
"""Verbs that a clause ends with, and a question begins with."""
_ASKING_WORD = re.compile(
    r"^(?:welche\w* \w+|wie (?:"
    r"viele?(?: (?:grad|minuten|stunden|tage|uhr|prozent|zeit|geld))?|"
    r"lange?|spät|warm|kalt|heiß|hell|laut|weit"
    r"|feucht|voll|hoch|schnell)|wie|was|wo|wer|wann|de[rn] wievielten?) (?!ist |sind |hat |haben )"
)


_STATES = {
    "abgeschlossen": "abgeschlossen", "abgesperrt": "abgeschlossen", "zugesperrt": "abgeschlossen",
    "verriegelt": "abgeschlossen", "zugemacht": "geschlossen", "geschlossen": "geschlossen",
}  # fmt: skip
_DONE = re.compile(rf"^(?:ich|wir) (.+) ({'|'.join(_STATES)}) (?:habe?|haben)$")
"""What somebody did not know to have done, and the state that it would be in."""
_I = "(?:i (?:honestly |really |do )?)?"
_TELL = (
    r"(?:tell(?:ing)? (?:me|us)|let (?:me|us) know|letting me know|"
    r"check(?:ing)?(?: up)?|see(?:ing)?|"
    r"have a look|look|find(?:ing)? out|do you (?:happen to )?know|i wonder|i was wondering|"
    r"i'm (?:just )?wondering|"
    r"(?:(?:i've|i have) )?no idea|(?:i've|i have) forgotten|"
    r"i haven't (?:a clue|the foggiest|any idea)|"
    r"i want to know|i'd like to know|know|i'm not sure|make sure i know|say|confirm|"
    r"(?:to )?(?:know|hear|ask|find out)|i'm not(?: sure)?|"
    r"(?:(?:can't|cannot|can not|don't|do not|couldn't|wouldn't)"
    r"(?: for the life of me| quite| really| honestly| just)*"
    r" (?:remember|recall|know|think|say|tell)|"
    r"(?:forget|forgot)))"
)
_SAG = (
    r"(?:sag(?:en|st)?(?: mir| uns)?|wei(?:ß|ss)t?|wissen|schau(?:en)?(?: nach)?|"
    r"nachschauen|nachsehen|frage mich|"
    r"prüf(?:e|en)?|überprüf(?:e|en)?|guck(?:en)?|kontrollier(?:e|en)?|ich frage mich|"
    r"verrat(?:en)?|verrätst|"
    r"(?:ich )?überleg(?:e)?|ich wei(?:ß|ss) gar|ich wüsste gern|wüsste gern|wissen)"
)
_MAY_ASK = "(?:darf|dürfte) (?:ich|man) (?:mal |kurz )?(?:fragen|wissen)"
_TELLS_WHETHER = (
    "我?[都也]?(?:记不清|记不得|不记得|不确定|忘了|想不起来?|搞不清|不清楚|吃不准)|"
    "[也又]?不知道|不晓得|想知道|能?告诉我|看看|看一下|查一下|查查|(?<![复检抽普])查(?![在是])|检查一下|检查(?![在是])|确认一下|确认|知不知道|知道"
)
_TOPIC_FIRST = re.compile(
    f"^(?P<topic>[^，,不没]{{2,10}}?)(?:{_TELLS_WHETHER})(?=.*(?:多|几|哪|什么|怎么?样))"
)
"""A Chinese question that names first what it is about: 绿豆汤不知道还要炖多久."""
FORMS: Mapping[str, _Forms] = {
    "en": _Forms(
        opening=re.compile(rf"^{_I}{_TELL} (?:if|whether) "),
        asking=re.compile(rf"^{_I}{_TELL} (?=which |how |(?:what|where|who|when)(?:'s)? )"),
        direct=_english,
        idle=re.compile(
            r"\b(?:still|yet|already|currently|at the moment|by any chance|anywhere|even)\b"
        ),
    ),
    "de": _Forms(
        opening=re.compile(rf"^(?:{_SAG} )?ob "),
        asking=re.compile(
            rf"^(?:{_SAG}|{_MAY_ASK}) (?=welche|was |wo |wer |wann |wie |de[rn] wievielten? )"
        ),
        direct=_german,
        idle=re.compile(r"\b(?:noch|gerade|momentan|zufällig|irgendwo|überhaupt)\b"),
    ),
    "zh": _Forms(
        opening=re.compile(rf"^(?:{_TELLS_WHETHER}|看)(?=.*(?:是不是|是否|有没有))"),
        asking=re.compile(rf"^(?:{_TELLS_WHETHER})"),
        direct=_chinese,
        idle=re.compile(r"还|现在|目前|究竟"),
    ),
}  # fmt: skip
