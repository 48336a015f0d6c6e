"""Take the pictures of docs/images from a running daemon, with Debian's chromium.

TOKEN=$(.venv/bin/hubd token add screenshots --scope chat --scope tools --scope admin --quiet)
.venv/bin/python .ci/screenshots.py "$TOKEN" [URL]

The daemon should have read samples/household and know the home that docs/home.md describes. Timers,
lists and reminders are made for the pictures. Each picture has at most 256 colours, which keeps all
of them together under a megabyte.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
QUESTION = "What does error code E04 on the oven mean?"
WRITTEN = [
    "How do I reset the router?",
    "How is the dishwasher filter cleaned?",
    "How do I bleed a radiator?",
]
"""For which the language model is asked, so that the charts of its speed show something."""
WIDTHS = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True},
}
CALLS = [
    ("timers.cancel", {"timer": "all"}),
    ("reminders.cancel", {"which": "all"}),
    ("timers.start", {"minutes": 9, "name": "pasta"}),
    ("lists.add", {"items": ["milk", "bread", "eggs"]}),
    ("lists.complete", {"item": "bread"}),
    ("reminders.add", {"what": "Water the plants", "when": "tomorrow at 6 pm"}),
    ("home.turn_on", {"entities": ["light.counter"]}),
]


def chat(page: Page) -> None:
    """One question answered; on the wide view with its source open."""
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    chip = page.locator(".chip").first
    chip.wait_for(timeout=120_000)
    page.get_by_role("button", name="Send").wait_for(timeout=120_000)
    if page.viewport_size and page.viewport_size["width"] > 1000:
        chip.click()
        page.locator(".page-picture rect").first.wait_for()


def home(page: Page) -> None:
    """The timer counts, the lists are there."""
    page.locator("li.timer").first.wait_for()
    page.get_by_role("checkbox", name="milk").wait_for()


def documents(page: Page) -> None:
    """The first documents of the list."""
    page.locator(".document-list li").first.wait_for()


def status(page: Page) -> None:
    """A few points in each chart."""
    page.wait_for_timeout(15_000)


VIEWS = {"chat": chat, "home": home, "documents": documents, "status": status}


def take(browser: Browser, url: str, token: str, view: str, scheme: str, width: str) -> None:
    """One view in one theme at one width."""
    context = browser.new_context(color_scheme=scheme, **WIDTHS[width])
    context.add_cookies([{"name": "hubd_session", "value": token, "url": url}])
    page = context.new_page()
    page.goto(f"{url}/#/{view}")
    VIEWS[view](page)
    page.wait_for_timeout(500)
    path = IMAGES / f"page-{view}-{scheme}-{width}.png"
    path.write_bytes(smaller(page.screenshot()))
    print(f"{path.name}: {path.stat().st_size // 1000} kB")
    context.close()


def smaller(png: bytes) -> bytes:
    """The picture with a palette of 256 colours: a third of the bytes."""
    packed = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return packed.getvalue()


def main() -> None:
    token = sys.argv[1]
    url = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8400"
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        headers = {"Authorization": f"Bearer {token}"}
        setting = browser.new_context(extra_http_headers=headers)
        for tool, arguments in CALLS:
            setting.request.post(f"{url}/hub/tools/{tool}", data=arguments)
        for question in WRITTEN:
            setting.request.post(f"{url}/hub/ask", data={"text": question})
        for view in VIEWS:
            for scheme in ("light", "dark"):
                for width in WIDTHS:
                    take(browser, url, token, view, scheme, width)
        setting.request.post(f"{url}/hub/tools/timers.cancel", data={"timer": "all"})
        browser.close()


if __name__ == "__main__":
    main()
