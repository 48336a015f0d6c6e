"""What an answer told is put down with a title of its own, or asked for where it told several."""

from datetime import UTC, datetime

import pytest

from hubd.assistant.answers.acts_on_answers import Act, act_on, list_wish
from hubd.assistant.answers.answers_given import Given, Talk, talk_of
from hubd.turn_events import Action, Citation, Done, Timings

NOW = datetime(2026, 11, 29, 10, tzinfo=UTC)


def given(question: str, *quotes: str, heading: str = "Papers") -> Given:
    """An answer of these quotes."""
    cited = [
        Citation(
            document="papers.md", page=None, start=100 * at, end=100 * at + len(text), text=text,
            score=0.9, heading=heading,
        )
        for at, text in enumerate(quotes)
    ]  # fmt: skip
    answer = " ".join(f"“{text}”" for text in quotes)
    return Given(question, answer, tuple(cited), refused=False)


def after(*answers: Given) -> Talk:
    return Talk(tuple(one.question for one in answers), answers, answers[-1], is_last=True)


def call(act: Act | None) -> dict[str, object]:
    assert act is not None
    assert act.text == ""
    assert act.decision.call is not None
    return {"tool": act.decision.call.tool, **act.decision.call.arguments}


BOOSTER = given("When is Rover's next booster due?", "Booster | 3 May 2024 | 3 May 2027")
RENT = given("When is the rent due?", "It is due on the third day of each month.")
FAIR = given("When is the fair?", "12 December | Winter fair | all | 14:30")
TRIP = given("When is the trip?", "8 December | Trip to the mill | 8:50 to 15:00")


@pytest.mark.parametrize(
    ("answer", "text", "title", "when"),
    [
        (BOOSTER, "put that in the calendar", "Rover's booster", "on 3 May 2027"),
        (BOOSTER, "Can you add it to my calendar please?", "Rover's booster", "on 3 May 2027"),
        (RENT, "put that in our calendar", "Pay the rent", "every month on the 3rd"),
        (RENT, "put that in the calendar, every month", "Pay the rent", "every month on the 3rd"),
        (FAIR, "stick that on the calendar", "Fair", "on 12 December 2026 at 14:30"),
        (FAIR, "put the fair in the calendar", "Fair", "on 12 December 2026 at 14:30"),
        (FAIR, "write that down in the calendar for the 13th of December", "Fair",
         "for the 13th of december"),
        (TRIP, "put it in the calendar", "Trip", "on 8 December 2026 from 08:50 to 15:00"),
    ],
)  # fmt: skip
def test_into_the_calendar(answer: Given, text: str, title: str, when: str) -> None:
    assert call(act_on(text, after(answer), "en", NOW)) == {
        "tool": "calendar.add", "title": title, "when": when,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "text", "what", "when"),
    [
        (BOOSTER, "remind me of that", "Rover's booster", "on 3 May 2027"),
        (BOOSTER, "remind me of that at nine", "Rover's booster", "on 3 May 2027 at nine"),
        (BOOSTER, "remind me two weeks before that", "Rover's booster", "on 19 April 2027"),
        (BOOSTER, "please remind us about it the day before at 6 pm", "Rover's booster",
         "on 2 May 2027 at 6 pm"),
        (BOOSTER, "remind me one month before that to book it", "Book Rover's next booster",
         "on 3 April 2027"),
        (BOOSTER, "remind me of that on the 2nd", "Rover's booster", "on the 2nd"),
        (RENT, "remind me of that", "Pay the rent", "every month on the 3rd"),
        (FAIR, "remind me an hour before", "Fair", "on 12 December 2026 at 13:30"),
        (FAIR, "remind me the evening before", "Fair", "on 11 December 2026 at 19:00"),
    ],
)  # fmt: skip
def test_into_a_reminder(answer: Given, text: str, what: str, when: str) -> None:
    assert call(act_on(text, after(answer), "en", NOW)) == {
        "tool": "reminders.add", "what": what, "when": when,
    }  # fmt: skip


def test_in_german_and_chinese() -> None:
    rent = given("Wann ist die Miete fällig?", "Sie ist zum 3. jedes Monats fällig.")
    fest = given("Wann ist das Sommerfest?", "Das Sommerfest ist am 12. Juni 2027, 15:00 Uhr.")
    assert call(act_on("trag das in den Kalender ein", after(rent), "de", NOW)) == {
        "tool": "calendar.add", "title": "Miete zahlen", "when": "jeden Monat am 3.",
    }  # fmt: skip
    assert call(act_on("Erinner mich am Tag vorher um 18 Uhr daran", after(fest), "de", NOW)) == {
        "tool": "reminders.add", "what": "Sommerfest", "when": "am 11. Juni 2027 um 18 uhr",
    }  # fmt: skip
    party = given("联欢会是什么时候？", "考试在12月5日，联欢会在2月6日下午2点。")
    assert call(act_on("把这个加到日历里", after(party), "zh", NOW)) == {
        "tool": "calendar.add", "title": "联欢会", "when": "2027年2月6日14:00",
    }  # fmt: skip
    assert call(act_on("提前一天提醒我", after(party), "zh", NOW)) == {
        "tool": "reminders.add", "what": "联欢会", "when": "2027年2月5日",
    }  # fmt: skip


