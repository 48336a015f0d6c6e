"""What a question was about, as one would write it down: "when is the rent due?" is "Pay the rent".

With the words of ``question_titles.yaml``.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hubd.assistant.answers.query_rewriting import gist, topic_of

LONGEST = 60
PAY = "pay"
_FILE = Path(__file__).with_suffix(".yaml")
_THIRD = ("s", "x", "z", "ch", "sh", "o")
"""Ends of verbs that take "es" in the third person."""


def title_of(question: str, language: str, told: str = "") -> str:
    """What ``question`` was about, its first letter large; "" where nothing is named.

    language: of the question
    told: passages in which names are written as they are
    """
    words = _words(language)
    said = " ".join(question.strip(" ?？!.。").split())
    said = words.before.sub("", said, count=1)
    said = words.behind.sub("", said)
    bare = " ".join(words.aside.sub(" ", said).split()).strip(" ,，")
    title = next(filter(None, (_by(*rule, bare, words) for rule in words.rules)), "")
    title = title or thing_of(bare, language) or gist(bare)
    title = _with_names(title.strip(" ,"), told)
    title = words.large.sub(lambda word: word[0].capitalize(), title)
    if len(title) > LONGEST:
        title = title[:LONGEST].rsplit(" ", 1)[0]
    return title[:1].upper() + title[1:]


def thing_of(question: str, language: str) -> str:
    """What is spoken of, without its article: "ginger loaf"."""
    if language == "zh":
        return re.split("的|是|要|有|什么|多少|几|怎么|在|可以|能|会|哪|为什么|多久", question)[0]
    return _words(language).article.sub("", topic_of(question), count=1)


def task_of(act: str, question: str, language: str) -> str:
    """What shall be done, with what "it" stands for: "cancel it" is "Cancel the car insurance"."""
    topic = thing_of(question, language) if language == "zh" else topic_of(question)
    done = _words(language).it.sub(lambda _: topic, act, count=1) if topic else act
    if language == "de":
        done = re.sub(r"^[Dd]er ", "den ", done)
    if language == "de" and (found := re.fullmatch(r"(?P<what>.+?) zu (?P<verb>\w+)", done)):
        done = f"{found['what']} {found['verb']}"
    thing = thing_of(question, language)
    if thing and thing.casefold() not in done.casefold() and language != "zh":
        done = f"{done} ({topic})"
    return done[:1].upper() + done[1:]


class _Words:
    """The rules of a language, compiled."""

    def __init__(self, raw: dict[str, Any]) -> None:
        def compiled(pattern: str) -> re.Pattern[str]:
            return re.compile(pattern.replace("{when}", raw["when"]), re.IGNORECASE)

        self.before = compiled(f"^{raw['before']}")
        self.behind = compiled(raw["behind"])
        self.aside = compiled(raw["aside"])
        self.article = compiled(f"^{raw['article']}")
        self.paid = compiled(raw["paid"])
        self.pay = str(raw["pay"])
        self.rules = [(compiled(pattern), str(form)) for pattern, form in raw["rules"]]
        self.verbs: dict[str, str] = raw["verbs"]
        self.large = compiled(rf"\b(?:{raw['large']})\b")
        self.it = compiled(raw["it"])


def _by(pattern: re.Pattern[str], form: str, said: str, words: _Words) -> str:
    found = pattern.fullmatch(said)
    if found is None:
        return ""
    parts = {name: text or "" for name, text in found.groupdict().items()}
    if form == PAY:
        bare = _bare(parts["paid"], words)
        is_paid = words.paid.fullmatch(parts["paid"])
        return words.pay.format(thing=parts["paid"], bare=bare) if is_paid else bare
    if "does" in parts and words.verbs:
        parts["does"] = _third(parts["does"], words)
    if "thing" in parts:
        parts["thing"] = _bare(parts["thing"], words)
    return form.format_map(parts)


def _bare(thing: str, words: _Words) -> str:
    return words.article.sub("", thing, count=1)


def _third(does: str, words: _Words) -> str:
    verb, _, rest = does.partition(" ")
    ending = "es" if verb.endswith(_THIRD) else "s"
    return f"{words.verbs.get(verb, verb + ending)} {rest}".strip()


def _with_names(title: str, told: str) -> str:
    """Words that the passages write large in the middle of a sentence, so written."""
    names = {one.casefold(): one for one in re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", told)}

    def written(word: re.Match[str]) -> str:
        return str(names.get(word[0], word[0]))

    return re.sub(r"[a-z]{3,}", written, title)


@cache
def _words(language: str) -> _Words:
    raw = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return _Words(raw.get(language) or raw["en"])
