"""What is said of alarms and reminders that there are: cancelled, moved, left out for a day."""

import pytest

UNDERSTOOD = [
    ("en", "cancel the seven o'clock alarm", "alarms.cancel", {"which": "seven o'clock"}),
    ("en", "cancel my 7 am alarm", "alarms.cancel", {"which": "7 am"}),
    ("en", "turn off the alarm on Friday", "alarms.cancel", {"which": "Friday"}),
    ("en", "I don't need the alarm tomorrow", "alarms.cancel", {"which": "tomorrow"}),
    ("en", "don't wake me tomorrow", "alarms.cancel", {"which": "tomorrow"}),
    ("en", "turn off all my alarms", "alarms.cancel", {"which": "all"}),
    ("en", "turn off the alarm", "alarms.cancel", {}),
    ("en", "move my alarm to eight", "alarms.change", {"to": "eight"}),
    ("en", "move my alarm from 7 to 8", "alarms.change", {"which": "7", "to": "8"}),
    ("en", "wake me at 8 instead of 7", "alarms.change", {"which": "7", "to": "8"}),
    ("en", "set an alarm for tomorrow at 6", "alarms.set", {"when": "tomorrow at 6"}),
    ("en", "set my alarm for 6", "alarms.set", {"when": "6", "definite": True}),
    ("en", "cancel the reminder for tomorrow", "reminders.cancel", {"which": "tomorrow"}),
    ("en", "cancel the 6 pm reminder", "reminders.cancel", {"which": "6 pm"}),
    ("en", "move the reminder about the bins to 7", "reminders.change",
     {"which": "the bins", "to": "7"}),
    ("de", "Lösch den Wecker um sieben", "alarms.cancel", {"which": "sieben"}),
    ("de", "Morgen kein Wecker", "alarms.cancel", {"which": "Morgen"}),
    ("de", "weck mich morgen nicht", "alarms.cancel", {"which": "morgen"}),
    ("de", "alle Wecker löschen", "alarms.cancel", {"which": "all"}),
    ("de", "Wecker aus", "alarms.cancel", {}),
    ("de", "Stell den Wecker auf acht um", "alarms.change", {"to": "acht"}),
    ("de", "Stell den Wecker auf acht", "alarms.set", {"when": "acht", "definite": True}),
    ("de", "Verschieb den Wecker von sieben auf acht", "alarms.change",
     {"which": "sieben", "to": "acht"}),
    ("de", "lösch die Erinnerung", "reminders.cancel", {}),
    ("zh", "取消七点的闹钟", "alarms.cancel", {"which": "七点"}),
    ("zh", "明天闹钟不用响了", "alarms.cancel", {"which": "明天"}),
    ("zh", "明天早上别叫我", "alarms.cancel", {"which": "明天早上"}),
    ("zh", "取消所有闹钟", "alarms.cancel", {"which": "all"}),
    ("zh", "把闹钟都关了", "alarms.cancel", {"which": "all"}),
    ("zh", "关掉闹钟", "alarms.cancel", {}),
    ("zh", "把七点的闹钟改到八点", "alarms.change", {"which": "七点", "to": "八点"}),
    ("zh", "七点的闹钟", "alarms.set", {"when": "七点"}),
    ("zh", "把交电费的提醒改到六点", "reminders.change", {"which": "交电费", "to": "六点"}),
    ("zh", "取消所有提醒", "reminders.cancel", {"which": "all"}),
    ("en", "set my alarm half an hour later", "alarms.change", {"by": "half an hour later"}),
    ("en", "make the 7 o'clock alarm 10 minutes later", "alarms.change",
     {"which": "7 o'clock", "by": "10 minutes later"}),
    ("en", "wake me ten minutes earlier", "alarms.change", {"by": "ten minutes earlier"}),
    ("de", "Stell den Wecker eine halbe Stunde später", "alarms.change",
     {"by": "eine halbe Stunde später"}),
    ("zh", "把闹钟推迟半小时", "alarms.change", {"by": "推迟半小时"}),
    ("en", "set a gym alarm for 7", "alarms.set", {"what": "gym", "when": "7"}),
    ("fr", "annule le réveil de sept heures", "alarms.cancel", {"which": "sept heures"}),
    ("fr", "déplace mon réveil à huit heures", "alarms.change", {"to": "huit heures"}),
    ("es", "cancela la alarma de las siete", "alarms.cancel", {"which": "las siete"}),
    ("es", "cambia mi alarma a las ocho", "alarms.change", {"to": "las ocho"}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), UNDERSTOOD)
def test_it_is_understood(understood, language, text, tool, arguments):
    assert understood(text, language) == (tool, arguments)


@pytest.mark.parametrize(
    "text", ["cancel the burglar alarm", "turn off the smoke alarm", "move the alarm to the shed"]
)
def test_what_is_no_time_is_none_of_them(understood, text):
    assert understood(text) is None
