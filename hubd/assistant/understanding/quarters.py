"""Durations that are said in quarters and halves of an hour, in minutes, as commands for later want
them: "in einer Viertelstunde" is "in 15 Minuten"."""

import re

from plugins.when import delays_in_minutes

_SAID = {
    "en": (
        (re.compile(r"\bthree[- ]quarters? of an hour\b", re.I), "45 minutes"),
        (re.compile(r"\b(?:an? )?quarter(?: of an|[- ]of[- ]an)?[- ]hour\b", re.I), "15 minutes"),
    ),
    "de": (
        (re.compile(r"(?:\beiner?|'?\bner?) ?dreiviertel ?stunde\b", re.I), "45 Minuten"),
        (re.compile(r"(?:\beiner?|'?\bner?) ?viertel ?stunde\b", re.I), "15 Minuten"),
        (re.compile(r"\b(?:einer?|'?ner?) halben? ?stunde\b", re.I), "30 Minuten"),
    ),
    "zh": (
        (re.compile("三刻钟"), "45分钟"),
        (re.compile("(?<![点两三])一刻钟"), "15分钟"),
        (re.compile("(?<!个)半个?(?:小时|钟头)(?!半)"), "30分钟"),
    ),
}  # fmt: skip


def in_minutes(text: str, language: str) -> str:
    """``text`` with these durations in minutes."""
    for pattern, minutes in _SAID.get(language, ()):
        text = pattern.sub(minutes, text)
    return delays_in_minutes(text, language) if language in _SAID else text
