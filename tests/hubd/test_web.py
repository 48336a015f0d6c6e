"""The chat page's modules in a real browser, and how the page bears a daemon that misbehaves."""

import itertools
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubd.http.security import HEADERS
from hubd.http.static import TYPES

pytestmark = pytest.mark.browser

WEB = Path(__file__).parents[2] / "hubd" / "web"
IN_BROWSER = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Site(ThreadingHTTPServer):
    """The page's files with the daemon's headers, and answers that the test writes beforehand."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[list[tuple[str, object]]] = []
        self.notices: list[tuple[str, object]] = []
        self.resumed: list[str] = []
        """The paths with which answers were asked for again."""
        self.gone = threading.Event()
        """Set when a client went away in the middle of an answer."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        if self.path == "/hub/events" and self.server.notices:
            self.stream(self.server.notices)
            return
        if self.path.startswith("/hub/answers/"):
            self.server.resumed.append(self.path)
            self.stream(self.server.answers.pop(0))
            return
        path = WEB / ("index.html" if self.path == "/" else self.path.removeprefix("/static/"))
        if self.path in ("/hub/documents", "/hub/answers"):
            self.reply(200, "application/json", b"[]")
        elif self.path == "/hub/status":
            self.reply(200, "application/json", b'{"storage": "ok"}')
        elif path.is_file():
            self.reply(200, TYPES[path.suffix], path.read_bytes())
        else:
            self.reply(404, "application/json", b"{}")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/hub/ask":
            self.stream(self.server.answers.pop(0))
        else:
            self.reply(200, "application/json", b'{"text": "", "data": {"timers": []}}')

    def reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, script: list[tuple[str, object]]) -> None:
        """The events in turn; ``wait`` sends comments until the client goes."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for number, (event, data) in enumerate(script, 1):
                if event == "break":
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                while event == "wait":
                    self.wfile.write(b": \n\n")
                    time.sleep(0.02)
                head = f"id: {number}\nevent: {event}\n"
                self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
        except OSError:
            self.server.gone.set()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site():
    server = Site()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


NO_HUB = ("404", "/hub/events")
"""The test's site has no daemon behind it, and chromium says so on the console."""


@pytest.fixture
def page(site, open_page):
    return open_page(site.url, expected=NO_HUB)


def done(answer: str, **fields: object) -> tuple[str, object]:
    shape = {"citations": [], "refused": False, "actions": [], "timings": {}, "conversation": "c"}
    return "done", shape | {"answer": answer} | fields


def ask(page, question: str) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


# --- modules ---

field_text = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))


@given(
    events=st.lists(st.tuples(field_text.filter(bool), st.lists(field_text, min_size=1))),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    cuts=st.lists(st.integers(0, 400)),
)
@IN_BROWSER
def test_events_survive_any_cut_of_the_stream(page, events, newline, cuts):
    text = f": a comment{newline}"
    for name, lines in events:
        text += f"event: {name}{newline}"
        text += "".join(f"data: {line}{newline}" for line in lines) + newline
    bounds = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in itertools.pairwise(bounds)]
    found = page.evaluate(
        """async (pieces) => {
            const { createParser } = await import("/static/sse.js");
            const events = [];
            const parser = createParser((event) => events.push([event.event, event.data]));
            pieces.forEach(parser.push);
            parser.push("\\n");
            return events;
        }""",
        pieces,
    )
    assert found == [[name, "\n".join(lines)] for name, lines in events]


@given(text=st.text(), start=st.integers(0, 40), length=st.integers(0, 40))
@IN_BROWSER
def test_spans_are_counted_as_python_counts(page, text, start, length):
    text = text.encode("utf-8", "ignore").decode()
    parts = page.evaluate(
        """async ([text, start, end]) =>
            (await import("/static/text.js")).splitAtSpan(text, start, end)""",
        [text, start, start + length],
    )
    assert parts == [text[:start], text[start : start + length], text[start + length :]]


