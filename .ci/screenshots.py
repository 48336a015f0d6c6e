"""Take the pictures of docs/images from the running daemon, with Debian's chromium.

.venv/bin/python .ci/screenshots.py "$(.venv/bin/hubd token add screenshots --quiet)" [URL]
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
QUESTION = "What does error code E04 on the oven mean?"
VIEWS = {
    "page-light": {"viewport": {"width": 1280, "height": 720}},
    "page-dark-phone": {
        "viewport": {"width": 390, "height": 780},
        "color_scheme": "dark",
        "device_scale_factor": 2,
    },
}


def take(browser: Browser, url: str, token: str, name: str) -> None:
    """One question answered; on the wide view with its source open."""
    context = browser.new_context(**VIEWS[name])
    context.add_cookies([{"name": "hubd_session", "value": token, "url": url}])
    page = context.new_page()
    page.goto(url)
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    chip = page.locator(".chip").first
    chip.wait_for(timeout=60_000)
    page.get_by_role("button", name="Send").wait_for()
    if name == "page-light":
        chip.click()
        page.locator("mark").wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / f"{name}.png")


def main() -> None:
    token = sys.argv[1]
    url = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8400"
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        for name in VIEWS:
            take(browser, url, token, name)
        browser.close()


if __name__ == "__main__":
    main()
