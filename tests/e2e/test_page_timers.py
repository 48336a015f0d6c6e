"""Timers on the chat page against the real daemon: set, counted down, rung, stopped, taken back."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import RING_MS, ask, last_answer

pytestmark = pytest.mark.browser


@pytest.fixture
def page(light_hub, open_page) -> Page:
    return open_page(light_hub.page())


@pytest.fixture(autouse=True)
def no_timers_left(light_hub):
    yield
    with light_hub.client() as client:
        client.post("/hub/tools/timers.cancel", json={"timer": "all"})


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
