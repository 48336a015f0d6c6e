"""The home view against the real daemon: what is clicked happens, and what happens is shown."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import wait_until

pytestmark = pytest.mark.browser


@pytest.fixture
def call(light_hub):
    """``call(tool, **arguments)`` uses a tool of the daemon; its data."""
    with light_hub.client() as client:

        def use(tool: str, **arguments: object) -> dict[str, object]:
            response = client.post(f"/hub/tools/{tool}", json=arguments)
            response.raise_for_status()
            return response.json()["data"]

        use.state = lambda name: next(
            entity["state"]
            for entity in client.get("/hub/home").json()["entities"]
            if entity["id"] == name
        )
        yield use
        client.post("/hub/tools/timers.cancel", json={"timer": "all"})
        client.post("/hub/tools/reminders.cancel", json={"which": "all"})
        client.post("/hub/tools/routines.cancel", json={"which": "all"})


@pytest.fixture
def page(open_view, call) -> Page:
    return open_view("#/home")


CUT = """fields => fields.filter((field) => {
    const style = getComputedStyle(field);
    const context = document.createElement("canvas").getContext("2d");
    context.font = style.font;
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return field.clientWidth > 0 && context.measureText(field.placeholder).width > room;
}).map((field) => field.placeholder)"""
"""The fields whose words in grey do not fit."""


@pytest.mark.parametrize("width", [360, 390, 800, 1280])
@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_words_in_empty_fields_are_not_cut(open_view, call, locale, width):
    page = open_view("#/home", locale=locale, viewport={"width": width, "height": 800})
    fields = page.locator("#view-home input[placeholder]")
    expect(fields.first).to_be_visible()
    assert fields.evaluate_all(CUT) == []


def test_a_timer_is_started_paused_lengthened_and_cancelled(page, call):
    card = page.get_by_role("region", name="Timers").filter(has=page.get_by_label("Minutes"))
    card.get_by_label("Minutes").fill("9")
    card.get_by_label("What for").fill("pasta")
    card.get_by_role("button", name="Start").click()
    row = card.locator("li.timer")
    expect(row).to_contain_text("pasta timer")
    expect(row.locator(".countdown")).to_have_text(re.compile(r"^8:5\d$"))
    row.get_by_role("button", name="Pause").click()
    expect(row).to_have_class(re.compile("paused"))
    row.get_by_role("button", name="One more minute").click()
    expect(row.locator(".countdown")).to_have_text(re.compile(r"^9:5\d$"))
    assert call("timers.list")["timers"][0]["state"] == "paused"
    row.get_by_role("button", name="Let it run on").click()
    expect(row).to_have_class(re.compile("running"))
    row.get_by_role("button", name="Cancel the pasta timer").click()
    expect(card.get_by_text("No timer is running.")).to_be_visible()
    assert call("timers.list")["timers"] == []


def test_what_rings_is_heard_seen_notified_and_stopped(open_view, call):
    page = open_view(permissions=["notifications"])
    page.evaluate(
        """() => {
            window.told = [];
            const Real = Notification;
            window.Notification = class extends Real {
                constructor(words, options) { super(words, options); window.told.push(words); }
            };
        }"""
    )
    call("timers.start", seconds=1, name="tea")
    expect(page.locator("#ringing-words")).to_have_text("The tea timer is done.", timeout=30_000)
    wait_until(page, "window.told.length === 1")
    assert page.evaluate("window.told") == ["The tea timer is done."]
    page.locator("#ringing-stop").click()
    expect(page.locator("#ringing")).to_be_hidden()
    assert call("timers.list")["timers"] == []


def test_lists_are_filled_ticked_and_unticked_in_two_tabs(page, open_view, call):
    other = open_view("#/home")
    page.get_by_label("What to add").fill("milk and eggs")
    page.get_by_role("button", name="Add", exact=True).click()
    for one in (page, other):
        expect(one.get_by_role("checkbox", name="milk")).not_to_be_checked()
        expect(one.get_by_role("checkbox", name="eggs")).not_to_be_checked()
    page.get_by_role("checkbox", name="milk").click()
    expect(other.get_by_role("checkbox", name="milk")).to_be_checked()
    assert call("lists.show")["items"] == ["eggs"]
    other.get_by_role("checkbox", name="milk").click()
    expect(page.get_by_role("checkbox", name="milk")).not_to_be_checked()
    page.get_by_role("button", name="Remove eggs").click()
    expect(other.get_by_role("checkbox", name="eggs")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(other.get_by_role("checkbox", name="eggs")).to_be_visible()


def test_a_reminder_stands_in_the_list_and_on_its_day(page, call):
    page.get_by_label("What", exact=True).fill("Water the plants")
    page.get_by_label("When").fill("tomorrow at 6 pm")
    page.get_by_role("button", name="Remind me").click()
    expect(page.get_by_role("list", name="Reminders")).to_contain_text("Water the plants")
    tomorrow = page.locator(".week > li").nth(1)
    expect(tomorrow).to_contain_text("Water the plants")
    page.get_by_role("button", name="Delete “Water the plants”").click()
    expect(tomorrow).not_to_contain_text("Water the plants")
    assert call("reminders.list")["reminders"] == []


def test_how_a_reminder_repeats_and_whom_it_waits_for_stand_beside_it(page, call):
    call("reminders.add", what="Put the bins out", when="the first Monday of each month at 9 am")
    call("reminders.add", what="Ask about the exam", when="when Tom gets home")
    rows = page.get_by_role("list", name="Reminders").get_by_role("listitem")
    expect(rows.filter(has_text="bins")).to_contain_text("on the first Monday of each month 09:00")
    waiting = rows.filter(has_text="exam")
    expect(waiting.locator(".note")).to_have_text("when Tom gets home")
    expect(page.locator(".week")).not_to_contain_text("exam")


def test_a_chinese_page_is_spoken_to_and_answers_in_chinese(open_view, call):
    page = open_view("#/home", locale="zh-CN")
    page.get_by_label("提醒什么").fill("倒垃圾")
    page.get_by_label("时间", exact=False).first.fill("每天晚上八点")
    page.get_by_role("button", name="提醒我").click()
    expect(page.locator("#toast")).to_contain_text("倒垃圾")
    row = page.get_by_role("list", name="提醒").get_by_role("listitem")
    expect(row).to_contain_text("每天 20:00")
    assert call("reminders.list")["reminders"][0]["repeat"] == [0, 1, 2, 3, 4, 5, 6]
    page.get_by_role("button", name="删除“倒垃圾”").click()
    expect(page.locator("#toast")).to_contain_text("取消")


def test_a_command_for_every_day_is_planned_and_taken_away(page, call):
    card = page.get_by_role("region", name="Planned")
    expect(card).to_contain_text("Nothing planned")
    card.get_by_label("What to do").fill("Turn on the Counter Light")
    card.get_by_label("Every day at").fill("every evening at 7")
    card.get_by_role("button", name="Plan").click()
    expect(page.locator("#view-chat")).to_contain_text("every day 19:00")
    page.goto(page.url.split("#")[0] + "#/home")
    planned = page.get_by_role("list", name="Planned")
    expect(planned).to_contain_text("Turn on the Counter Light")
    expect(planned).to_contain_text("every day 19:00")
    page.get_by_role("button", name="Delete “Turn on the Counter Light”").click()
    expect(planned.get_by_role("listitem")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(planned).to_contain_text("Turn on the Counter Light")
    assert call("routines.scheduled")["scheduled"][0]["repeat"] == [0, 1, 2, 3, 4, 5, 6]


def test_the_calendar_stands_on_its_days(page):
    days = page.locator(".week > li")
    expect(days.nth(3)).to_contain_text("Dentist")
    expect(days.nth(3)).to_contain_text("08:00")
    for number in (4, 5):
        expect(days.nth(number)).to_contain_text("Village fair")
    expect(page.locator(".week")).not_to_contain_text(re.compile("Dentist.*Dentist"))
    expect(days.nth(6)).not_to_contain_text("Village fair")


def test_a_whole_day_is_that_day_in_every_time_zone(open_view):
    def days(page):
        fair = page.locator(".week > li").filter(has_text="Village fair")
        expect(fair).to_have_count(2)
        return [re.sub(r"\D", "", day) for day in fair.locator(".day").all_inner_texts()]

    here = days(open_view("#/home"))
    assert days(open_view("#/home", timezone_id="America/Los_Angeles")) == here


def test_an_event_is_put_into_the_calendar_and_taken_out(page, call):
    card = page.get_by_role("region", name="The next seven days")
    card.get_by_label("What is on").fill("piano lesson")
    card.get_by_label("Day and time").fill("tomorrow from 5 to 6 pm")
    card.get_by_role("button", name="Put down").click()
    tomorrow = page.locator(".week > li").nth(1)
    there = re.compile("(17:00|05:00 PM) Piano lesson")
    expect(tomorrow).to_contain_text(there)
    tomorrow.get_by_role("button", name="Remove Piano lesson").click()
    expect(tomorrow).not_to_contain_text("Piano lesson")
    page.get_by_role("button", name="Undo").click()
    expect(tomorrow).to_contain_text(there)
    call("calendar.remove", event="piano lesson")
    expect(tomorrow).not_to_contain_text("Piano lesson")
    expect(page.get_by_role("button", name="Remove Dentist")).to_have_count(0)  # of a file


def test_a_light_is_switched_here_and_elsewhere(page, call):
    switch = page.get_by_role("switch", name="Counter Light")
    expect(switch).not_to_be_checked()
    switch.click()
    expect(switch).to_be_checked()
    assert call.state("light.counter") == "on"
    call("home.turn_off", entities=["light.counter"])
    expect(switch).not_to_be_checked()
    expect(page.get_by_role("region", name="Kitchen")).to_contain_text("21.5 °C")
    expect(page.get_by_role("region", name="Kitchen")).to_contain_text("Kitchen Windowopen")


def test_who_is_at_home_is_told(page):
    people = page.get_by_role("list", name="Who is at home")
    expect(people.get_by_text("Anna")).to_be_visible()
    assert people.inner_text().split() == ["Anna", "at", "home", "Tom", "away"]


def test_what_lets_somebody_in_is_confirmed_in_the_chat(page, call):
    page.get_by_role("button", name="Unlock: Front Door").click()
    expect(page.locator(".confirmation")).to_contain_text("seconds left")
    assert call.state("lock.front") == "locked"
    page.get_by_role("button", name="No", exact=True).click()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".confirmation > *")).to_have_count(0)
    assert call.state("lock.front") == "locked"

    page.get_by_role("link", name="Home").click()
    page.get_by_role("button", name="Unlock: Front Door").click()
    page.get_by_role("button", name="Yes", exact=True).click()
    expect(page.locator(".action")).to_contain_text("Front Door")
    assert call.state("lock.front") == "unlocked"
    page.get_by_role("link", name="Home").click()
    page.get_by_role("button", name="Lock: Front Door", exact=True).click()
    expect(page.get_by_role("button", name="Unlock: Front Door")).to_be_visible()
    assert call.state("lock.front") == "locked"
