"""Conversations on the page against the real daemon: kept, found, changed, taken back, shared."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Page, expect

from hubd.store.faults import State
from tests.e2e.chat_page import wait_until

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[1] / "data" / "vendor" / "axe-4.14.1.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
FIRST_LOAD_BYTES = 120_000
CHARTED = re.compile(r"^M[\d. ]+(L[\d. ]+){2,}")


@pytest.fixture
def page(open_view) -> Page:
    return open_view()


def ask(page: Page, words: str) -> None:
    """Say something that needs no language model, and wait for the answer."""
    turns = page.locator(".turn").count()
    page.get_by_label("Your question").fill(words)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(turns + 1)
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    expect(page.locator(".turn").last.locator(".problem")).to_have_count(0)


def test_conversations_are_searched_renamed_opened_deleted_and_taken_back(page):
    ask(page, "put olives on the shopping list")
    page.get_by_role("button", name="New conversation").click()
    ask(page, "put candles on the shopping list")
    page.get_by_role("button", name="Conversations").click()
    rows = page.locator("#conversation-list li")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("candles")
    page.get_by_label("Search in what was said").fill("OLIVES")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Rename “put olives on the shopping list”").click()
    page.get_by_label("Title").fill("Party")
    page.keyboard.press("Enter")
    expect(rows.first).to_contain_text("Party")
    rows.get_by_role("link", name="Party").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Party")
    expect(page.locator(".question")).to_have_text(re.compile("put olives on the shopping list"))

    page.get_by_role("button", name="Conversations").click()
    page.get_by_role("button", name="Delete “Party”").click()
    expect(rows).to_have_count(1)
    expect(page.locator(".turn")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(2)


def test_on_a_phone_undo_is_one_word_on_one_line(page, light_hub):
    page.set_viewport_size({"width": 360, "height": 740})
    ask(page, "set a timer for ten minutes, and what's on my shopping list")
    undo = page.get_by_role("button", name="Undo")
    box = undo.bounding_box()
    assert box["height"] < 60
    assert box["x"] + box["width"] <= 360
    undo.click()
    expect(page.locator(".action").first).to_contain_text("is cancelled")


def test_undo_answers_in_the_language_of_what_it_undoes(page):
    ask(page, "Stell einen Timer auf zehn Minuten")
    expect(page.locator(".action")).to_contain_text("10 Minuten")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".action")).to_have_text("Der Timer über 10 Minuten ist abgebrochen.")


def test_a_question_can_be_put_otherwise(page, light_hub):
    ask(page, "set a tea timer for 8 minutes")
    ask(page, "set an egg timer for 7 minutes")
    page.get_by_role("button", name="Change the question").first.click()
    page.locator(".edit-form textarea").fill("set a soup timer for 6 minutes")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".action")).to_contain_text("soup")
    with light_hub.client() as client:
        name = page.url.rpartition("/")[2]
        turns = client.get(f"/hub/conversations/{name}").json()["turns"]
        client.post("/hub/tools/timers.cancel", json={"timer": "all"})
    assert [turn["utterance"] for turn in turns] == ["set a soup timer for 6 minutes"]


def test_two_tabs_show_the_same_conversation(page, open_view):
    ask(page, "put bread on the shopping list")
    other = open_view("#" + page.url.partition("#")[2])
    expect(other.locator(".turn")).to_have_count(1)
    ask(other, "put butter on the shopping list")
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".question").last).to_contain_text("butter")
    ask(page, "put cheese on the shopping list")
    expect(other.locator(".question").last).to_contain_text("cheese")
    expect(other.locator(".turn")).to_have_count(3)


def test_nobody_answers_and_nothing_is_done(page, light_hub):
    page.clock.install()
    ask(page, "open the garage door")
    card = page.locator(".confirmation")
    expect(card).to_contain_text("30 seconds left")
    page.clock.run_for(12_000)
    expect(card).to_contain_text("18 seconds left")
    page.clock.run_for(20_000)
    expect(card).to_have_text("Nobody answered, and nothing was done.")
    with light_hub.client() as client:
        entities = client.get("/hub/home").json()["entities"]
    assert [e["state"] for e in entities if e["id"] == "cover.garage"] == ["closed"]


def test_the_page_speaks_chinese(open_view):
    page = open_view(locale="zh-CN")
    expect(page.get_by_role("heading", name="您想知道什么？")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "zh"
    page.get_by_label("您的问题").fill("open the garage door")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="是", exact=True).click()
    expect(page.locator(".action")).to_contain_text("Garage Door")
    page.get_by_role("button", name="撤销").click()
    for name in ("家", "文档"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1, name=name, exact=True)).to_be_visible()


def test_the_page_opens_without_the_hub_and_says_so(start, tmp_path, open_page):
    light = {"HUBD_ENGINE_PRELOAD": "false", "HUBD_RAG_PRELOAD": "false"}
    hub = start(tmp_path, **light)
    gone = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING")
    page = open_page(hub.page(), service_workers="allow", expected=gone)
    page.wait_for_url(f"{hub.url}/")
    manifest = page.evaluate("fetch('/static/hubd.webmanifest').then((reply) => reply.json())")
    for entry in manifest["icons"]:
        assert page.request.get(hub.url + entry["src"]).ok
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    wait_until(page, "navigator.serviceWorker.controller !== null")
    hub.stop()
    page.reload()
    expect(page.get_by_text("hubd does not answer; trying again…")).to_be_visible()
    expect(page.get_by_label("Your question")).to_be_visible()
    page.get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", name="Documents")).to_be_visible()


def test_the_first_load_is_small(page, light_hub):
    page.goto("about:blank")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[int] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(light_hub.url)
    expect(page.get_by_label("Your question")).to_be_focused()
    page.wait_for_timeout(500)
    assert len(sizes) > 20
    assert sum(sizes) < FIRST_LOAD_BYTES, sum(sizes)


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing_to_complain_about(light_hub, open_view, scheme, width):
    page = open_view(
        color_scheme=scheme,
        viewport={"width": width, "height": 844},
        reduced_motion="reduce",
    )
    page.evaluate(AXE.read_text())

    def complaints() -> list[str]:
        result = page.evaluate("(tags) => axe.run(document, {runOnly: tags})", TAGS)
        return [
            f"{found['id']}: {node['html'][:120]}"
            for found in result["violations"]
            for node in found["nodes"]
        ]

    ask(page, "open the garage door")
    assert complaints() == []
    page.get_by_role("button", name="Change the question").click()
    assert complaints() == []
    page.get_by_role("link", name="Home").click()
    page.get_by_role("button", name="5 minutes").click()
    page.get_by_label("What to add").fill("milk")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("checkbox", name="milk")).to_be_visible()
    expect(page.get_by_role("switch", name="Counter Light")).to_be_visible()
    expect(page.locator("li.timer")).to_be_visible()
    assert complaints() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", level=1, name="Documents")).to_be_visible()
    assert complaints() == []
    page.get_by_role("link", name="Status").click()
    expect(page.locator(".tile", has_text="Memory").locator("path")).to_have_attribute("d", CHARTED)
    page.get_by_text("The hub’s settings (hubd.toml)").click()
    page.get_by_role("button", name="Pair a device").click()
    expect(page.locator(".offer .code")).to_be_visible()
    assert complaints() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    with light_hub.client() as client:
        client.post("/hub/tools/timers.cancel", json={"timer": "all"})


def test_every_word_is_there_in_both_languages_and_none_is_idle(page):
    english, chinese, sources = page.evaluate(
        """async () => {
            const language = async (tag) => (await import(`/static/strings/${tag}.js`)).default;
            const worker = await (await fetch("/worker.js")).text();
            const files = JSON.parse(/FILES = (.*);/.exec(worker)[1]);
            const read = files.filter((file) => file === "/" || /^\\/static\\/(?!strings|vendor)/
                .test(file) && file.endsWith(".js"));
            const texts = await Promise.all(read.map(async (file) => (await fetch(file)).text()));
            return [await language("en"), await language("zh"), texts.join("\\n")];
        }"""
    )
    assert list(english) == sorted(english)
    assert list(chinese) == list(english)
    holes = {key: set(re.findall(r"\{\w+\}", json.dumps(english[key]))) for key in english}
    for key in english:
        assert set(re.findall(r"\{\w+\}", json.dumps(chinese[key]))) == holes[key], key
    states = {f"storage_{state}" for state in get_args(State) if state != "ok"}
    assert {key for key in english if key.startswith("storage_")} == states
    families = ("by_", "engine_is_", "file_", "is_", "outcome_", "role_", "state_", "storage_")
    used = set(re.findall(r'"(\w+)"', sources))
    idle = {key for key in english if key not in used and not key.startswith(families)}
    assert idle == set()
    missing = set(re.findall(r'\bt\(\s*"(\w+)"', sources)) - set(english)
    assert missing == set()
