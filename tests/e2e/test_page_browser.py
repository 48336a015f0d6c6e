"""What the page has of the browser: clipboard, voices, dictation; and a slow network.

Debian's chromium has no voice and no recognition of its own: those two are put in their place.
"""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

VOICE = """
    window.spoken = [];
    const voice = {localService: true, lang: "en-GB", name: "Test"};
    speechSynthesis.getVoices = () => [voice];
    window.SpeechSynthesisUtterance = class extends EventTarget {
        constructor(text) { super(); this.text = text; }
    };
    speechSynthesis.speak = (words) => { window.spoken.push(words); };
"""
RECOGNITION = """
    window.SpeechRecognition = class extends EventTarget {
        static available = async ({processLocally}) => processLocally ? "available" : "no";
        start() { window.listening = this; }
        stop() { this.dispatchEvent(new Event("end")); }
    };
    window.say = (text, isFinal) => {
        const results = [Object.assign([{transcript: text}], {isFinal})];
        window.listening.dispatchEvent(Object.assign(new Event("result"), {results}));
    };
"""
SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 20_000}
"""400 ms there and back, 400 kbit/s down: a phone at the end of the garden."""


@pytest.fixture
def page(open_view) -> Page:
    return open_view()


ANSWERED_MS = 120_000
"""The first question about documents starts the encoder, which may have kernels to compile."""


def ask(page: Page, words: str) -> None:
    page.get_by_label("Your question").fill(words)
    page.keyboard.press("Enter")


def ask_documents(page: Page) -> str:
    """Ask what the (empty) library is searched for; the answer as it is shown."""
    ask(page, "What does the lease say about cats?")
    expect(page.get_by_role("button", name="Copy")).to_be_visible(timeout=ANSWERED_MS)
    return page.locator(".reply .prose").last.inner_text().strip()


def test_an_answer_is_copied(open_view):
    page = open_view(permissions=["clipboard-read", "clipboard-write"])
    answer = ask_documents(page)
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.replace("`", "") == answer != ""


def test_an_answer_is_read_aloud_by_a_voice_of_this_device(page):
    page.add_init_script(VOICE)
    page.reload()
    answer = ask_documents(page)
    page.get_by_role("button", name="Read aloud").click()
    assert page.evaluate("spoken[0].text") == answer
    assert page.evaluate("spoken[0].voice.localService")
    expect(page.locator(".answer-footer").get_by_role("button", name="Stop")).to_be_visible()
    page.evaluate("spoken[0].dispatchEvent(new Event('end'))")
    expect(page.get_by_role("button", name="Read aloud")).to_be_visible()


def test_a_voice_that_is_elsewhere_is_not_offered(page):
    page.add_init_script(VOICE.replace("localService: true", "localService: false"))
    page.reload()
    ask_documents(page)
    expect(page.get_by_role("button", name="Read aloud")).to_have_count(0)


def test_a_question_is_spoken(page):
    expect(page.get_by_role("button", name="Speak the question")).to_be_hidden()
    page.add_init_script(RECOGNITION)
    page.reload()
    button = page.get_by_role("button", name="Speak the question")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.evaluate("say('put oliv', false)")
    expect(page.get_by_label("Your question")).to_have_value("put oliv")
    page.evaluate("say('put olives on the shopping list', true)")
    expect(page.locator(".turn .question").last).to_contain_text("put olives on the shopping list")
    expect(page.locator(".reply").last).to_contain_text("olives", ignore_case=True)


def test_on_a_slow_network_the_page_comes_answers_and_says_that_it_waits(open_view):
    page = open_view()
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    network.send("Network.emulateNetworkConditions", SLOW)
    page.reload(wait_until="commit")
    page.get_by_label("Your question").fill("put bread on the shopping list")
    page.keyboard.press("Enter")
    expect(page.locator(".turn .question").last).to_contain_text("bread", timeout=20_000)
    expect(page.locator(".working")).to_be_visible(timeout=20_000)
    expect(page.locator(".reply").last).to_contain_text("shopping list", timeout=20_000)
