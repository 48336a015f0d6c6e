"""The chat page on a phone, by keyboard alone, in the dark, and as axe sees it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import (
    ANSWER_MS,
    IN_A_PDF,
    MARKED,
    NOT_ANSWERABLE,
    RING_MS,
    ask,
    last_answer,
)

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[1] / "data" / "vendor" / "axe-4.14.1.min.js"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def page(hub, open_page) -> Page:
    return open_page(hub.page())


@pytest.fixture(autouse=True)
def no_timers_left(hub):
    yield
    with hub.client() as client:
        client.post("/hub/tools/timers.cancel", json={"timer": "all"})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything_without_sideways_scrolling(hub, open_page, scheme):
    page = open_page(hub.page(), color_scheme=scheme, **PHONE)

    def fits() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360

    fits()
    ask(page, "set a pasta timer for 9 minutes")
    ask(page, "set a very-long-name-that-has-no-place-to-break timer for 8 minutes")
    ask(page, IN_A_PDF["question"])
    fits()
    last_answer(page).locator("summary").click()
    fits()
    last_answer(page).locator(".chip").first.tap()
    panel = page.locator("#source")
    expect(panel.locator(MARKED).first).to_be_in_viewport()
    box = panel.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    fits()
    page.locator("#source-close").tap()
    page.get_by_role("link", name="Documents").tap()
    expect(page.locator(".document-list li").first).to_be_visible()
    fits()


def test_the_keyboard_alone_is_enough(page):
    def focused() -> str:
        return page.evaluate("document.activeElement.className || document.activeElement.id")

    def tab_to(wanted: str, key: str) -> None:
        for _ in range(30):
            if wanted in focused():
                return
            page.keyboard.press(key)
        pytest.fail(f"{wanted} cannot be reached with {key}; the focus is on {focused()}")

    assert focused() == "question"
    page.keyboard.type(IN_A_PDF["question"])
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    expect(page.locator(".answer-footer summary")).to_be_visible(timeout=ANSWER_MS)
    assert focused() == "question"
    tab_to("chip", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#source").locator(MARKED).first).to_be_in_viewport()
    assert focused() == "source-title"
    page.keyboard.press("Escape")
    expect(page.locator("#source")).to_be_hidden()
    assert focused() == "chip"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    expect(page.locator(".document-list li").first).to_be_visible()
    assert focused() == "documents-title"
    tab_to("row-name", "Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#source-text")).not_to_be_empty()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator(".turn")).to_have_count(0)
    assert focused() == "question"


def test_dark_follows_the_system_until_somebody_chooses(hub, open_page):
    page = open_page(hub.page(), color_scheme="dark")

    def brightness() -> int:
        colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return sum(int(part) for part in re.findall(r"\d+", colour)[:3])

    assert brightness() < 120
    page.get_by_role("button", name="Dark colours").click()
    assert brightness() > 600
    page.reload()
    assert brightness() > 600
    page.get_by_role("button", name="Dark colours").click()
    assert brightness() < 120
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing_to_complain_about(hub, open_page, scheme, width):
    page = open_page(
        hub.page(),
        color_scheme=scheme,
        viewport={"width": width, "height": 844},
        reduced_motion="reduce",
    )
    expect(page.locator(".suggestion").first).to_be_visible()
    page.evaluate(AXE.read_text())
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

    def complaints() -> list[str]:
        result = page.evaluate("(tags) => axe.run(document, {runOnly: tags})", tags)
        return [
            f"{found['id']}: {node['html'][:120]}"
            for found in result["violations"]
            for node in found["nodes"]
        ]

    expect(page.locator(".suggestion").first).to_be_visible()
    assert complaints() == []
    ask(page, "set a tea timer for 1 second")
    ask(page, "set a pasta timer for 9 minutes")
    expect(page.locator("#ringing")).to_be_visible(timeout=RING_MS)
    ask(page, NOT_ANSWERABLE["question"])
    ask(page, IN_A_PDF["question"])
    last_answer(page).locator("summary").click()
    assert complaints() == []
    last_answer(page).locator(".chip").first.click()
    expect(page.locator("#source").locator(MARKED).first).to_be_in_viewport()
    assert complaints() == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Conversations").click()
    expect(page.locator("#conversation-list li").first).to_be_visible()
    assert complaints() == []
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Documents").click()
    expect(page.locator(".document-list li").first).to_be_visible()
    assert complaints() == []
