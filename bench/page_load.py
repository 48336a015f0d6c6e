"""How long the page takes to be usable: until its scripts have run, and until words were typed.

.venv/bin/python -m bench.page_load "$(.venv/bin/hubd token add bench --quiet)" [URL]

Each visit is a browser context of its own, so nothing is cached; then the same page once more with
what the browser kept. Milliseconds since the navigation began, as the browser counts them, medians.
"""

import json
import sys
from statistics import median
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright

VISITS = 9
SCRIPTS_RAN = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"


class Visit(NamedTuple):
    """Milliseconds since the navigation began."""

    usable: float
    """Every script of the page has run: the field takes words and sends them."""
    typed: float
    """The field has taken what the test's driver typed, which looks for it every 20 to 100 ms."""


def visited(page: Page) -> Visit:
    """When the page, whose navigation has begun, was ready."""
    page.get_by_label("Your question").fill("milk")
    typed = page.evaluate("performance.now()")
    page.wait_for_load_state("networkidle")
    return Visit(page.evaluate(SCRIPTS_RAN), typed)


def main(token: str, url: str = "http://127.0.0.1:8400") -> None:
    first: list[Visit] = []
    again: list[Visit] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium")
        for _ in range(VISITS):
            context = browser.new_context()
            link = context.request.post(
                f"{url}/hub/pairing", data={}, headers={"Authorization": f"Bearer {token}"}
            ).json()["path"]
            page = context.new_page()
            page.goto(url + link)
            page.wait_for_url(f"{url}/")
            state = context.storage_state()
            context.close()
            fresh = browser.new_context(storage_state=state)
            page = fresh.new_page()
            page.goto(url, wait_until="commit")
            first.append(visited(page))
            page.reload(wait_until="commit")
            again.append(visited(page))
            fresh.close()
        browser.close()
    print(json.dumps({"first": summary(first), "again": summary(again), "visits": VISITS}))


def summary(visits: list[Visit]) -> dict[str, int]:
    """Median and slowest, in milliseconds."""
    usable, typed = ([round(ms) for ms in one] for one in zip(*visits, strict=True))
    return {"usable": round(median(usable)), "slowest": max(usable), "typed": round(median(typed))}


if __name__ == "__main__":
    main(*sys.argv[1:])
