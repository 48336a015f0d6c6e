"""The documents' view against a daemon with watched folders: folders, collections, preview."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Hub

pytestmark = pytest.mark.browser

READ_MS = 60_000
ANSWER_MS = 120_000
"""The first question starts the encoder, which may have kernels to compile."""
LETTERS = {"Letters/council.txt": "The bins are emptied on Tuesdays.",
           "Letters/2026/school.txt": "The school trip is on 3 June."}  # fmt: skip

DROP_A_FOLDER = """files => {
    const tree = {};
    for (const [path, text] of Object.entries(files)) {
        let folder = tree;
        const parts = path.split("/");
        for (const part of parts.slice(0, -1)) folder = folder[part] ??= {};
        folder[parts.at(-1)] = new File([text], parts.at(-1), {type: "text/plain"});
    }
    const entry = (name, content) => content instanceof File
        ? {name, isFile: true, isDirectory: false, file: (done) => done(content)}
        : {name, isFile: false, isDirectory: true, createReader: () => {
            const all = Object.entries(content).map(([inner, of]) => entry(inner, of));
            return {readEntries: (done) => done(all.splice(0, 1))};  // in parts, as browsers do
        }};
    const items = Object.entries(tree).map(([name, content]) => (
        {webkitGetAsEntry: () => entry(name, content)}));
    const event = new DragEvent("drop", {bubbles: true, cancelable: true});
    Object.defineProperty(event, "dataTransfer", {value: {types: ["Files"], items, files: []}});
    document.body.dispatchEvent(event);
}"""


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    for collection, names in {"all": ("bins", "boiler"), "tax": ("return",)}.items():
        (folder / collection).mkdir()
        for name in names:
            (folder / collection / f"{name}.md").write_text(f"# {name}\n\nWords about {name}.\n")
    return folder


@pytest.fixture(scope="module")
def hub(start: Callable[..., Hub], tmp_path_factory: pytest.TempPathFactory, papers: Path) -> Hub:
    return start(
        tmp_path_factory.mktemp("documents"),
        HUBD_ENGINE_PRELOAD="false",
        HUBD_RAG_PRELOAD="false",
        HUBD_RAG_FOLDERS=f"{papers / 'all'},tax={papers / 'tax'}",
        HUBD_RAG_PRIVATE="tax: ann",
    )


@pytest.fixture
def page(hub: Hub, open_page: Callable[..., Page]) -> Page:
    page = open_page(hub.page())
    page.goto(f"{hub.url}/#/documents")
    expect(row(page, "return.md")).to_be_visible(timeout=READ_MS)
    return page


def row(page: Page, name: str):
    return page.locator(".document-list li", has_text=name)


def test_a_collection_is_chosen(page):
    chooser = page.get_by_label("Collection")
    chooser.select_option("tax")
    expect(page.locator(".document-list li")).to_have_count(1)
    expect(row(page, "return.md")).to_be_visible()
    chooser.select_option(index=0)
    expect(row(page, "bins.md")).to_be_visible()


def test_a_document_is_looked_at(page):
    row(page, "boiler.md").get_by_role("button", name="boiler.md").first.click()
    panel = page.get_by_role("dialog", name="boiler.md")
    expect(panel.locator("#source-text")).to_contain_text("Words about boiler.")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_what_happens_in_a_watched_folder_shows_by_itself(page, papers):
    note = papers / "all" / "cat.md"
    note.write_text("The cat eats twice a day.")
    expect(row(page, "cat.md")).to_be_visible(timeout=READ_MS)
    note.unlink()
    expect(row(page, "cat.md")).to_have_count(0, timeout=READ_MS)


def test_a_folder_that_is_gone_keeps_its_documents_until_that_is_confirmed(page, papers, hub):
    away = papers.with_name("away")
    (papers / "tax").rename(away)
    listed = row(page, "return.md")
    expect(listed).to_contain_text("not there", timeout=READ_MS)
    assert (
        "1 document is forgotten" in hub.command("documents", "forget", str(papers / "tax")).stdout
    )
    expect(listed).to_have_count(0)
    away.rename(papers / "tax")


def test_what_is_away_is_forgotten_on_the_page_once_that_is_confirmed(page, papers):
    away = papers.with_name("unplugged")
    (papers / "tax").rename(away)
    told = page.locator("#view-documents .problem", has_text=f"1 document of {papers / 'tax'}")
    expect(told).to_be_visible(timeout=READ_MS)
    told.get_by_role("button", name="Forget what is away").click()
    question = page.get_by_role("dialog").filter(has_text="Forget 1 document of")
    question.get_by_role("button", name="Keep it").click()
    expect(row(page, "return.md")).to_be_visible()
    told.get_by_role("button", name="Forget what is away").click()
    question.get_by_role("button", name="Forget what is away").click()
    expect(row(page, "return.md")).to_have_count(0)
    expect(told).to_have_count(0)
    away.rename(papers / "tax")
    expect(row(page, "return.md")).to_be_visible(timeout=READ_MS)


def test_a_folder_is_chosen(page, tmp_path):
    for path, text in LETTERS.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    page.set_input_files("#folder-chooser", tmp_path / "Letters")
    expect(page.locator(".outcomes li")).to_have_count(2, timeout=READ_MS)
    for name in ("council.txt", "school.txt"):
        expect(row(page, name)).to_be_visible()
        row(page, name).get_by_role("button", name=f"Remove {name}").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(row(page, name)).to_have_count(0)


def test_a_folder_is_dropped_and_the_same_files_again_change_nothing(page):
    outcomes = page.locator(".outcomes li")
    page.evaluate(DROP_A_FOLDER, LETTERS)
    expect(outcomes).to_have_count(2, timeout=READ_MS)
    expect(outcomes.first).to_contain_text("Added")
    expect(row(page, "school.txt")).to_be_visible()
    page.evaluate(DROP_A_FOLDER, LETTERS)
    expect(outcomes.first).to_contain_text("Already known", timeout=READ_MS)
    expect(row(page, "school.txt")).to_have_count(1)


def test_files_dropped_while_others_are_read_are_read_after_them(page):
    page.evaluate(DROP_A_FOLDER, {"First/oak.txt": "The oak was planted in 1998."})
    page.evaluate(DROP_A_FOLDER, {"Second/elm.txt": "The elm was planted in 2004."})
    expect(page.locator(".outcomes li")).to_have_text(
        [re.compile(r"oak\.txt\s*Added"), re.compile(r"elm\.txt\s*Added")], timeout=READ_MS
    )
    expect(row(page, "oak.txt")).to_be_visible()
    expect(row(page, "elm.txt")).to_be_visible()
    page.locator(".upload").get_by_role("button", name="Close").click()
    expect(page.locator(".outcomes li")).to_have_count(0)
    expect(row(page, "elm.txt")).to_be_visible()


def test_words_that_two_documents_hold_are_one_source_that_names_both(page, papers):
    for name in ("tap", "tap-copy"):
        words = "The stop tap of the water is behind the washing machine.\n"
        (papers / "all" / f"{name}.txt").write_text(words)
    expect(row(page, "tap-copy.txt")).to_be_visible(timeout=READ_MS)
    expect(row(page, "tap.txt")).to_be_visible(timeout=READ_MS)
    page.goto(page.url.partition("#")[0])
    page.get_by_label("Your question").fill("Where is the stop tap of the water?")
    page.keyboard.press("Enter")
    chips = page.locator(".reply").last.locator(".chip")
    expect(chips).to_have_count(1, timeout=ANSWER_MS)
    expect(chips).to_contain_text(re.compile(r"tap(-copy)?\.txt.*\(also in tap(-copy)?\.txt\)"))
