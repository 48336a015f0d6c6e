"""Who may come in over TCP: names, origins, tokens; what goes out: headers."""

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.http.security import CONTENT_SECURITY_POLICY, host_name
from hubd.settings import Config, Http

ASK = {"text": "list timers"}


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path, Config(http=Http(names=["Hub.lan"]))) as client:
        yield client


@pytest.fixture
async def guarded(open_hub, tmp_path):
    async with open_hub(tmp_path, Config(http=Http(token="s3cret")), paired=False) as client:
        yield client


@pytest.mark.parametrize("host", ["localhost:8400", "127.0.0.1", "[::1]:8400", "hub.lan"])
async def test_the_hub_is_known_by_its_names(hub, host):
    assert (await hub.get("/healthz", headers={"Host": host})).status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[", ""])
async def test_a_name_of_somebody_else_is_refused(hub, host):
    response = await hub.get("/hub/documents", headers={"Host": host})
    assert response.status in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"},
        {"Sec-Fetch-Site": "none"},
        {"Host": "localhost:1", "Origin": "http://localhost:1"},
    ],
)
async def test_our_page_and_programs_may_change_things(hub, headers):
    assert (await hub.post("/hub/ask", json=ASK, headers=headers)).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
async def test_a_page_of_another_site_may_not(hub, headers):
    response = await hub.post("/hub/ask", json=ASK, headers=headers)
    assert response.status == 403
    assert (await response.json())["error"]["code"] == "cross_origin"


async def test_everything_that_goes_out_has_the_headers(hub):
    for path in ("/", "/healthz", "/hub/nothing", "/static/app.js"):
        headers = (await hub.get(path)).headers
        assert headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "Server" not in headers


async def test_the_unix_socket_needs_neither_name_nor_token(guarded, tmp_path):
    from aiohttp import web

    site = web.UnixSite(guarded.server.runner, str(tmp_path / "s"))
    await site.start()
    async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(tmp_path / "s"))) as unix:
        headers = {"Host": "whatever", "Origin": "https://evil.example"}
        response = await unix.post("http://hub/hub/ask", json=ASK, headers=headers)
        assert response.status == 200


@given(st.text())
def test_a_host_header_of_any_text_has_a_name_or_none(host):
    assert isinstance(host_name(host), str)


def test_ports_and_brackets_are_no_part_of_the_name():
    assert host_name("Hub.LAN:8400") == "hub.lan"
    assert host_name("[::1]:8400") == "::1"
