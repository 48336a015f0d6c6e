"""Speech without what slips in while one thinks: hesitations, and what is said twice."""

import re

_STUTTERS = {
    "de": re.compile(r"\b(\w+(?: \w+){0,2})(?: \1\b)+"),
    "words": re.compile(r"\b(\w+)(?: \1\b)+"),
    "characters": re.compile(r"([\u4e00-\u9fff]{2,6})\1+"),
}
"""What is said twice: "with the, the music", "ist die, ist die", 灯带灯带; but 奶奶 is a word."""
_HESITATION = {
    "en": re.compile(
        r"(?i)(^|[ ,])(?:(?:(?<=, )[oa]h(?=,)|u+h+m*|u+m+|er+m*|e+h*m+|e+h+|hm+)\b[,.…]*\s*)+"
    ),
    "de": re.compile(
        r"(?i)(^|[ ,])(?:ä+h*m*|ö+hm*|hm+|ehm|m+h+|"
        r"(?<=, )na(?=,)|(?<=, )also(?=,| d(?:er|ie|as|en)\b))\b[,.…]*\s*"
        r"(?:dings,+\s*)?(?:na,+\s*)?(?:also (?=d(?:er|ie|as|en)\b))?"
    ),
    "zh": re.compile(
        r"(^|[，,。…])?(?:[嗯呃]+)[，,…]*|^那个…+[，,]*|^要不[，,]就?|(?<=想听)那个[，,]|"
        r"(?<=[，,把给让点首])(?:那个|那什么|就是说?)[，,…]+|那个谁[，,…]+"
    ),
}
_WITHIN = re.compile(
    r"(?i)(?<=\w), (?:u+h+m*|u+m+|er+m*|ä+h*m*|ö+hm*|hm+)[,.…]* (?=(?:"
    r"(?:unter|über|hinter|vor|an|in|bei|von|zu)(?:m|s|r)?|am|im|beim|zum|zur|vom|"
    r"under|behind|inside|beside|next|above|below|in|on|at|near|with|"
    r"höher|tiefer|heller|dunkler|wärmer|kälter|leiser|lauter|hoch|runter|rauf|higher|lower|"
    r"brighter|darker|warmer|cooler|louder|quieter|up|down)\b)"
)
"""A hesitation within a clause: "klebt, äh, unterm Router", "a bit, um, higher"."""
_CHINESE_RESTARTED = re.compile(
    r"([\u4e00-\u9fff]{0,5}(?:[给把到成在对叫让的跟和]|还有))[，,…]+(?:那个?[，,…]+)?(?=\1(?!啥|什么|哪))|"
    r"([\u4e00-\u9fff]{2,4})[，,…]+(?:对+|没错|就是)[，,…]+(?=\2)|"
    r"(?<=[上里单])[，,]?([加记写买放添])[，,…]+\3?(?:那个|那什么|个)?[，,…]+"
)
"""The same in Chinese, which needs no space: 开到，开到百分之三十."""
_CHINESE_IS = re.compile(r"([是在要把先])[，,…]+(?=\1)")
"""今年中秋节是，是几月几号."""
_SMALL = (
    "the|a|an|my|our|his|her|to|of|in|on|at|by|for|till|until|with|from|"
    "der|die|das|den|dem|im|am|auf|mit|bis|bei|von|zum|zur|für"
)
_RESTARTED = re.compile(
    rf"(?i)\b(how (?:many|much|long)|wie (?:viele?|lange?)|(?:{_SMALL}) (?:{_SMALL})|{_SMALL})"
    r"(?:,? \1\b)+"
)
"""A small word that is said again after a pause: "how many cups in a, in a quart"."""
_SOUGHT = re.compile(
    rf"(?i)\b((?:{_SMALL})(?: (?:{_SMALL}))?)"
    rf"(?:,? (?:{_SMALL}|na|nun|also|dings(?:da|bums)?|thing(?:y|ummy|amajig|ie)|whatsit|"
    r"what(?:cha|d'?you|dya)(?:ma)?-?call-?it|well|like))*, \1\b"
)
"""The same with what one says while a word does not come: "auf der, der, na, auf der Packliste"."""
_ASKED_AGAIN = re.compile(
    r"(?i)\b(what|how|where|when|which|who|was|wie|wo|wann|welche[rns]?|wer)(?:['’](?:s|re))? "
    r"\w+(?: \w+)?, (?=\1\b)"
)
"""A question that begins again: "was ist, was steht auf der Liste"."""
_BEGUN_AGAIN = {
    "words": re.compile(
        r"(?i)\b([\w'’]+(?: [\w'’]+){1,3}),+ (?=\1\b)|"
        r"\b(?:on|to|auf) (?:the|my|our|die) liste?,? (?=(?:on|to|auf) "
        r"(?:the|my|our|die|meine|unsere) [\w'’-]+(?: [\w'’-]+)?[ ]?list)"
    ),
    "zh": re.compile(
        r"(?:(?<=[，,。])|^)(?!还有|然后)(?P<begun>[\u4e00-\u9fff]{2,6})[，,…]+(?:那个?[，,…]+)?"
        r"(?=(?P=begun))|"
        r"(?:(?<=[，,。])|^)[\u4e00-\u9fff]{1,4}(?P<list>[单子表][里上])[，,]+"
        r"(?=[\u4e00-\u9fff]{1,8}(?P=list))"
    ),
}
"""A few words that are said again after a pause: "when does the, when does the sun set"."""
_SAY = re.compile(
    r"(?i)(?<!\bi)(?<!\bwe)(?<!\byou)(?<!\bjust)"
    r",? (?:say|let's say|sagen wir(?: mal)?),(?= )|, (?:you know|moment(?: mal)?),(?= )|"
    r"(?<=\w)(?<!, no)(?<!, or), (?:let's say|sagen wir(?: mal)?)(?= \w)|"
    r"(?:, (?:what|like|oh|ooh|maybe|perhaps|i don't know|i dunno))+,(?= (?:\d|an? |half |"
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)|one |two |three |four |five |ten |eleven |twelve ))"
)
"""Before a value that is thought about: "in, say, twenty minutes"; "to, you know, drink"."""
_LINKED = re.compile(r"(?:, (?:ja|yeah))?,? \b(and|und)\b(?:(?:,|,? \1\b),?)+ ")
"""An "and" with pauses about it: "yeast and, and brown paper", "Senf, ja, und, Würstel"."""