ATTACKS = [
    "<script>window.stolen = 1</script>",
    "<img src=x onerror='window.stolen = 1'>",
    "<svg onload=window.stolen=1><style>*{display:none}</style></svg>",
    "[a](javascript:window.stolen=1) [b](  JaVaScRiPt:window.stolen=1) [c](data:text/html,x)",
    "[d](&#106;avascript:window.stolen=1) <javascript:window.stolen=1>",
    '![picture](http://elsewhere.example/track.png) ![x](x "\' onerror=window.stolen=1")',
    "<iframe src='http://elsewhere.example'></iframe><form action=/x><input name=y></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.stolen=1></style></mglyph>",
    '<a href="http://x" style="position:fixed;inset:0" id=question onclick=window.stolen=1>y</a>',
    '[e](http://x "\\" onmouseover=window.stolen=1")',
    "`<b onclick=window.stolen=1>` <noscript><p title='</noscript><img src=x onerror=stolen=1>'>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_text_cannot_become_a_script_or_reach_out(page, attack):
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    found = page.evaluate(
        """async (text) => {
            const { renderMarkdown } = await import("/static/render.js");
            const box = document.createElement("div");
            document.body.append(box);
            box.append(renderMarkdown(text));
            await new Promise((resolve) => setTimeout(resolve, 50));
            const all = [...box.querySelectorAll("*")];
            return {
                names: all.map((element) => element.localName),
                attributes: all.flatMap((element) => element.getAttributeNames()),
                links: all.filter((element) => element.href).map((element) => element.protocol),
                stolen: window.stolen ?? null,
            };
        }""",
        attack,
    )
    assert found["stolen"] is None
    assert not {"script", "img", "svg", "style", "iframe", "form", "input"} & set(found["names"])
    assert set(found["attributes"]) <= {"href", "target", "rel", "title", "start"}
    assert set(found["links"]) <= {"http:", "https:", "mailto:"}
    assert not [url for url in requests if "elsewhere" in url]


RENDER = """async ([answer, offsets]) => {
    const { renderAnswer } = await import("/static/render.js");
    const box = document.createElement("div");
    const button = (textContent) => Object.assign(document.createElement("button"), {textContent});
    const markers = offsets.map((offset, i) => ({ offset, make: () => button(`[${i}]`) }));
    box.append(renderAnswer(answer, markers));
    return {text: box.textContent, bold: box.querySelectorAll("strong").length,
            buttons: box.querySelectorAll("button").length,
            rows: box.querySelectorAll("tr").length};
}"""


@pytest.mark.parametrize(
    ("answer", "ends", "shown"),
    [
        ("One. Two.", [4, 9], "One.[0] Two.[1]"),
        ("🍝 for **nine minutes.** Drain.", [23, 30], "🍝 for nine minutes.[0] Drain.[1]"),
        ("- first\n- second\n", [8, 17], "first[0]\nsecond[1]"),
        ("Both.", [5, 5], "Both.[0][1]"),
        ("Uses ⦃ braces ⦄.", [16], "Uses { braces }.[0]"),
        ("Past the end.", [99], "Past the end.[0]"),
    ],
)  # fmt: skip
def test_markers_stand_at_the_end_of_their_sentences(page, answer, ends, shown):
    found = page.evaluate(RENDER, [answer, ends])
    assert found["text"].strip() == shown
    assert found["buttons"] == len(ends)
    assert found["bold"] == answer.count("**") // 2


def test_a_marker_after_a_table_row_stays_inside_it(page):
    answer = "| code | meaning |\n|---|---|\n| E04 | sensor |\n"
    found = page.evaluate(RENDER, [answer, [len(answer)]])
    assert found["rows"] == 2
    assert "sensor [0]" in found["text"] or "sensor[0]" in found["text"]


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "A *word* here.\n",
            "\n",
            "- item\n",
            "1. step\n",
            "```\ncode\n\nmore\n```\n",
            "## Title\n",
        ]
    )
).map("".join)


@given(text=MARKDOWN, cuts=st.lists(st.integers(0, 200)))
@IN_BROWSER
def test_a_growing_answer_ends_with_the_words_of_the_whole(page, text, cuts):
    bounds = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in itertools.pairwise(bounds)]
    grown, whole = page.evaluate(
        """async (pieces) => {
            const { createStream, renderMarkdown } = await import("/static/render.js");
            const box = document.createElement("div");
            const painted = () => new Promise((resolve) => requestAnimationFrame(resolve));
            const stream = createStream(box, () => {});
            for (const piece of pieces) { stream.append(piece); await painted(); }
            await painted();
            return [box.textContent, renderMarkdown(pieces.join("")).textContent];
        }""",
        pieces,
    )
    assert grown.split() == whole.split()


def test_a_passage_is_found_again_after_the_page_changed(page):
    found = page.evaluate(
        """async () => {
            const { highlight } = await import("/static/sources.js");
            const passage = { start: 0, end: 4, text: "code" };
            return ["the code is", "code 7", "gone"].map((text) => {
                const { nodes, mark } = highlight(text, passage);
                const whole = nodes.map((node) => node.textContent ?? node).join("");
                return [mark?.textContent ?? null, whole];
            });
        }"""
    )
    assert found == [["code", "the code is"], ["code", "code 7"], [None, "gone"]]


def test_a_page_is_shown_without_the_signs_of_its_markup(page):
    text = "## Codes\n\n| Code | Meaning |\n|---|:---:|\n| **E04** | press `OK` |\n\nA - b | c."
    shown = page.evaluate(
        """async (text) => {
            const { readable } = await import("/static/sources.js");
            const box = document.createElement("div");
            box.append(...readable(text));
            return box.textContent;
        }""",
        text,
    )
    assert shown == "Codes\n\nCode · Meaning\nE04 · press OK\n\nA - b · c."


