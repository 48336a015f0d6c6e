"""The log: fields, the journal's protocol, and nothing that anybody said."""

import logging
import re
import socket
import urllib.request

import msgspec
import pytest

from hubd import logs

SAID = "marzipan"
"""In no code and no configuration: where it is, somebody's words are."""


@pytest.fixture
def record():
    def made(message, *args, error=None):
        raised = (type(error), error, error.__traceback__) if error else None
        return logging.LogRecord("hubd.x", logging.ERROR, "f", 1, message, args, raised)

    return made


def raised():
    try:
        try:
            raise KeyError(SAID)
        except KeyError as error:
            raise ValueError(f"about {SAID}") from error
    except ValueError as error:
        return error


def test_a_line_has_the_fields_of_its_request(record):
    lines = logs.Lines(words=False)
    with logs.fields(request="r1", client=""):
        logs.add_field("conversation", "c1")
        line = lines.format(record("it broke route=%s", "/x"))
    assert line.endswith("ERROR hubd.x it broke route=/x request=r1 conversation=c1")
    assert "request=" not in lines.format(record("later"))


def test_an_exception_is_told_by_kind_and_place_without_its_words(record):
    told = logs.Lines(words=False).format(record("failed", error=raised()))
    assert SAID not in told
    assert "builtins.ValueError, raised at:" in told
    assert "builtins.KeyError, raised at:" in told
    assert re.search(r"test_logs\.py:\d+ in raised", told)
    assert SAID in logs.Lines(words=True).format(record("failed", error=raised()))


def test_the_journal_gets_fields_in_its_own_protocol(record, tmp_path):
    path = tmp_path / "journal"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
        journal.bind(str(path))
        handler = logs.Journal(path, words=False)
        with logs.fields(request="r1"):
            handler.emit(record("two\nlines"))
        entry = journal.recv(65536)
        handler.close()
    assert b"MESSAGE\n\x09\x00\x00\x00\x00\x00\x00\x00two\nlines\n" in entry
    assert b"\nPRIORITY=3\n" in entry
    assert entry.endswith(b"\nHUBD_REQUEST=r1\n")


def test_nothing_that_anybody_said_is_in_the_log(environment, hubd, served):
    """Through every door, understood or not, right or wrong: the log tells that, and not what."""
    environment["HUBD_LOG_LEVEL"] = "info"
    with served() as process:
        url = re.search(r"http://127\.0\.0\.1:\d+", process.log.read_text())[0]
        token = hubd("token", "add", SAID, "--quiet").stdout.strip()

        def post(path, body):
            data = body if isinstance(body, bytes) else msgspec.json.encode(body)
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            request = urllib.request.Request(f"{url}{path}", data, headers)
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    return response.read()
            except urllib.error.HTTPError as error:
                return error.read()

        message = [{"role": "user", "content": f"where is the {SAID}?"}]
        for text in (f"where is the {SAID}?", f"set a {SAID} timer for 9 minutes", f"undo {SAID}"):
            post("/hub/ask", {"text": text, "conversation": SAID})
        post("/hub/ask", {SAID: 1})
        post(f"/hub/tools/{SAID}", {})
        post("/hub/tools/timers.start", {"name": SAID, "minutes": SAID})
        post("/v1/chat/completions", {"model": "household", "messages": message, "user": SAID})
        post("/v1/chat/completions", f'{{"model": "raw:{SAID}"'.encode())
        post("/api/chat", {"model": SAID, "messages": message})
        post("/api/chat", {"model": "household", "messages": message})
        post(f"/api/webhook/{SAID}", {"text": SAID})
        post(f"/hub/{SAID}?q={SAID}", {})
        post("/hub/documents", {"paths": [f"/{SAID}.md"]})
        hubd("person", "add", SAID, "--role", "guest")
        hubd("forget", SAID)
    log = process.log.read_text()
    assert log.count("route=/hub/ask") == 4
    assert re.search(r"route=/hub/ask status=200 ms=\d+ request=\w+ client=\w+", log)
    assert SAID not in log.replace(environment["HUBD_HOME"], "")
    assert token not in log