_WHAT_ELSE = {
    "en": re.compile(
        r"(?i)(?<=and),? (?:what else|what was it)(?: (?:was it|did we need))?[,.…]+"
        r"(?: (?:(?:oh|ah|um|right|yes|yeah)[, …]+)+)?(?=\w)|(?<=and), (?:oh|ah),? (?:yes|yeah),"
    ),
    "de": re.compile(
        r"(?i)(?<=und),? (?:was (?:noch|war(?:'s| es)? noch)|was denn noch)[,.…]+"
        r"(?: (?:(?:ach|ah|ja|genau|stimmt)[, …]+)+)?(?=\w)|(?<=und), ach ja,"
    ),
    "zh": re.compile("(?<=还有)[，,…]*(?:还有)?什么来着[，,…]*(?:[哦噢啊对了]+[，,…]+)?"),
}
"""Between two items: "bananas and, what else, oh yes, oat milk"."""

_RECALLED = {
    "en": re.compile(
        r"(?i),? (?:(?:oh|now),? )?what(?:'s (?:his|her|its|their) name|"
        r"(?:'s| was| is| are| were) (?:it|that|they|he|she)(?: called| named)?|"
        r" (?:do|d'|would) ?(?:you|ya|they|we) call (?:it|that|them)|"
        r" (?:did|had|have) (?:we|i|you) (?:say|said|decided?|agreed?(?: on)?))"
        r"(?: again| now)?[,.…]+"
        r"(?: (?:(?:oh|ah|right),? )*(?:yes|yeah|right|oh|ah|that's it|got it)[,.…]+)?(?= \w)"
    ),
    "de": re.compile(
        r"(?i),? (?:(?:ach|ja|na|dings),? )*"
        r"(?:was war(?:'s| das| es)?(?: (?:noch|gleich|nochmal))*|"
        r"wie war(?:'s| das| es)(?: (?:noch|gleich|nochmal))*|wie hieß das(?: noch| gleich)*|"
        r"wie (?:hei(?:ß|ss)(?:t|en)|nennt man|sagt man)(?: zu)?"
        r"(?: (?:der|die|das|den|er|sie|es|dem))?(?: (?:ding|teil|zeug))?"
        r"(?: noch| gleich| nochmal| wieder)*|"
        r"was (?:hatten|haben|hatte|hab) (?:wir|ich) (?:noch |gleich )*(?:gesagt|ausgemacht))[,.…]+"
        r"(?: (?:(?:ach|ah),? )*(?:ja|genau|richtig|ach|ah|jetzt hab ich's)[,.…]+)?(?= \w)"
    ),
    "zh": re.compile(
        "(?:[，,]?那个[，,]?|[，,])(?:是|叫)?(?:谁来着|什么来着|怎么说(?:来着|呢)|啥来着|(?:咱们?|我们)?说的?几点来着|几点来着)[，,…]+"
        "(?:(?:哦|噢|啊)(?:[，,…]+|(?=对|想))(?:(?:对了?|想起来了)[，,…]+)?|(?:对了?|想起来了)[，,…]+)?"
    ),
}
"""What is said while one recalls it: "remind me, what was it, oh yes, to pay the milkman"."""
_CONFIRMED = {
    "en": re.compile(
        r"(?i)(?<=\w\w), (?:yeah|yep|yes|exactly|that's (?:it|the one|him|her))"
        r"(?:[.!]*$|,(?= (?:on|in|at|upstairs|downstairs)\b))"
    ),
    "de": re.compile(
        r"(?i)(?<=\w\w), (?:(?:ja,? )?genau|ja|stimmt)"
        r"(?:[.!]*$|,(?= (?:auf|in|im|oben|unten)\b))"
    ),
    "zh": re.compile("(?<=..)[，,](?:对+|没错|就是(?:他|她|它|这个))[。！]*$"),
}
"""What one says to oneself when the word has come: „… von Max Giesinger, genau“."""
_FROM_NOW_ON = re.compile(
    "^(?:就是(?:说)?)?(?:从今(?:天|儿)?(?:起|往后)|以后|往后)[啊呢呀嘛吧]?[，,…]*(?=每)"
)
"""Before what shall be every day, and says the same: 以后啊，每天晚上."""
_LEFT_OPEN = re.compile(
    r"(?i)\b(to|the|a|an|some|my|our|your|of|den|dem|ein|eine|einen),(?: like,)? (?=\w)|"
    r"\b(in)(?:, like)?, (?=(?:\d|an? |half |\w+(?: \w+)? (?:min|hour|sec)))|"
    r"\b(in)(?:, like)?, (?=(?:\w+ ){1,2}(?:minute|stunde|sekunde|viertelstunde)n?\b)|"
    r"\b(at|by|until|till|um|bis)(?:, like)?, (?=(?:\d+|half |halb |quarter |viertel |noon|"
    r"midnight|mittag|mitternacht|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)\b)|"
    r"\b(is|are|ist|sind), (?=\d|\w*(?:zig|ßig|zehn|ty|teen)\b)|"
    r"^(add|put|play|buy|remind me|set|open|close|cancel|move)(?:, like)?, (?=(?:the|a|an|some|my|"
    r"our|\w+'s|[a-z]+ (?:to|on|in|from|for|at)) )|"
    r"\b(on|auf)(?:, like)?, (?=(?:mute|stumm|pause)\W*$)"
)
"""A pause after a word that nothing ends with: "to, move the car", "in, like, 40 minutes", "at,
noon", "put the TV on, mute"."""


