"""What one client may ask for, and who stands behind a proxy."""

import asyncio
import json
import re
import shutil
import ssl
import subprocess
import time
import urllib.request

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from hubd.errors import HubError
from hubd.http import body as body_module
from hubd.http import tls, traffic
from hubd.http.backoff import FREE
from hubd.http.body import DEPTH_LIMIT, JSON_LIMIT, depths
from hubd.http.pairing import Offer
from hubd.http.proxies import sender
from hubd.http.services import SERVICES
from hubd.settings import Config, Http

NETWORKS = Http(trusted_proxies=["10.0.0.0/8", "::1"]).proxies()


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path) as client:
        yield client


def services(hub):
    return hub.server.app[SERVICES]


def depth(value):
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


JSON = st.recursive(
    st.text() | st.integers() | st.just('{"[\\"]}'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=30,
)


@given(JSON, st.integers(1, 40))
def test_depth_is_counted_as_a_parser_would(value, piece):
    assert max(depths(json.dumps(value).encode(), piece), default=0) == depth(value)


@pytest.mark.parametrize("unit", [b"[]", b"[[]],", b'"a\\"",', b"\\\\", b'{"a":[1]},'])
def test_a_megabyte_is_looked_at_in_pieces_that_are_short(unit):
    """A bound that only a piece of the wrong order passes: one takes a millisecond or two."""
    data, worst = unit * (JSON_LIMIT // len(unit)), 0.0
    for _ in range(3):
        took = []
        pieces = depths(data)
        more = True
        while more:
            began = time.thread_time()
            more = next(pieces, None) is not None
            took.append(time.thread_time() - began)
        worst = min(worst or 1.0, max(took))
    assert worst < 0.025


@pytest.mark.parametrize("path", ["/hub/ask", "/v1/chat/completions", "/api/chat"])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
async def test_a_body_that_is_nested_too_deeply_is_refused(hub, path, opening):
    closing = "]" if opening == "[" else "}"
    for levels in (DEPTH_LIMIT + 1, 100_000):
        data = f'{{"x": {opening * levels}1{closing * levels}}}'
        response = await hub.post(path, data=data[:JSON_LIMIT])
        assert response.status == 400
        assert "levels deep" in await response.text()


async def test_a_body_that_is_too_large_is_refused(hub):
    assert (await hub.post("/hub/ask", data=b'"' + b"x" * JSON_LIMIT + b'"')).status == 413


async def test_a_body_that_does_not_come_is_not_waited_for(hub, monkeypatch):
    monkeypatch.setattr(body_module, "BODY_LIMIT_S", 0.2)
    never = asyncio.Event()

    async def dripping():
        yield b'{"text": '
        await never.wait()

    response = await hub.post("/hub/ask", data=dripping())
    assert response.status == 408


async def test_one_device_does_not_take_everything(hub, monkeypatch):
    monkeypatch.setattr(traffic, "AT_ONCE", 3)
    open_streams = [await hub.get("/hub/events") for _ in range(3)]
    refused = await hub.get("/hub/events")
    assert refused.status == 429
    assert "Retry-After" in refused.headers
    _, secret = await services(hub).access.add_token(name="other", person="owner", scopes=("chat",))
    headers = {"Authorization": f"Bearer {secret}"}
    assert (await hub.get("/hub/status", headers=headers)).status == 200
    for stream in open_streams:
        stream.close()


async def test_a_device_that_asks_too_often_is_told_to_wait(open_hub, tmp_path, monkeypatch):
    monkeypatch.setattr(traffic, "BURST", 5)
    monkeypatch.setattr(traffic, "PER_MINUTE", 1)
    async with open_hub(tmp_path) as hub:
        found = [(await hub.get("/hub/me")).status for _ in range(3)]  # of its address
        found += [(await hub.get("/hub/status")).status for _ in range(6)]
    assert found == [200] * 8 + [429]


async def test_opening_the_page_many_times_is_no_strangers_traffic(hub, monkeypatch):
    made = services(hub).codes.make(Offer(person="owner", scopes=("chat",)))
    assert (await hub.post("/hub/pair", json={"code": made})).status == 200
    found = {(await hub.get("/static/app.js")).status for _ in range(traffic.STRANGERS_BURST + 20)}
    assert found == {200}
    hub.session.cookie_jar.clear()
    found = [(await hub.get("/static/app.js")).status for _ in range(traffic.STRANGERS_BURST + 60)]
    assert 429 in found


async def test_a_revoked_device_hears_nothing_more(hub):
    access = services(hub).access
    token, secret = await access.add_token(name="lost", person="owner", scopes=("chat",))
    stream = await hub.get("/hub/events", headers={"Authorization": f"Bearer {secret}"})
    assert stream.status == 200
    assert (await hub.delete(f"/hub/tokens/{token.id}")).status == 200
    with pytest.raises(aiohttp.ClientError):
        async with asyncio.timeout(5):
            await stream.read()


async def test_a_device_of_somebody_who_left_hears_nothing_more(hub):
    await hub.post("/hub/persons", json={"name": "Ann", "role": "guest"})
    _, secret = await services(hub).access.add_token(name="x", person="Ann", scopes=("chat",))
    stream = await hub.get("/hub/events", headers={"Authorization": f"Bearer {secret}"})
    assert (await hub.delete("/hub/persons/Ann")).status == 200
    with pytest.raises(aiohttp.ClientError):
        async with asyncio.timeout(5):
            await stream.read()


# Paths


@pytest.mark.parametrize(
    "path",
    [
        "/static/../config.py", "/static/%2e%2e/config.py", "/static/..%2fconfig.py",
        "/static//etc/passwd", "/static/vendor/../../config.py", "/static/%00.js",
    ],
)  # fmt: skip
async def test_no_path_leads_out_of_the_pages_folder(hub, path):
    url = hub.make_url("/").join(URL(path, encoded=True))
    async with hub.session.get(url) as response:
        assert response.status in (400, 404)


async def test_an_upload_cannot_name_a_place(hub, tmp_path):
    for name in ("../../evil.md", "/etc/evil.md", "..\\evil.md"):
        form = aiohttp.FormData()
        form.add_field("files", b"# Text\n\nSome words of a document.", filename=name)
        assert (await hub.post("/hub/documents", data=form)).status < 500
    assert not list(tmp_path.parent.glob("evil*"))
    assert not [p for p in tmp_path.rglob("evil*") if "uploads" not in p.parts]


# Proxies


@pytest.mark.parametrize(
    ("hops", "found"),
    [
        (["203.0.113.9"], "203.0.113.9"),
        (["198.51.100.1", "203.0.113.9"], "203.0.113.9"),  # the first may be invented
        (["203.0.113.9", "10.2.3.4"], "203.0.113.9"),
        (["10.9.9.9", "10.2.3.4"], "10.9.9.9"),
        ([""], "10.0.0.1"),
        (["203.0.113.9", "nonsense"], "10.0.0.1"),
    ],
)
def test_the_sender_is_the_nearest_that_is_no_proxy(hops, found):
    assert sender("10.0.0.1", hops, NETWORKS) == found


async def test_a_stranger_cannot_choose_an_address(hub):
    """Five wrong codes are enough, whatever address they claim to come from."""
    codes = [
        await hub.post(
            "/hub/pair", json={"code": "00000000"}, headers={"X-Forwarded-For": f"203.0.113.{n}"}
        )
        for n in range(FREE + 1)
    ]
    assert codes[-1].status == 429


async def test_behind_a_proxy_each_sender_waits_alone(open_hub, tmp_path):
    config = Config(http=Http(trusted_proxies=["127.0.0.1"]))
    async with open_hub(tmp_path, config, paired=False) as hub:
        first, second = ({"X-Forwarded-For": f"203.0.113.{n}"} for n in (1, 2))
        for _ in range(FREE + 1):
            last = await hub.post("/hub/pair", json={"code": "00000000"}, headers=first)
        assert last.status == 429
        other = await hub.post("/hub/pair", json={"code": "00000000"}, headers=second)
        assert other.status == 401
        made = services(hub).codes.make(Offer(person="owner", scopes=("chat",)))
        secure = second | {"X-Forwarded-Proto": "https"}
        paired = await hub.post("/hub/pair", json={"code": made}, headers=secure)
        assert paired.cookies["hubd_session"]["secure"]


# TLS


@pytest.fixture
def certificate(tmp_path):
    """A certificate for this machine that signed itself, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    chain, private = tmp_path / "chain.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost", "-out", chain, "-keyout", private,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return chain, private


def test_the_daemon_speaks_tls(environment, certificate, served):
    chain, private = certificate
    environment["HUBD_HTTP_CERTIFICATE"] = str(chain)
    environment["HUBD_HTTP_PRIVATE_KEY"] = str(private)
    with served() as process:
        url = re.search(r"https://127\.0\.0\.1:(\d+)", process.log.read_text())
        trust = ssl.create_default_context(cafile=str(chain))
        address = f"https://localhost:{url[1]}/healthz"
        with urllib.request.urlopen(address, context=trust, timeout=10) as response:
            assert response.status == 200


def test_a_certificate_that_cannot_be_used_is_told(certificate, tmp_path):
    chain, private = certificate
    assert tls.context(Http()) is None
    assert tls.context(Http(certificate=str(chain), private_key=str(private)))
    (tmp_path / "bad.pem").write_text("nonsense")
    for pair in ((chain, tmp_path / "bad.pem"), (tmp_path / "missing.pem", private)):
        with pytest.raises(HubError, match="TLS cannot be used"):
            tls.context(Http(certificate=str(pair[0]), private_key=str(pair[1])))
