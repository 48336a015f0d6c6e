"""What the tests of several rooms share: the default model, kernels, chromium."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest
from hypothesis import strategies
from playwright.sync_api import Browser, Page, expect, sync_playwright

from hubd.settings import DEFAULT_MODEL

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

BLOCKED = "Service Worker registration blocked by Playwright"

WAIT_MS = 30_000
"""On two busy cores everything takes its time; nothing that is asserted does."""
expect.set_options(timeout=WAIT_MS)

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session", autouse=True)
def _table_of_characters() -> None:
    """Made by hypothesis once for a clone: its 2 s are not those of the first test that draws text,
    which would fail for being slow."""
    strategies.text().validate()


@pytest.fixture(scope="session", autouse=True)
def _shared_kernels() -> Iterator[None]:
    """Compiled once for all tests, as for all starts of one daemon."""
    with pytest.MonkeyPatch.context() as patch:
        if "NUMBA_CACHE_DIR" not in os.environ:
            patch.setenv("NUMBA_CACHE_DIR", str(platformdirs.user_cache_path("hubd") / "numba"))
        yield


@pytest.fixture(scope="session")
def model_path() -> Path:
    """The default model's file: HUBD_TEST_MODEL, else where ``hubd model pull`` puts it."""
    home = os.environ.get("HUBD_HOME")
    folder = Path(home) if home else platformdirs.user_data_path("hubd")
    path = Path(os.environ.get("HUBD_TEST_MODEL") or folder / "models" / DEFAULT_MODEL)
    if not path.is_file():
        pytest.skip(f"no model at {path}: run `hubd model pull`")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for one module. Its tests are no coroutines: playwright runs a loop itself."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """``open_page(url, **context)`` opens a page in a fresh context.

    What the browser complains about (a script's error, a breach of the content security policy)
    fails the test at its end. A line that contains one of ``expected`` is no complaint.
    """
    contexts = []
    complaints: list[str] = []

    def open_one(url: str, *, expected: tuple[str, ...] = (), **context_options) -> Page:
        def complain(text: str) -> None:
            if not any(part in text for part in (*expected, BLOCKED)):
                complaints.append(text)

        # What the service worker keeps would hide what a test changes; its own tests allow it.
        context = browser.new_context(**{"service_workers": "block"} | context_options)
        context.set_default_timeout(WAIT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complain(str(error)))
        page.on("console", lambda said: said.type in ("error", "warning") and complain(said.text))
        page.goto(url)
        if "/pair#" in url:
            page.wait_for_url("**/")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []
