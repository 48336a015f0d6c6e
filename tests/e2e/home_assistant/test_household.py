"""Commands of the household carried out by a real Home Assistant and read back."""

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from plugins.api import Location
from plugins.daylight import sun_time


@pytest.fixture(scope="module")
def hub(home_assistant, start, tmp_path_factory):
    """A hub that is connected with Home Assistant."""
    home = tmp_path_factory.mktemp("hub")
    (home / "hubd.toml").write_text(
        "[engine]\npreload = false\n[rag]\npreload = false\n"
        '[announce]\nspeakers = ["media_player.bedroom"]\nvoice = "tts.voice"\n'
    )
    home_assistant.set_up_integration("speech", makes="tts.voice")
    home_assistant.expose("tts.voice")
    home_assistant.set_up_integration(
        "local_calendar", makes="calendar.family", calendar_name="Family"
    )
    home_assistant.expose("calendar.family")
    # What has no unique id tells nobody when it is exposed; the hub looks at its beginning.
    home_assistant.expose("calendar.calendar_1", "calendar.calendar_2", "media_player.bedroom")
    hub = start(home)
    subprocess.run(
        [sys.executable, "-m", "hubd", "home", "connect", home_assistant.url],
        env=hub.environment,
        input=home_assistant.token + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return hub


def ask(hub, text, conversation=None, token=""):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = {"text": text, "conversation": conversation}
    with hub.client() as client:
        response = client.post("/hub/ask", json=body, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


def test_the_kitchen_lights(hub, home_assistant):
    home_assistant.service("light.turn_off", entity_id="light.kitchen_lights")
    done = ask(hub, "turn on the kitchen lights")
    assert [action["ok"] for action in done["actions"]] == [True]
    assert home_assistant.state("light.kitchen_lights") == "on"
    ask(hub, "turn off the kitchen lights")
    assert home_assistant.state("light.kitchen_lights") == "off"


def test_the_garage_door_is_asked_about_first(hub, home_assistant):
    home_assistant.service("cover.close_cover", entity_id="cover.garage_door")
    home_assistant.wait_for("cover.garage_door", "closed", 30)
    asked = ask(hub, "open the garage door")
    assert home_assistant.state("cover.garage_door") == "closed"
    assert "Shall I open" in asked["answer"]
    done = ask(hub, "yes", asked["conversation"])
    assert [action["ok"] for action in done["actions"]] == [True]
    assert home_assistant.state("cover.garage_door") in ("open", "opening")


def test_a_guest_is_refused_whatever_they_answer(hub, home_assistant):
    hub.command("person", "add", "Ann", "--role", "guest")
    token = hub.command("token", "add", "phone", "--person", "Ann", "--quiet").stdout.strip()
    home_assistant.service("light.turn_off", entity_id="light.kitchen_lights")
    lit = ask(hub, "turn on the kitchen lights", token=token)
    assert [action["ok"] for action in lit["actions"]] == [True]
    assert home_assistant.state("light.kitchen_lights") == "on"
    home_assistant.service("cover.close_cover", entity_id="cover.garage_door")
    home_assistant.wait_for("cover.garage_door", "closed", 30)
    refused = ask(hub, "open the garage door", token=token)
    again = ask(hub, "yes", refused["conversation"], token)
    for told in (refused, again):
        assert not any(action["ok"] for action in told["actions"]), told
    assert home_assistant.state("cover.garage_door") == "closed"


def test_the_time_and_the_sun_are_those_of_home_assistant(hub):
    """Which stands in Amsterdam; this machine's clock is another."""
    here = datetime.now(ZoneInfo("Europe/Amsterdam"))
    told = ask(hub, "what time is it")["answer"]
    assert told in {f"It is {here + timedelta(minutes=more):%H:%M}." for more in (0, 1)}
    sunset = sun_time("sunset", here.date(), Location(52.37, 4.89), here.tzinfo)
    assert ask(hub, "when is sunset today")["answer"] == f"Sunset: today {sunset:%H:%M}."
    planned = ask(hub, "turn on the kitchen lights every day half an hour after sunset")
    assert "every day 30 minutes after sunset" in planned["answer"], planned
    assert "Cancelled" in ask(hub, "cancel all schedules")["answer"]


def test_a_heater_that_is_off_is_told_to_be_off(hub, home_assistant):
    """Home Assistant sets its temperature and leaves it off."""
    home_assistant.service("climate.turn_off", entity_id="climate.heatpump")
    home_assistant.wait_for("climate.heatpump", "off")
    told = ask(hub, "set the heatpump to 22 degrees")["answer"]
    assert "set to 22 degrees" in told
    assert "off, though" in told
    assert home_assistant.state("climate.heatpump") == "off"


def test_the_weather_of_the_days_to_come(hub, home_assistant):
    """As its demo foretells it: rainy, 15 to 22 degrees, then rainy, 8 to 19, cloudy, sunny …"""
    assert "no weather" in ask(hub, "will it rain tomorrow?")["answer"]
    home_assistant.expose("weather.demo_weather_south")
    deadline = time.monotonic() + 20
    while "°C" not in (told := ask(hub, "will it rain tomorrow?")["answer"]):
        assert time.monotonic() < deadline, told
        time.sleep(0.3)
    assert told.startswith("Tomorrow: ")
    days = ask(hub, "the forecast for the next 3 days")["answer"].splitlines()
    assert len(days) == 3
    assert days[0].startswith("Today: ")
    assert days[1].strip() == told.strip()


def test_the_shopping_list_is_that_of_home_assistant(hub, home_assistant):
    """What was on the hub's own before Home Assistant had one is there as well."""
    ask(hub, "add oats to the shopping list")
    home_assistant.set_up_integration("shopping_list", makes="todo.shopping_list")
    home_assistant.service("todo.add_item", entity_id="todo.shopping_list", item="candles")
    home_assistant.expose("todo.shopping_list")
    deadline = time.monotonic() + 20
    while "candles" not in (told := ask(hub, "what's on the shopping list?")["answer"]):
        assert time.monotonic() < deadline, told
        time.sleep(0.3)
    assert "oats" in told
    home_assistant.wait_for("todo.shopping_list", "2")
    added = ask(hub, "add milk and two dozen eggs to the shopping list")
    home_assistant.wait_for("todo.shopping_list", "4")
    ask(hub, "undo", added["conversation"])
    home_assistant.wait_for("todo.shopping_list", "2")
    ask(hub, "tick off the oats on the shopping list")
    home_assistant.wait_for("todo.shopping_list", "1")
    home_assistant.service("todo.remove_item", entity_id="todo.shopping_list", item="candles")
    assert "empty" in ask(hub, "what's on the shopping list?")["answer"]


def test_what_is_in_its_calendars(hub, home_assistant):
    """Its demo has an event that began half an hour ago, and one in half an hour."""
    told = ask(hub, "what's on in the next 3 days?")["answer"]
    assert "Future Event" in told
    assert "Current Event" in told
    assert "Future Location (Calendar 1)" in told
    assert ask(hub, "what's my next appointment?")["answer"].startswith("Future Event: ")


def in_calendar(home_assistant, days=30):
    """What is in the family's calendar: (title, start), soonest first."""
    now = datetime.now(UTC)
    span = f"start={now:%Y-%m-%dT%H:%M:%SZ}&end={now + timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
    events = home_assistant.request("GET", f"/api/calendars/calendar.family?{span}")
    return sorted((one["summary"], next(iter(one["start"].values()))) for one in events)


def test_events_are_put_into_its_calendar_moved_and_taken_out(hub, home_assistant):
    tomorrow = datetime.now(ZoneInfo("Europe/Amsterdam")).date() + timedelta(days=1)
    added = ask(hub, "put the dentist in the calendar tomorrow at 3 pm")
    assert added["answer"].startswith("In the calendar: Dentist: tomorrow 15:00–16:00 (Family).")
    ((title, start),) = in_calendar(home_assistant)
    assert (title, start[:16]) == ("Dentist", f"{tomorrow}T15:00")
    assert "Dentist: 15:00 (Family)" in ask(hub, "what's on tomorrow?")["answer"]
    moved = ask(hub, "move the dentist to 4 pm", added["conversation"])
    assert "Dentist: tomorrow 16:00–17:00 (Family)" in moved["answer"]
    ((_, start),) = in_calendar(home_assistant)
    assert start[11:16] == "16:00"
    ask(hub, "undo", added["conversation"])
    ((_, start),) = in_calendar(home_assistant)
    assert start[11:16] == "15:00"
    gone = ask(hub, "cancel the dentist appointment", added["conversation"])
    assert gone["answer"].startswith("Out of the calendar: Dentist")
    assert in_calendar(home_assistant) == []
    ask(hub, "undo", added["conversation"])
    assert [title for title, _ in in_calendar(home_assistant)] == ["Dentist"]
    ask(hub, "remove the dentist from the calendar")


def test_what_comes_every_week_is_in_its_calendar_and_one_time_is_moved(hub, home_assistant):
    added = ask(hub, "add choir to the calendar every day from 7 to 9 pm")
    assert "Choir: every day 19:00–21:00 (Family)" in added["answer"]
    times = in_calendar(home_assistant, 10)
    assert len(times) >= 9
    ask(hub, "cancel choir tomorrow")
    assert len(in_calendar(home_assistant, 10)) == len(times) - 1
    moved = ask(hub, "move choir to 8 pm")
    assert [start[11:16] for _, start in in_calendar(home_assistant, 10)].count("20:00") == 1
    back = ask(hub, "undo", moved["conversation"])["answer"]
    assert back.startswith("In the calendar: Choir"), back
    starts = [start[11:16] for _, start in in_calendar(home_assistant, 10)]
    assert starts == ["19:00"] * (len(times) - 1)
    asked = ask(hub, "remove every choir from the calendar")
    assert len(in_calendar(home_assistant, 10)) == len(times) - 1
    ask(hub, "yes", asked["conversation"])
    assert in_calendar(home_assistant, 10) == []


def test_an_announcement_comes_out_of_a_speaker(hub, home_assistant):
    told = ask(hub, "announce that dinner is ready")["answer"]
    assert told == "Announced (Bedroom): dinner is ready"
    player = home_assistant.request("GET", "/api/states/media_player.bedroom")
    assert "tts" in player["attributes"]["media_content_id"]
    doctor = hub.command("doctor", check=False).stdout
    assert "✓ speakers     media_player.bedroom" in doctor


def test_a_timer_rings_out_of_a_speaker(hub, home_assistant):
    def last_spoken():
        player = home_assistant.request("GET", "/api/states/media_player.bedroom")
        return player["attributes"].get("media_content_id")

    before = last_spoken()
    ask(hub, "set an egg timer for 1 second")
    deadline = time.monotonic() + 20
    while last_spoken() == before and time.monotonic() < deadline:
        time.sleep(0.2)
    assert last_spoken() != before
    assert "tts" in last_spoken()
    assert ask(hub, "stop")["answer"] == "The egg timer is stopped."


@pytest.mark.browser
def test_a_person_has_it_done_on_the_page(hub, home_assistant, open_page):
    home_assistant.service("light.turn_off", entity_id="light.kitchen_lights")
    home_assistant.service("cover.close_cover", entity_id="cover.garage_door")
    home_assistant.wait_for("cover.garage_door", "closed", 30)
    page = open_page(hub.page())
    page.get_by_label("Your question").fill("turn on the kitchen lights")
    page.keyboard.press("Enter")
    expect(page.locator(".turn").last).to_contain_text("Kitchen Lights", timeout=15_000)
    home_assistant.wait_for("light.kitchen_lights", "on")
    page.get_by_label("Your question").fill("open the garage door")
    page.keyboard.press("Enter")
    yes = page.get_by_role("button", name="Yes", exact=True)
    yes.wait_for()
    assert home_assistant.state("cover.garage_door") == "closed"
    yes.click()
    home_assistant.wait_for("cover.garage_door", "open", 30)
    expect(page.locator(".turn").last).to_contain_text("Garage Door", timeout=15_000)


def test_what_is_not_exposed_is_not_touched(hub, home_assistant):
    before = home_assistant.state("alarm_control_panel.security")
    done = ask(hub, "arm the security alarm")
    assert not any(action["ok"] for action in done["actions"])
    assert home_assistant.state("alarm_control_panel.security") == before


def test_while_home_assistant_is_away_the_rest_works(hub, home_assistant):
    home_assistant.stop()
    try:
        done = ask(hub, "turn on the kitchen lights")
        assert "has not answered since" in done["answer"]
        assert "No timer is running" in ask(hub, "list timers")["answer"]
        told = ask(hub, "is the garage door open")["answer"]
        assert "when the home was last heard from" in told, "what may be old is told as old"
    finally:
        home_assistant.start()
