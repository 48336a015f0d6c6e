"""What is said behind "no", "I mean": the words that open a correction, and what is left of it.

Words alone: nothing is decided here.
"""

import re

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import NEVER, plain

_STRONG = {
    "en": r"no|nope|nah|not that(?: one)?|wrong (?:one|way round|thing)|i misspoke|my mistake|"
    r"(?:i )?(?:said|got) (?:it|that) wrong|i mean|i meant|i said|"
    r"(?:make|change|set|move) (?:that|it)(?: to)?|instead",
    "de": r"nein|nee|ne|nö|nicht|erst|quatsch|falsch(?: gesagt)?|vertan|versprochen|"
    r"(?:da )?habe? ich mich (?:versprochen|vertan)|ich meine|ich meinte|ich sagte|gemeint war|"
    r"mach(?:e)? (?:daraus|das)",
    "zh": r"(?:我)?(?:[说弄讲搞喊]|刚才说)(?:错|反)了|口误|错了|"
    r"不对|不是|不|我是说|我说的是|我的意思是|改成|改为|改到|换成",
    "fr": r"non|je veux dire|plutôt|pas (?:tout à fait|autant|tant que ça)",
    "es": r"no|quiero decir|mejor|no tanto|no del todo",
}
WEAK = {
    "en": r"sorry|wait|hang on|hold on|oops|oh|ah|actually|rather|it's|um|uh|h+m+|or",
    "de": r"doch|oder|h+m+|moment(?: mal)?|warte?(?: mal)?|ach|oh|lieber|sondern|äh|halt",
    "zh": r"是|应该是|等等|等一下|哦|啊|哎呀",
    "fr": r"pardon|attends|ah|oh|euh|en fait|finalement",
    "es": r"perdón|espera|ay|ah|eh|en realidad|tanto|del todo",
}
_INSTEAD = {
    "en": re.compile(
        r"(?:(?:no|oh|sorry),? )*(?:it's )?not [^,]{1,24}, (?:but |it's |i mean )?(?P<meant>.+)"
    ),
    "de": re.compile(r"(?:(?:nein|nee|ach),? )*nicht [^,]{1,24}, (?:sondern )?(?P<meant>.+)"),
    "zh": re.compile(
        r"(?:不对[，, ]*)?不是[^，, ]{1,10}[，, ]+(?:应该)?(?:是)?(?P<meant>.+?)"
        r"(?:[，, ]+(?:帮我)?改(?:一下|一改|过来)?吧?)?"
    ),
}
"""What is not meant, and what is: 不是下周五，是这周五."""
_WANTED = {
    "en": re.compile(
        r"(?:it was |it's |the one (?:i (?:want(?:ed)?|meant) (?:was|is) )?|what i wanted was )?"
        r"(?P<meant>(?:the|my|our) .+?)"
        r"(?: (?:that )?i (?:want(?:ed)?|meant|need(?:ed)?|was after)(?: to have)?"
        r"(?P<way> on| off)?)?"
    ),
    "de": re.compile(
        r"(?:ich (?:wollte|will|meinte|meine)|gemeint (?:war|ist|habe? ich)|es war|es geht um) "
        r"(?:doch |eigentlich )*(?P<meant>(?:die|das|den|der|mein\w*|unser\w*) .+)"
    ),
    "zh": re.compile(
        "(?:我)?(?:本来)?(?:(?:要|想|想要|是要|是想)?(?P<way>打?开|关)?的|(?:说|指|要说)的)(?:其实|应该)?是(?P<meant>.+)"
    ),
}
"""What was wanted instead, behind what takes the first back: 说错了，我要开的是灯带."""
_NOT_LIKED = {
    "en": re.compile(
        r"(?:i don't (?:really )?like (?:it|that)|(?:that|it) doesn't (?:look|suit) ?\w*|"
        r"(?:that|it)'s (?:not (?:nice|right|good|great)|(?:horrible|awful|ugly))),? "
        r"(?:(?:rather|better|let's (?:have|try|do|go back to)|try|back to|go back to|"
        r"go for|make (?:it|that)) )+(?P<meant>.+?)"
        r"(?: instead| then)?"
    ),
    "de": re.compile(
        r"(?:(?:das )?gefällt (?:mir|uns) (?:so |doch |gar )?nicht|"
        r"(?:das )?(?:sieht|schaut) (?:nicht (?:gut|schön)|blöd|doof|komisch) aus|nicht schön),? "
        r"(?:dann |doch )*(?:lieber|besser|eher) (?P<meant>.+)"
    ),
    "zh": re.compile(
        "(?:不好看|不喜欢|太?难看了?|不合适|不太好|"
        "太(?:暗|亮|刺眼|晃眼|艳|花|冷|红|蓝|绿)了?)[，, ]*(?:那|就)?(?:还是)?(?:还是|换成?|改成?)"
        "(?:要|换成?|用)?(?P<meant>.+?)吧?"
    ),
}
"""What is not liked, and what shall be in its place: 不好看，还是蓝色吧."""