def test_of_several_days_it_is_asked_which_and_the_next_is_taken_where_that_was_asked() -> None:
    days = "2026: 9 September, 2 December, 30 December"
    several = after(given("When is the glass collected?", days))
    act = act_on("put that in the calendar", several, "en", NOW)
    assert act is not None
    assert act.text == "Which day: 2 December 2026 or 30 December 2026?"
    assert act.argument == "when"
    assert act.decision.call is not None
    assert act.decision.call.arguments == {"title": "Glass"}
    two_lists = given("When is the glass collected?", "2027: 13 January, 10 February", days)
    act = act_on("put that in the calendar", after(two_lists), "en", NOW)
    assert act is not None
    assert act.text == (
        "Which day: 2 December 2026, 30 December 2026, 13 January 2027 or 10 February 2027?"
    )
    following = after(given("When is the glass collected next?", days))
    assert call(act_on("put that in the calendar", following, "en", NOW))["when"] == (
        "on 2 December 2026"
    )


def test_the_day_of_the_clause_that_names_it_is_taken_and_none_in_brackets() -> None:
    terms = "Term ends on 18 December, lessons begin on 5 January."
    answer = after(given("When do lessons begin?", terms))
    assert call(act_on("put it in the calendar", answer, "en", NOW))["when"] == "on 5 January 2027"
    sports = after(given("When is sports day?", "25 June | Sports day (reserve: 2 July)"))
    assert call(act_on("put it in the calendar", sports, "en", NOW))["when"] == "on 25 June 2027"


def test_without_a_day_it_is_asked_for() -> None:
    cost = after(given("How much is the deposit?", "The deposit is £900."))
    assert call(act_on("put that in the calendar", cost, "en", NOW)) == {
        "tool": "calendar.add", "title": "Deposit",
    }  # fmt: skip
    act = act_on("remind me a week before that", cost, "en", NOW)
    assert act is not None
    assert act.decision.call is None
    assert "no day" in act.text


def test_a_timer_is_named_after_what_was_asked() -> None:
    loaf = after(given("How long for grandma's rye loaf?", "Bake at 150 °C for 55 minutes."))
    assert call(act_on("set a timer for that", loaf, "en", NOW)) == {
        "tool": "timers.start", "minutes": 55, "name": "rye loaf",
    }  # fmt: skip
    lasagne = after(given("How long does the lasagne take?", "40 to 50 minutes"))
    act = act_on("set a timer for that", lasagne, "en", NOW)
    assert act is not None
    assert act.text == "For how long: 40 minutes or 50 minutes?"
    assert act.said == "set a lasagne timer"


def test_where_nothing_was_told_nothing_is_called_that() -> None:
    for text in ("put that in the calendar", "remind me of that"):
        act = act_on(text, Talk(), "en", NOW)
        assert act is not None
        assert act.decision.call is None
        assert act.text
    timer = act_on("set a timer for that", Talk(), "en", NOW)
    assert call(timer) == {"tool": "timers.start"}


@pytest.mark.parametrize(
    "text",
    [
        "put the dentist in the calendar on Friday at 3",
        "remind me to call Ann at six",
        "remind me of the match tomorrow at nine",
        "set a timer for ten minutes",
        "put milk on the shopping list",
        "what's in the calendar",
        "remind me when I get home",
    ],
)
def test_what_says_itself_what_is_meant_is_left_to_others(text: str) -> None:
    assert act_on(text, after(FAIR), "en", NOW) is None
    assert list_wish(text, "en") is None


@pytest.mark.parametrize(
    ("text", "dish", "ingredients"),
    [
        ("add the ingredients to the shopping list", "", True),
        ("put everything we need for it on the list", "", True),
        ("add the ingredients for the plum cake to the shopping list", "the plum cake", True),
        ("put that on the shopping list", "", False),
        ("Setz die Zutaten auf die Einkaufsliste", "", True),
        ("schreib die Zutaten für den Hefezopf auf den Einkaufszettel", "den hefezopf", True),
        ("把材料加到购物清单", "", True),
    ],
)
def test_what_goes_on_a_list(text: str, dish: str, ingredients: bool) -> None:
    wish = list_wish(text, None)
    assert wish is not None
    assert (wish.dish, wish.ingredients) == (dish, ingredients)


def done(*, cited: bool = False, tool: str = "", refused: bool = False) -> Done:
    acted = [Action(tool=tool, arguments={}, text="done")] if tool else []
    citations = list(FAIR.citations) if cited else []
    return Done(
        answer="“…”", citations=citations, refused=refused, actions=acted, timings=Timings()
    )


def test_that_is_the_last_answer_until_something_else_is_spoken_of() -> None:
    asked = ("When is the fair?", done(cited=True))
    assert talk_of([asked]).is_last
    about = talk_of([asked, ("what page is that on?", done(cited=True))])
    assert about.questions == ("When is the fair?",)
    assert about.is_last
    kept = talk_of([asked, ("remind me of that", done(tool="reminders.add"))])
    assert kept.spoken_of is not None
    assert not kept.is_last
    thanked = talk_of([asked, ("thanks", done(tool="help.welcome"))])
    assert thanked.spoken_of is not None
    assert talk_of([asked, ("turn on the lamp", done(tool="home.turn_on"))]).spoken_of is None
    refused = talk_of([asked, ("how tall is it?", done(refused=True))])
    assert refused.spoken_of is not None
    assert refused.spoken_of.citations == ()
    assert talk_of([("make it dark", done(refused=True))]) == Talk()
