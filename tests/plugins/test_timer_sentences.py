"""What people say to timers, and what they say that only sounds like it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubd.assistant.route import Router
from hubd.tools import sentence_files
from plugins.timers import plugin

ROUTER = Router(list(plugin.tools.values()), sentence_files(plugin))

COMMANDS = [
    ("set a pasta timer for 9 minutes", "start", {"name": "pasta", "minutes": 9}),
    ("Set a timer for 9 minutes.", "start", {"minutes": 9}),
    ("please set a timer for nine minutes", "start", {"minutes": 9}),
    ("set a timer for twenty five minutes and thirty seconds", "start",
     {"minutes": 25, "seconds": 30}),
    ("set a timer for 1 hour 20 minutes", "start", {"hours": 1, "minutes": 20}),
    ("set a timer for an hour and a half", "start", {"hours": 1, "minutes": 30}),
    ("set a timer for half an hour", "start", {"minutes": 30}),
    ("set a timer for three quarters of an hour", "start", {"hours": 0.75}),
    ("set an egg timer for 4 and a half minutes", "start",
     {"name": "egg", "minutes": 4, "seconds": 30}),
    ("start a 5-minute timer", "start", {"minutes": 5}),
    ("set another for 5 minutes", "start", {"minutes": 5}),
    ("another one for half an hour", "start", {"hours": 0.5}),
    ("10 minute timer", "start", {"minutes": 10}),
    ("set a ten minute timer for the eggs", "start", {"minutes": 10, "name": "eggs"}),
    ("set a timer for pasta for 9 minutes", "start", {"name": "pasta", "minutes": 9}),
    ("start a timer called laundry for 45 minutes", "start", {"name": "laundry", "minutes": 45}),
    ("how long is left?", "list", {}),
    ("How much time is left?", "list", {}),
    ("how long is left on the pasta timer?", "list", {"name": "pasta"}),
    ("what timers are running?", "list", {}),
    ("list timers", "list", {}),
    ("cancel it", "cancel", {"timer": "latest"}),
    ("stop the timer", "cancel", {}),
    ("Stop!", "cancel", {"timer": "ringing"}),
    ("can you stop the timer, please", "cancel", {}),
    ("cancel the pasta timer", "cancel", {"timer": "pasta"}),
    ("cancel all timers", "cancel", {"timer": "all"}),
    ("another ten minutes on the egg timer", "add", {"timer": "egg", "minutes": 10}),
    ("give the pasta another two minutes", "add", {"timer": "pasta", "minutes": 2}),
    ("extend the laundry timer by half an hour", "add", {"timer": "laundry", "hours": 0.5}),
    ("another two minutes on the timer", "add", {"minutes": 2}),
]  # fmt: skip

QUESTIONS = [
    "How do I set a timer on the oven?",
    "What does error code E04 on the oven mean?",
    "how long is left on the lease?",
    "how long do I have to cancel the lease?",
    "How long is the warranty?",
    "how long does the pasta take?",
    "When does the heating timer go off in the boiler manual?",
    "Stop the washing machine mid-cycle: how?",
    "what does the timer on the oven do?",
    "How do I cancel the delayed start?",
    "设置一个九分钟的定时器",
    "",
]


@pytest.mark.parametrize(("text", "tool", "arguments"), COMMANDS)
def test_a_command_is_understood(text, tool, arguments):
    call = ROUTER.route(text, language="en").call
    assert call is not None
    assert (call.tool, call.arguments) == (f"timers.{tool}", arguments)


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_for_the_documents_is_left_alone(text):
    assert ROUTER.route(text, language="en").call is None


@pytest.mark.parametrize(
    ("text", "language", "timer"),
    [
        ("gib den Nudeln noch zwei Minuten", "de", "nudeln"),
        ("lass den Reis noch fünf Minuten ziehen", "de", "reis"),
        ("给米饭再加五分钟", "zh", "米饭"),
        ("把面条的计时器延长两分钟", "zh", "面条"),
    ],
)
def test_the_timer_that_is_named_gets_more_time(text, language, timer):
    call = ROUTER.route(text, language=language).call
    assert call is not None
    assert (call.tool, call.arguments["timer"]) == ("timers.add", timer)


@pytest.mark.parametrize(
    ("text", "language", "arguments"),
    [
        ("timer for the gammon, an hour and a half", "en",
         {"name": "gammon", "hours": 1, "minutes": 30}),
        ("an hour and a half timer for the gammon", "en",
         {"name": "gammon", "hours": 1, "minutes": 30}),
        ("set a timer for an hour and a quarter for the pie", "en",
         {"name": "pie", "hours": 1, "minutes": 15}),
        ("set a pie timer for one and a half hours", "en",
         {"name": "pie", "hours": 1, "minutes": 30}),
        ("timer for the pie, three hours and a half", "en",
         {"name": "pie", "hours": 3, "minutes": 30}),
        ("timer for a minute and a half", "en", {"minutes": 1, "seconds": 30}),
        ("set a timer for an hour and ten for the pie", "en",
         {"name": "pie", "hours": 1, "minutes": 10}),
        ("Timer für die Gans, anderthalb Stunden", "de", {"name": "Gans", "minutes": 90}),
        ("Timer für die Gans, dreieinhalb Stunden", "de",
         {"name": "Gans", "hours": 3, "minutes": 30}),
        ("Timer für das Ei auf viereinhalb Minuten", "de",
         {"name": "Ei", "minutes": 4, "seconds": 30}),
        ("minuteur d'une heure et demie pour la tarte", "fr", {"minutes": 90, "name": "tarte"}),
    ],
)  # fmt: skip
def test_hours_and_a_half_in_every_order(text, language, arguments):
    call = ROUTER.route(text, language=language).call
    assert call is not None
    assert (call.tool, call.arguments) == ("timers.start", arguments)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("一个半小时后叫我", {"hours": 1, "minutes": 30}),
        ("三个半钟头后提醒我一声", {"hours": 3, "minutes": 30}),
        ("两小时半后叫我", {"hours": 2, "minutes": 30}),
        ("水开了，一个半小时后叫我", {"hours": 1, "minutes": 30}),
        ("水开了，半小时后叫我", {"minutes": 30}),
        ("鸡蛋计时两个钟头", {"name": "鸡蛋", "hours": 2}),
    ],
)
def test_hours_and_a_half_are_no_half_hour(text, arguments):
    call = ROUTER.route(text, language="zh").call
    assert call is not None
    assert (call.tool, call.arguments) == ("timers.start", arguments)


@settings(deadline=None)
@given(st.integers(1, 300), st.sampled_from(["set a timer for {} minutes", "{} minute timer"]))
def test_every_number_of_minutes_is_understood(minutes, sentence):
    call = ROUTER.route(sentence.format(minutes), language="en").call
    assert call is not None
    assert call.arguments == {"minutes": minutes}


@settings(deadline=None)
@given(st.text(max_size=80))
def test_no_text_breaks_the_grammar(text):
    call = ROUTER.route(text, language="en").call
    assert call is None or call.tool in plugin.tools