# --- a daemon that misbehaves ---


def test_an_error_says_what_to_do_and_can_be_tried_again(page, site):
    problem = {"code": "engine_down", "message": "The model stopped.", "hint": "Ask again."}
    site.answers = [
        [("start", {"conversation": "c"}), ("token", {"text": "Half an"}), ("error", problem)],
        [("token", {"text": "Whole."}), done("Whole.")],
    ]
    ask(page, "How?")
    page.locator(".problem p").nth(1).wait_for()
    assert page.locator(".problem p").all_inner_texts() == ["The model stopped.", "Ask again."]
    page.get_by_role("button", name="Try again").click()
    page.locator(".prose").get_by_text("Whole.").wait_for()
    assert page.locator(".turn").count() == 1
    assert page.locator(".problem").count() == 0


def test_an_answer_that_breaks_off_is_not_shown_as_whole(page, site):
    site.answers = [[("start", {"conversation": "c"}), ("token", {"text": "Half"})]]
    ask(page, "How?")
    page.get_by_text("The connection broke off").wait_for()


def test_an_answer_goes_on_where_the_connection_broke(page, site):
    site.answers = [
        [
            ("answer", {"answer": "a1", "text": "How?"}),
            ("start", {"conversation": "c"}),
            ("token", {"text": "Half"}),
            ("break", None),
        ],
        [("break", None)],
        [("token", {"text": " and whole."}), done("Half and whole.")],
    ]
    ask(page, "How?")
    page.locator(".prose").get_by_text("Half and whole.", exact=True).wait_for()
    page.get_by_role("button", name="Send").wait_for()
    assert site.resumed == ["/hub/answers/a1?after=3"] * 2
    assert page.locator(".problem").count() == 0


ASK_MANY = """async ([first, last]) => {
    const box = document.querySelector("#question");
    for (let number = first; number < last; number += 1) {
        box.value = `Question ${number}?`;
        box.form.requestSubmit();
        for (;;) {
            const turn = document.querySelector("#turns").lastElementChild;
            const asked = turn?.textContent.includes(`Question ${number}?`);
            const working = document.querySelector(".answering");
            if (asked && turn.querySelector(".chip") && !working) break;
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
    }
}"""


def test_memory_is_flat_over_two_hundred_questions(page, site):
    passage = {"document": "oven.pdf", "page": 1, "start": 0, "end": 9, "score": 0.9, "heading": ""}
    passages = [passage | {"text": "words " * 120} for _ in range(4)]
    cited = [passage | {"text": "words", "answer_start": 0, "answer_end": 30}]
    session = page.context.new_cdp_session(page)

    def heap_bytes() -> int:
        session.send("HeapProfiler.collectGarbage")
        return session.send("Runtime.getHeapUsage")["usedSize"]

    def ask_many(first: int, last: int) -> None:
        site.answers = [
            [("passages", {"passages": passages}), done(f"Answer {number}. " * 40, citations=cited)]
            for number in range(first, last)
        ]
        page.evaluate(ASK_MANY, [first, last])

    ask_many(0, 100)  # by then the browser has compiled what it will
    nodes = page.locator("#turns *").count()  # with what Playwright puts into the page, 0.9 MB
    early = heap_bytes()
    ask_many(100, 300)
    assert page.locator(".turn").count() == 30
    assert page.locator("#turns *").count() == nodes
    assert heap_bytes() < early * 1.1


@pytest.mark.parametrize("by", ["key", "button"])
def test_stop_ends_the_work_and_keeps_what_came(page, site, by):
    site.answers = [[("token", {"text": "So far"}), ("wait", None)]]
    ask(page, "How?")
    page.get_by_text("So far").wait_for()
    if by == "key":
        page.keyboard.press("Escape")
    else:
        page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("Stopped here.").wait_for()
    assert page.get_by_text("So far").is_visible()
    assert page.get_by_role("button", name="Send").is_visible()
    assert site.gone.wait(5), "the request went on"


def test_a_person_who_waits_is_told_why(site, open_page):
    loading = {"state": "starting", "message": "compiling kernels", "progress": 0.4}
    site.notices = [("engine", loading), ("wait", None)]
    site.answers = [[("start", {"conversation": "c"}), ("wait", None)]]
    page = open_page(site.url)
    ask(page, "How?")
    page.get_by_text("Starting the language model: compiling kernels 40 %…").first.wait_for()


def test_a_lost_connection_is_said(page):
    page.get_by_text("hubd does not answer; trying again…").wait_for()


def test_without_documents_the_page_invites_to_add_some(site, open_page):
    site.notices = [("engine", {"state": "ready"}), ("wait", None)]
    page = open_page(site.url)
    page.get_by_role("link", name="Add documents").click()
    page.get_by_role("heading", name="Documents").wait_for()
    page.get_by_text("Nothing here yet.").wait_for()