_RIGHT = re.compile(
    r"(?i)^right,? (?=(?:put|add|turn|switch|set|open|close|shut|play|stop|pause|remind|wake|tell|"
    r"start|cancel|make|take|get|stick|pop|can|could|would|how|when|let|dim|lock)\b)"
)
"""Before a command, and no part of it; "right lamp on" is of the right one."""
_THOUGHT = {
    "de": re.compile(
        r"(?i), (?:(?:ich )?wei(?:ß|ss) (?:ich )?(?:auch |gar )?nicht(?: genau)?|keine ahnung|"
        r"was wei(?:ß|ss) ich|wie soll ich sagen|(?:na )?sag schon|moment(?: mal)?|lass mich "
        r"(?:kurz |mal )*(?:überlegen|nachdenken)|wie hei(?:ß|ss)(?:t|en) (?:der|die|das|sie|er)"
        r"(?: noch| gleich| nochmal)?)(?=,)"
    )
}
"""Thinking aloud between commas."""
_UM = {
    "en": r",? (?:u+h+m*|u+m+|er+m*|hm+)[,.…]* (?:(?:maybe|or|rather|better|perhaps),? )*",
    "de": r",? (?:ä+h*m*|ö+hm*|hm+)[,.…]* (?:(?:oder|eher|lieber|vielleicht),? )*",
    "zh": "[，,](?:(?:[呃额嗯啊哦]+[，,….]+)+(?:那|要不)?(?:还是)?|"
    "(?:那|要不)?(?:还是)?(?=[^，,]{2,9}吧))",
}
"""A pause before a value that is said anew; in Chinese a comma, where that is settled for: 九点，
九点半吧."""
_NUMBER = {
    "en": (
        r"(?:(?:half|quarter|ten|five|twenty) (?:past|to) )?"
        r"(?:\d+(?:[:.]\d+)?|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[ -](?:one|two|three|"
        r"four|five|six|seven|eight|nine))?|\w{3,5}teen|one|two|three|four|five|six|seven|eight|"
        r"nine|ten|eleven|twelve)(?: (?:thirty|fifteen|forty[ -]five))?"
    ),
    "de": (
        r"(?:(?:halb|viertel(?: (?:vor|nach))?|dreiviertel|(?:zehn|fünf) (?:vor|nach)) )?"
        r"(?:\d+(?:[:.,]\d+)?|(?:ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)?(?:und)?(?:zwan|drei|"
        r"vier|fünf|sech|sieb|acht|neun)(?:zig|ßig|ssig)|\w{3,5}zehn|zehn|elf|zwölf|zwei|drei|vier|"
        r"fünf|sechs|sieben|acht|neun)"
    ),
    "zh": r"(?:百分之)?(?:\d+(?:[.:]\d+)?|[一二两三四五六七八九十百半]+)",
}
_UNITS = {
    "en": {
        "clock": r"o'clock|[ap]\.?m\b|tonight|in the (?:morning|afternoon|evening)",
        "length": "minutes?|hours?|seconds?",
        "heat": "degrees",
        "part": "%|per ?cent",
    },
    "de": {
        "clock": "uhr(?: dreißig)?|morgens|abends|früh",
        "length": "minuten?|stunden?|sekunden?",
        "heat": "grad",
        "part": "%|prozent",
    },
    "zh": {
        "clock": "点(?:半|[一三]刻|[零一二三四五六七八九十\\d]{1,3}分?)?",
        "delay": "(?:分钟|个?半?(?:小时|钟头))(?:之?后|以后)",
        "length": "分钟|个?半?(?:小时|钟头)|秒钟?",
        "heat": "度",
        "part": "%",
    },
}
"""What a value is of."""
_BEHIND_VALUE = {
    "en": r"(?=$|[,.!?]| (?:to|on|for|please|maybe|instead)\b)",
    "de": r"\b",
    "zh": "(?=$|[吧，,。！])|(?<=[点度钟半刻分时头后])",
}
"""What may follow the value that is meant: "at nine, um, two pills" is no other time."""
_SAID_ANEW = {"en": "no", "de": "nein", "zh": "不对"}


def _two_values(language: str) -> re.Pattern[str]:
    """A value, a hesitation and another value, which may repeat the preposition of the first."""
    space = "" if language == "zh" else " ?"
    units = {
        side: "|".join(f"(?P<{kind}{side}>{unit})" for kind, unit in _UNITS[language].items())
        for side in "12"
    }
    number, joint = _NUMBER[language], "at|in|for|to|um|auf|für|凌晨|早上|上午|中午|下午|傍晚|晚上"
    return re.compile(
        rf"(?i)(?P<first>(?:(?P<joint>{joint}){space})?(?:(?<![\w.:])|(?<=[\u4e00-\u9fff])){number}"
        rf"(?:{space}(?:{units['1']}))?)(?P<um>{_UM[language]})"
        rf"(?=(?:(?P=joint){space})?{number}(?:{space}(?:{units['2']}))?"
        rf"(?:{_BEHIND_VALUE[language]}))"
    )


_TWO_VALUES = {language: _two_values(language) for language in _UM}
"""A value that is said anew after a pause: "siebzehn, äh, achtzehn Grad"."""


_SETTLED = re.compile(
    r"(?<=[\d一二两三四五六七八九十半])(?P<unit>点|分钟|度)(?P<rest>[^，,。？?]{0,15})"
    r"[，,](?:[呃额嗯啊哦]+[，,])?(?=[\d一二两三四五六七八九十]+(?P=unit)[^，,吗呢]{0,3}吧[。！]*$)"
)
"""What is settled for behind a whole command: 明天七点叫我起床，八点吧."""


def owned_up(text: str, language: str) -> str:
    """``text`` with a "no" where a value is said anew after a pause, of the same kind as before:
    "at nine, uh, half past nine", but not "to 21 degrees, um, at seven"."""
    if language == "zh":
        text = _SETTLED.sub(r"\g<unit>\g<rest>，不对，", text)
    pattern = _TWO_VALUES.get(language)
    return pattern.sub(lambda two: _with_no(two, language), text) if pattern else text


def _with_no(two: re.Match[str], language: str) -> str:
    first, second = (
        next((kind for kind in _UNITS[language] if two[f"{kind}{side}"]), "") for side in "12"
    )
    if first and second and first != second:
        return two[0]
    between = "，" if language == "zh" else ", "
    return f"{two['first']}{between}{_SAID_ANEW[language]}{between}"


def without_thoughts(text: str, language: str) -> str:
    """``text`` without thinking aloud between commas."""
    pattern = _THOUGHT.get(language)
    return pattern.sub("", text) if pattern else text


def fluent(text: str, language: str) -> str:
    """``text`` as it was said but for "um" and the like: "the, uh, the bread" is the bread."""
    hesitation = _HESITATION.get(language)
    between = "" if language == "zh" else " "
    said = _WHAT_ELSE[language].sub(between, text) if language in _WHAT_ELSE else text
    said = _RECALLED[language].sub(between, said) if language in _RECALLED else said
    said = re.sub(" {2,}", " ", said)
    said = _CONFIRMED[language].sub("", said) if language in _CONFIRMED else said
    said = _WITHIN.sub(" ", said)
    said = hesitation.sub(r"\1", said).strip(" ,，…") if hesitation else said
    if language == "zh":
        said = _CHINESE_RESTARTED.sub(lambda begun: begun[3] or "", said)
        said = _CHINESE_IS.sub("", said)
        said = _FROM_NOW_ON.sub("", said)
    said = _BEGUN_AGAIN.get(language, _BEGUN_AGAIN["words"]).sub("", said)
    said = _RIGHT.sub("", said) if language == "en" else said
    said = _ASKED_AGAIN.sub("", _SAY.sub("", said))
    said = _SOUGHT.sub(r"\1", _RESTARTED.sub(r"\1", said))
    said = _LEFT_OPEN.sub(lambda open_: f"{next(filter(None, open_.groups()))} ", said)
    return _LINKED.sub(r" \1 ", said) or text


def said_once(text: str, language: str, *, spaces: bool) -> str:
    """``text`` (plain) with what is said twice in a row once; spaces: whether they part words."""
    twice = _STUTTERS.get(language) or _STUTTERS["words" if spaces else "characters"]
    return twice.sub(r"\1", text)
