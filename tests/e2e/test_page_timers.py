"""Timers on the chat page against the real daemon: set, counted down, rung, stopped, taken back."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import RING_MS, ask, last_answer

pytestmark = pytest.mark.browser
MINUTE_MS = 75_000


@pytest.fixture
def page(light_hub, open_page) -> Page:
    return open_page(light_hub.page())


@pytest.fixture(autouse=True)
def no_timers_left(light_hub):
    yield
    with light_hub.client() as client:
        client.post("/hub/tools/timers.cancel", json={"timer": "all"})
        for tool in ("alarms.cancel", "reminders.cancel"):
            client.post(f"/hub/tools/{tool}", json={"which": "all"})


def test_a_timer_counts_down_rings_on_every_page_and_is_stopped_once(page, light_hub, open_page):
    other = open_page(light_hub.page())
    title = page.title()
    ask(page, "set a tea timer for 3 seconds")
    expect(last_answer(page).locator(".action")).to_contain_text("tea")
    expect(page.locator("#timer-list .timer-left")).to_have_text(re.compile(r"^0:0[0-3]$|^now$"))
    for one in (page, other):
        expect(one.locator("#ringing-words")).to_have_text(
            "The tea timer is done.", timeout=RING_MS
        )
        expect(one).to_have_title(re.compile("tea timer is done"))
    page.locator("#ringing-stop").click()
    for one in (page, other):
        expect(one.locator("#ringing")).to_be_hidden()
        expect(one).to_have_title(title)


def test_what_was_done_can_be_undone(page, light_hub):
    ask(page, "set a pasta timer for 9 minutes")
    page.get_by_role("button", name="Undo").click()
    expect(last_answer(page).locator(".action")).to_contain_text("The pasta timer is cancelled.")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    with light_hub.client() as client:
        assert client.post("/hub/tools/timers.list", json={}).json()["data"]["timers"] == []


def test_a_timer_can_be_cancelled_on_the_strip(page):
    ask(page, "set a pasta timer for 9 minutes")
    page.get_by_role("button", name="Cancel the pasta timer").click()
    expect(page.locator("#timers")).to_be_hidden()
    page.reload()
    expect(page.locator(".question")).to_be_visible()
    expect(page.locator("#timers")).to_be_hidden()


def test_an_alarm_that_repeats_rings_and_is_stopped_for_today(page, light_hub, open_page):
    soon = datetime.now() + timedelta(minutes=1)
    with light_hub.client() as client:
        every = {"when": f"every day at {soon:%H:%M}", "what": "School"}
        client.post("/hub/tools/alarms.set", json=every).raise_for_status()
        assert client.post("/hub/tools/reminders.list", json={}).json()["data"]["reminders"]
    expect(page.locator("#ringing-words")).to_have_text("School", timeout=MINUTE_MS)
    page.locator("#ringing-stop").click()
    expect(page.locator("#ringing")).to_be_hidden()
    with light_hub.client() as client:
        (kept,) = client.post("/hub/tools/alarms.list", json={}).json()["data"]["reminders"]
    assert kept["state"] == "waiting"


def test_an_alarm_is_snoozed_on_every_page_and_stopped_by_a_word(page, light_hub, open_page):
    other = open_page(light_hub.page())
    with light_hub.client() as client:
        client.post("/hub/tools/alarms.set", json={"when": "in 2 seconds"}).raise_for_status()
    for one in (page, other):
        expect(one.locator("#ringing-words")).to_have_text("Alarm", timeout=RING_MS)
    page.locator("#ringing-snooze").click()
    for one in (page, other):
        expect(one.locator("#ringing")).to_be_hidden()
    with light_hub.client() as client:
        client.post("/hub/tools/alarms.cancel", json={}).raise_for_status()
        client.post("/hub/tools/alarms.set", json={"when": "in 2 seconds"}).raise_for_status()
    expect(page.locator("#ringing-words")).to_be_visible(timeout=RING_MS)
    ask(page, "stop")
    expect(last_answer(page)).to_contain_text("Stopped")
    expect(other.locator("#ringing")).to_be_hidden()
