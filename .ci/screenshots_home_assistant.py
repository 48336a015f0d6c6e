"""Take the pictures of docs/home-assistant.md from a hub that is connected with a demo home.

.venv/bin/python .ci/screenshots_home_assistant.py HUBTOKEN URL HA TOKEN

HUBTOKEN is what `hubd token add screenshots --quiet` prints. HA is the address of that Home
Assistant, TOKEN one of its long-lived access tokens: the notification in the second picture is
sent from there.
"""

import sys
from pathlib import Path

import httpx2
from playwright.sync_api import Page, expect, sync_playwright
from screenshots import smaller

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 900, "height": 640}
ANSWER_MS = 60_000


def say(page: Page, text: str) -> None:
    """One utterance, and its answer."""
    page.get_by_label("Your question").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator(".turn").last.locator(".question")).to_contain_text(text)
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=ANSWER_MS)


def picture(page: Page, name: str) -> None:
    page.wait_for_timeout(500)
    path = IMAGES / f"home-assistant-{name}.png"
    path.write_bytes(smaller(page.screenshot()))
    print(f"{path.name}: {path.stat().st_size // 1000} kB")


def main() -> None:
    token, url, home_assistant, its_token = sys.argv[1:5]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(viewport=SIZE, color_scheme="light")
        context.add_cookies([{"name": "hubd_session", "value": token, "url": url}])
        page = context.new_page()
        page.goto(url)
        say(page, "turn on the kitchen lights")
        say(page, "open the garage door")
        picture(page, "chat")
        say(page, "no")
        httpx2.post(
            f"{home_assistant}/api/services/notify/mobile_app_hubd",
            headers={"Authorization": f"Bearer {its_token}"},
            json={"title": "Garage", "message": "The garage door is open."},
            timeout=15,
        ).raise_for_status()
        page.get_by_text("Garage: The garage door is open.").wait_for()
        picture(page, "notification")
        browser.close()


if __name__ == "__main__":
    main()
