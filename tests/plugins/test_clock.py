"""The time here and elsewhere."""

import pytest

from plugins.api import Location, ToolError
from plugins.zones import zone_of


@pytest.mark.parametrize(
    ("place", "language", "text"),
    [
        ("", "en", "It is 12:00."),
        ("Tokyo", "en", "In Tokyo it is 20:00."),
        ("Tokio", "de", "In Tokio ist es 20:00."),
        ("纽约", "zh", "纽约现在是07:00。"),
        ("Auckland", "en", "In Auckland it is 00:00, Saturday."),
        ("the UK", "en", "In the UK it is 11:00."),
    ],
)
async def test_the_time_is_told(workshop, place, language, text):
    assert (await workshop("clock.time", language, place=place)).text == text


async def test_the_time_of_a_place_that_is_not_known_is_not_made_up(workshop):
    with pytest.raises(ToolError, match="do not know the time in Springfield"):
        await workshop("clock.time", place="Springfield")


@pytest.mark.parametrize("place", ["GMT", "Etc/UTC", "nowhere", "../etc/passwd", ""])
def test_what_is_no_place_has_no_zone(place):
    assert zone_of(place) is None


@pytest.mark.parametrize(
    ("text", "language", "place"),
    [
        ("what time is it in New York right now", "en", "New York"),
        ("Wie spät ist es in Tokio", "de", "Tokio"),
        ("北京现在几点了", "zh", "北京"),
        ("quelle heure est-il à Londres", "fr", "Londres"),
        ("qué hora es en París", "es", "París"),
    ],
)
def test_it_is_asked_for(understood, text, language, place):
    assert understood(text, language) == ("clock.time", {"place": place})
    assert understood("what time is it in the kitchen") is None


async def test_when_the_sun_sets(workshop):
    workshop.home.location = lambda: Location(52.52, 13.41)
    assert (await workshop("clock.sun")).text == "Sunset: today 18:31."
    told = await workshop("clock.sun", "de", event="sunrise", day="heute")
    assert told.text == "Sonnenaufgang: heute 05:53."  # over, and asked for
    assert (await workshop("clock.sun", event="sunrise")).text == "Sunrise: tomorrow 05:50."
    dark = await workshop("clock.sun", "zh", event="dusk", day="明天")
    assert dark.text == "天黑：明天 19:08。"
    with pytest.raises(ToolError, match="someday"):
        await workshop("clock.sun", day="someday")


async def test_where_the_house_is_not_known_no_sun_sets(workshop):
    with pytest.raises(ToolError, match="where the house is"):
        await workshop("clock.sun")


@pytest.mark.parametrize(
    ("text", "language", "arguments"),
    [
        ("when does the sun set", "en", {"event": "sunset"}),
        ("what time is sunrise tomorrow", "en", {"event": "sunrise", "day": "tomorrow"}),
        ("when will it get dark tonight", "en", {"event": "dusk", "day": "today"}),
        ("Wann geht morgen die Sonne auf?", "de", {"event": "sunrise", "day": "morgen"}),
        ("Wann wird es dunkel?", "de", {"event": "dusk"}),
        ("明天几点日出", "zh", {"event": "sunrise", "day": "明天"}),
        ("太阳几点下山", "zh", {"event": "sunset"}),
        ("à quelle heure se couche le soleil demain", "fr", {"event": "sunset", "day": "demain"}),
        ("a qué hora sale el sol", "es", {"event": "sunrise"}),
    ],
)
def test_asking_for_the_sun(understood, text, language, arguments):
    assert understood(text, language) == ("clock.sun", arguments)