_TOO_MUCH = {
    "en": re.compile(
        r"(?:(?:h+m+|o+h+|ah|well|no|actually|sorry),? )*(?:that|it)(?:'s| is) "
        r"(?:(?:a (?:bit|little)|too|much|way|far|rather|quite) )+[a-z]+,? (?P<meant>.+?) "
        r"(?:will do|(?:is|will be|would be) (?:enough|plenty|fine))"
    ),
    "de": re.compile(
        r"(?:(?:h+m+|oh|ach|ah|nein|nee|na),? )*das ist "
        r"(?:(?:ein|bisschen|etwas|doch|wohl|zu|viel) )+(?:\w+)?,? ?"
        r"(?P<meant>[\w-]+(?: (?:grad|prozent))?) "
        r"(?:reich(?:t|en)|genüg(?:t|en)|tut'?s|tun'?s)(?: auch| schon| doch| völlig)*"
    ),
    "zh": re.compile(
        "[嗯哦啊呃，,]*(?:有点|太)(?:高|低|热|冷|亮|暗|大|小|吵|多|快|慢)了?[，, ]+"
        "(?P<meant>[^，,]{1,8}?)(?:就|也)?(?:行|够|可以|好)了?"
    ),
}
"""What is too much, and what is enough: "that's a bit much, twenty will do"."""


def corrects(text: str, language: str) -> str:
    """What is left of a correction without its opening; empty where it is none."""
    if language not in _STRONG:
        return ""
    space = r"[\s,]+" if lexicon(language).spaces else r"[\s,]*"
    weak, strong = WEAK[language], _STRONG[language]
    pattern = rf"(?:(?:{weak}){space})*(?:{strong}){space}(?:(?:{weak}|{strong}){space})*"
    said = plain(text)
    opened = rf"(?:(?:{weak}|{strong}){space})*"
    whole = text.casefold().strip(" .!。！")
    for forms in (_INSTEAD, _NOT_LIKED, _TOO_MUCH):
        form = forms.get(language, NEVER)
        if instead := form.fullmatch(whole):
            return instead["meant"].strip(" ,，")
    made = rf"{opened}(?:dann |also )?mache? (?:da |jetzt |mal |bitte )*(.+) da?raus"
    if language == "de" and (wrapped := re.fullmatch(made, said)):
        return wrapped[1]
    opening = re.match(pattern, said)
    return _wanted(said[opening.end() :].strip(" ,，"), language) if opening else ""


def _wanted(rest: str, language: str) -> str:
    """What stands behind a correction, without what says that it was wanted: 我要开的是灯带 is
    打开灯带, "it was the hall light I wanted" is "the hall light"."""
    found = _WANTED.get(language, NEVER).fullmatch(rest)
    if found is None:
        return rest
    way = (found.groupdict().get("way") or "").strip()
    if language == "zh":
        return ("打开" if "开" in way else way) + found["meant"]
    return f"turn {way} {found['meant']}" if way else found["meant"]
