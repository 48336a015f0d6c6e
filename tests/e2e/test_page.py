"""The chat page against the real daemon, as a family uses it: questions, sources, files."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import (
    ANSWER_MS,
    IN_A_PDF,
    IN_PROSE,
    MARKED,
    NOT_ANSWERABLE,
    ask,
    last_answer,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def page(hub, open_page) -> Page:
    return open_page(hub.page())


def test_an_answer_leads_to_the_cited_words_on_their_page(page):
    ask(page, IN_A_PDF["question"])
    chip = last_answer(page).locator(".chip", has_text=IN_A_PDF["document"]).first
    expect(chip).to_contain_text(f"{IN_A_PDF['document']} · page {IN_A_PDF['page']}")
    expect(last_answer(page).locator(".prose .marker").first).to_be_visible()

    chip.click()
    panel = page.get_by_role("dialog", name=IN_A_PDF["document"])
    on_the_picture = panel.locator(".page-picture rect")
    expect(on_the_picture.first).to_be_in_viewport()
    assert panel.locator("img").evaluate("(image) => image.naturalWidth") >= 800
    panel.get_by_text("Text of the page").click()
    mark = panel.locator("mark")
    expect(mark).to_be_visible()
    expect(mark).to_contain_text(IN_A_PDF["answer"])
    expect(panel.locator("#source-place")).to_contain_text(f"Page {IN_A_PDF['page']} of")
    original = panel.get_by_role("link", name="Open the original").evaluate("(link) => link.href")
    assert page.request.get(original.split("#")[0]).body().startswith(b"%PDF")

    panel.get_by_role("button", name="Next page").click()
    expect(panel.locator("#source-place")).to_contain_text(f"Page {IN_A_PDF['page'] + 1} of")
    expect(on_the_picture).to_have_count(0)
    expect(mark).to_have_count(0)
    panel.get_by_role("button", name="Previous page").click()
    expect(on_the_picture.first).to_be_in_viewport()


@pytest.mark.parametrize("width", [1030, 1200, 1400])
def test_beside_a_source_the_words_of_the_tabs_stay_whole(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    ask(page, IN_A_PDF["question"])
    last_answer(page).locator(".chip").first.click()
    expect(page.get_by_role("dialog", name=IN_A_PDF["document"])).to_be_visible()
    head, panel = page.locator(".top .tools"), page.locator("#source")
    expect(panel).to_have_css("transform", re.compile("none|matrix\\(1, 0, 0, 1, 0, 0\\)"))
    expect(page.locator("body")).to_have_css(
        "padding-right", f"{panel.bounding_box()['width']:g}px"
    )
    lines = page.locator("#tabs span").evaluate_all(
        "(all) => all.map((one) => one.getClientRects()[0].height / "
        "parseFloat(getComputedStyle(one).lineHeight))"
    )
    assert len(lines) == 4
    assert max(lines) < 1.5, lines
    assert head.bounding_box()["x"] + head.bounding_box()["width"] <= panel.bounding_box()["x"]


def test_the_number_in_the_text_opens_its_source(page):
    ask(page, IN_A_PDF["question"])
    marker = last_answer(page).locator(".prose .marker").first
    name = marker.get_attribute("aria-label").partition(": ")[2].partition(" · ")[0]
    marker.click()
    expect(page.get_by_role("dialog", name=name).locator(MARKED).first).to_be_in_viewport()


def test_why_an_answer_shows_what_was_found_and_what_the_model_read(page):
    ask(page, IN_PROSE["question"])
    why = last_answer(page).locator("details.why")
    why.get_by_text("Why this answer?").click()
    expect(why.locator(".passages li").first).to_contain_text(re.compile(r"\d+ %"))
    why.get_by_text("What the model read").click()
    read = why.locator(".model-read dd")
    expect(read.first).to_contain_text("Answer from the notes")
    expect(read.last).to_contain_text(f"Question: {IN_PROSE['question']}")
    expect(read.last).to_contain_text(IN_PROSE["answer"])

    ask(page, IN_A_PDF["question"])
    table = last_answer(page).locator("details.why")
    table.get_by_text("Why this answer?").click()
    expect(table).to_contain_text("The model was not asked")


def test_what_answers_best_can_be_read_before_the_answer_is_written(page):
    page.evaluate("""() => {
        window.quotes = [];
        new MutationObserver(() => {
            const quote = document.querySelector(".meanwhile:not([hidden])");
            if (quote && !document.querySelector(".turn:last-child .prose").textContent)
                window.quotes.push(quote.textContent);
        }).observe(document.body, {subtree: true, childList: true, attributes: true});
    }""")
    ask(page, IN_A_PDF["question"])
    assert IN_A_PDF["document"] in page.evaluate("window.quotes.join()")
    expect(last_answer(page).locator(".meanwhile")).to_be_hidden()


def test_what_the_documents_do_not_tell_is_said_calmly(page):
    ask(page, NOT_ANSWERABLE["question"])
    expect(page.locator(".reply.refused")).to_be_visible()
    expect(last_answer(page).locator(".chip")).to_have_count(0)
    looked_at = last_answer(page).locator("summary")
    expect(looked_at).to_contain_text("What I looked at")
    looked_at.click()
    last_answer(page).locator(".passages .link").first.click()
    expect(page.locator("#source").locator(MARKED).first).to_be_in_viewport()


def test_what_comes_closest_is_a_refusal_that_opens_its_source(page):
    ask(page, "Who installed the boiler?")
    expect(page.locator(".reply.refused")).to_be_visible()
    expect(last_answer(page).locator(".prose")).to_contain_text("do not clearly tell")
    expect(last_answer(page).locator("summary")).to_contain_text("What I looked at")
    last_answer(page).locator(".chip").first.click()
    expect(page.locator("#source").locator(MARKED).first).to_be_in_viewport()


def test_a_reload_goes_on_with_the_conversation(page):
    ask(page, IN_A_PDF["question"])
    said = last_answer(page).locator(".prose").inner_text()
    page.reload()
    expect(last_answer(page).locator(".prose")).to_have_text(said, use_inner_text=True)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()


def test_the_empty_page_suggests_questions_about_these_documents(page):
    suggestion = page.locator(".suggestion").first
    question = suggestion.inner_text()
    suggestion.click()
    expect(page.locator(".question")).to_contain_text(question)
    expect(last_answer(page).locator(".answer-footer")).not_to_be_empty(timeout=ANSWER_MS)


DROP = """([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, {type: "text/plain"}));
    for (const type of ["dragenter", "dragover", "drop"]) {
        document.body.dispatchEvent(
            new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
    }
}"""


def test_a_dropped_file_can_be_asked_about_and_removed(page):
    name = "Attic ladder.md"
    text = "# Attic ladder\n\nThe hook for the attic ladder hangs in the linen cupboard.\n"
    page.evaluate(DROP, [name, text])
    view = page.locator("#view-documents")
    expect(view.locator(".outcomes")).to_contain_text("Added", timeout=ANSWER_MS)
    expect(view.locator(".document-list")).to_contain_text(name)
    page.get_by_role("link", name="Chat").click()

    ask(page, "Where does the hook for the attic ladder hang?")
    last_answer(page).locator(".chip", has_text=name).click()
    expect(page.locator("#source mark")).to_contain_text("linen cupboard")
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Documents").click()
    view.get_by_role("button", name=f"Remove {name}").click()
    page.get_by_role("button", name="Keep it").click()
    expect(view.locator(".document-list")).to_contain_text(name)
    view.get_by_role("button", name=f"Remove {name}").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(view.locator(".document-list")).not_to_contain_text(name)


def test_a_bad_file_is_named_with_the_reason(page):
    page.get_by_role("link", name="Documents").click()
    files = [
        {"name": "empty.txt", "mimeType": "text/plain", "buffer": b""},
        {"name": "song.txt", "mimeType": "text/plain", "buffer": bytes(range(256)) * 8},
    ]
    page.set_input_files("#file-chooser", files)
    rows = page.locator(".outcomes li")
    expect(rows).to_have_count(2, timeout=ANSWER_MS)
    for row, file in zip(rows.all(), files, strict=True):
        assert re.search(rf"{file['name']}\s+Not read: \w+", row.inner_text())
