"""For tests of the chat page: questions of the sample household, and how one is asked."""

import json
import time
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

ROOT = Path(__file__).parents[2]
QUESTIONS = [
    json.loads(line) for line in (ROOT / "samples" / "questions.jsonl").read_text().splitlines()
]
IN_A_PDF = next(q for q in QUESTIONS if q["answerable"] and q["page"])
IN_PROSE = next(q for q in QUESTIONS if q["document"] == "lease.docx")
NOT_ANSWERABLE = next(q for q in QUESTIONS if not q["answerable"])
MARKED = "mark:visible, .page-picture rect"
"""The cited words: in the text, or on the picture of the page."""
ANSWER_MS = 60_000
RING_MS = 15_000
POLL_MS = 50


def ask(page: Page, question: str) -> None:
    """Type a question and wait for the end of its answer."""
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    turn = page.locator(".turn").last
    expect(turn.locator(".question")).to_contain_text(question)
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=ANSWER_MS)
    expect(turn.locator(".problem")).to_have_count(0)


def last_answer(page: Page) -> Locator:
    return page.locator(".reply").last


def wait_until(page: Page, expression: str, timeout_ms: float = ANSWER_MS) -> None:
    """Until ``expression`` is true in the page.

    Playwright's own ``wait_for_function`` evaluates a string within the page when it is not true
    at once, which the page's content security policy refuses.
    """
    deadline = time.monotonic() + timeout_ms / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"never true: {expression}"
        page.wait_for_timeout(POLL_MS)
