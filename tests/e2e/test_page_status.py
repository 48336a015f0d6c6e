"""The status view against the real daemon: figures, what was done, settings, devices."""

import contextlib
import re

import apsw
import pytest
from playwright.sync_api import expect

from hubd.paths import find_paths

pytestmark = pytest.mark.browser


def test_what_is_done_is_told_with_who_and_how(light_hub, open_view):
    with light_hub.client() as client:
        client.post("/hub/tools/lists.add", json={"items": ["soap"]}).raise_for_status()
        client.post("/hub/tools/home.unlock", json={"entities": ["lock.front"]})
    page = open_view("#/status")
    rows = page.get_by_role("list", name="What was done").get_by_role("listitem")
    expect(rows.nth(1)).to_contain_text("soap")
    expect(rows.nth(1)).to_contain_text("lists.add")
    expect(rows.nth(0)).to_contain_text("not confirmed")
    with light_hub.client() as client:
        client.post("/hub/tools/lists.add", json={"items": ["towels"]}).raise_for_status()
    expect(rows.nth(0)).to_contain_text("towels")


def test_the_charts_move(open_view):
    page = open_view("#/status")
    memory = page.locator(".tile", has_text="Memory")
    expect(memory).to_contain_text(re.compile(r"\d+ MB"))
    line = memory.locator("path")
    expect(line).to_have_attribute("d", re.compile(r"^M[\d. ]+(L[\d. ]+){2,}"))
    expect(page.locator("#about-hub")).to_contain_text("running for")


def test_a_figure_stays_until_there_is_a_newer_one(open_view):
    texts = open_view("#/status").evaluate(
        """async () => {
          const { createChart } = await import("/static/status/chart.js");
          const tile = createChart("Speed", (value) => `${value} a second`);
          return [null, 5, null].map((now) => {
            tile.add(now);
            return tile.element.querySelector("dd").textContent;
          });
        }"""
    )
    assert texts == ["–", "5 a second", "5 a second"]


def test_the_settings_are_shown_without_secrets_and_the_language_can_be_chosen(open_view):
    page = open_view("#/status")
    page.get_by_text("The hub’s settings (hubd.toml)").click()
    settings = page.locator(".settings")
    expect(settings).to_contain_text("engine.context_length")
    assert not re.search("token|api_key|secret", settings.inner_text())
    page.get_by_label("Language of this page").select_option("zh")
    expect(page.get_by_role("heading", level=1, name="状态")).to_be_visible()
    page.get_by_label("页面语言").select_option("en")
    expect(page.get_by_role("heading", level=1, name="Status")).to_be_visible()


def test_a_device_is_paired_with_a_code_and_its_access_taken_away(open_view, open_page, light_hub):
    page = open_view("#/status")
    page.get_by_role("button", name="Pair a device").click()
    code = page.locator(".offer .code").inner_text()
    gone = ("401", "ERR_")
    other = open_page(f"{light_hub.url}/pair", expected=gone)
    other.get_by_label("Code").fill(code)
    other.get_by_label("Name of this device").fill("kitchen tablet")
    other.get_by_role("button", name="Pair").click()
    expect(other.get_by_label("Your question")).to_be_visible()
    page.reload()
    devices = page.get_by_role("list", name="Paired devices")
    expect(devices).to_contain_text("kitchen tablet")
    page.get_by_role("button", name="Take the access from kitchen tablet").click()
    page.get_by_role("button", name="Take away").click()
    expect(devices).not_to_contain_text("kitchen tablet")
    other.reload()
    expect(other.get_by_label("Code")).to_be_visible()


def test_a_server_that_is_away_is_told_of(start, open_page, tmp_path_factory):
    off = {"HUBD_ENGINE_PRELOAD": "false", "HUBD_RAG_PRELOAD": "false"}
    hub = start(tmp_path_factory.mktemp("away"), **off, HUBD_ENGINE_URL="http://127.0.0.1:9/v1")
    page = open_page(hub.page())
    page.wait_for_url(f"{hub.url}/")
    page.goto(f"{hub.url}/#/status")
    expect(page.locator("#about-hub")).to_contain_text("127.0.0.1:9 is away")


def test_a_database_that_cannot_be_written_is_told_on_every_view_until_it_can(light_hub, open_view):
    page = open_view("#/status")
    banner = page.locator("#storage")
    expect(page.locator("#about-hub")).to_contain_text("running for")
    expect(banner).to_be_hidden()
    database = find_paths({"HUBD_HOME": str(light_hub.home)}).database
    with contextlib.closing(apsw.Connection(str(database))) as other:
        other.execute("BEGIN IMMEDIATE")
        expect(banner).to_contain_text("Another program holds the database", timeout=15_000)
        page.get_by_role("link", name="Chat").click()
        expect(page.get_by_placeholder("Ask your home…")).to_be_visible()
        expect(banner).to_be_visible()
        other.execute("ROLLBACK")
    expect(banner).to_be_hidden(timeout=15_000)


def test_a_damaged_database_that_was_set_aside_is_told(start, open_page, tmp_path_factory):
    off = {"HUBD_ENGINE_PRELOAD": "false", "HUBD_RAG_PRELOAD": "false"}
    home = tmp_path_factory.mktemp("damaged")
    start(home, **off).stop()
    database = find_paths({"HUBD_HOME": str(home)}).database
    database.write_bytes(b"no database at all" + database.read_bytes()[18:])
    hub = start(home, **off)
    page = open_page(hub.page())
    page.wait_for_url(f"{hub.url}/")
    page.goto(f"{hub.url}/#/status")
    expect(page.locator("#set-aside")).to_contain_text("damaged")
