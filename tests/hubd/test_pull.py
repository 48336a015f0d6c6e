"""Pulls from the Hub: split models, interruptions; the Hub is a server of this machine."""

import hashlib
import http.server
import os
import subprocess
import sys
import threading

import pytest

from hubd.models import installed, parts_of

NAMES = [f"m-{number:05}-of-00003.gguf" for number in (1, 2, 3)]
CONTENT = {name: b"GGUF" + bytes([index]) * 300_000 for index, name in enumerate(NAMES)}
PULL = """
import pathlib, sys
from hubd.models import ModelError, pull_from_hub
try:
    print(pull_from_hub(sys.argv[1], pathlib.Path(sys.argv[2]), lambda *_: None))
except ModelError as error:
    sys.exit(str(error))
"""


class Hub(http.server.BaseHTTPRequestHandler):
    """Files as the Hub serves them; one of them may break off."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        name = self.path.rpartition("/")[2]
        data = self.server.files.get(name)
        if data is None:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Accept-Ranges", "bytes")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        if body:
            self.server.fetched.append(name)
            broken = name in self.server.broken
            self.wfile.write(data[start : start + 1000] if broken else data[start:])
            self.close_connection = broken

    def log_message(self, *_):
        pass


@pytest.fixture
def hub():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.files, server.fetched, server.broken = dict(CONTENT), [], set()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def pull(hub, folder, reference="hf:o/r/m-00001-of-00003.gguf"):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    environment |= {
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DOWNLOAD_TIMEOUT": "3",
        "HF_HUB_ETAG_TIMEOUT": "3",
    }
    return subprocess.run(
        [sys.executable, "-c", PULL, reference, str(folder)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


def visible(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != ".pull.lock")


@pytest.mark.parametrize("asked", [0, 2])
def test_every_part_is_fetched_whichever_is_named(hub, tmp_path, asked):
    done = pull(hub, tmp_path, f"hf:o/r/sub/{NAMES[asked]}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / NAMES[0])
    assert visible(tmp_path) == NAMES
    assert all((tmp_path / name).read_bytes() == CONTENT[name] for name in NAMES)


def test_an_interrupted_pull_leaves_no_model_and_is_gone_on_with(hub, tmp_path):
    hub.broken.add(NAMES[2])
    failed = pull(hub, tmp_path)
    assert failed.returncode != 0
    assert f"o/r/{NAMES[2]} cannot be fetched" in failed.stderr.splitlines()[-1]
    assert installed(tmp_path) == []
    hub.broken.clear()
    hub.fetched.clear()
    assert pull(hub, tmp_path).returncode == 0
    assert visible(tmp_path) == NAMES
    assert hub.fetched == [NAMES[2]], "the parts that were there are not fetched again"


def test_a_missing_part_and_a_file_that_is_no_model(hub, tmp_path):
    del hub.files[NAMES[1]]
    failed = pull(hub, tmp_path)
    assert f"has no file {NAMES[1]}" in failed.stderr
    hub.files[NAMES[1]] = b"<html>"
    failed = pull(hub, tmp_path)
    assert f"{NAMES[1]} is not a GGUF file" in failed.stderr
    assert installed(tmp_path) == []


def test_a_split_model_is_listed_as_one(tmp_path):
    for name in [*NAMES, "a.gguf", "b-00002-of-00002.gguf"]:
        (tmp_path / name).write_bytes(b"GGUF" * 5)
    found = [(one.name, one.bytes, one.parts, one.missing) for one in installed(tmp_path)]
    assert found == [
        ("a.gguf", 20, 1, 0),
        ("b-00001-of-00002.gguf", 20, 2, 1),
        (NAMES[0], 60, 3, 0),
    ]


@pytest.mark.parametrize("name", ["m.gguf", "m-00004-of-00003.gguf", "m-00001-of-99999.gguf"])
def test_names_that_are_no_parts(name):
    assert parts_of(name) == [name]
