"""Home Assistant connected by a person on the command line, and everything that can be wrong."""

import os
import shutil
import socket
import ssl
import stat
import subprocess
import sys
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from hubd.errors import HubError
from hubd.home.connection import connected
from hubd.home.examine import Problem, Reached, examine
from hubd.home.link import Link, file_of, forget, load, save
from hubd.paths import find_paths


@pytest.fixture(scope="module")
def hub(start, tmp_path_factory):
    """A daemon that loads no model: nothing here needs one."""
    home = tmp_path_factory.mktemp("hub")
    (home / "hubd.toml").write_text("[engine]\npreload = false\n[rag]\npreload = false\n")
    return start(home)


def run(hub, *arguments, text=""):
    return subprocess.run(
        [sys.executable, "-m", "hubd", "home", *arguments],
        env=hub.environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_person_connects_looks_and_disconnects(home_assistant, home_assistant_version, hub):
    assert "not connected" in run(hub, "status").stdout
    refused = run(hub, "connect", home_assistant.url, text="wrong\n")
    assert refused.returncode == 1
    assert "does not take the token" in refused.stderr
    done = run(hub, "connect", home_assistant.url, text=home_assistant.token + "\n")
    assert done.returncode == 0, done.stderr
    assert f"Home Assistant {home_assistant_version} is connected." in done.stdout
    assert "entities to see" in done.stdout
    assert "entities to see" in run(hub, "status").stdout
    file = file_of(find_paths(hub.environment))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert home_assistant.token not in hub.log()
    doctor = hub.command("doctor", check=False).stdout
    assert f"✓ home         Home Assistant {home_assistant_version}" in doctor
    home_assistant.pause()
    try:
        doctor = hub.command("doctor", check=False).stdout
    finally:
        home_assistant.go_on()
    assert "✗ home         127.0.0.1 port" in doctor
    assert "does not answer" in doctor
    assert run(hub, "disconnect").returncode == 0
    assert not file.exists()
    assert "not connected" in run(hub, "status").stdout


def test_only_the_owner_may_have_the_link_read_again(hub):
    with hub.client() as client:
        stranger = {"Authorization": "Bearer somebody"}
        reloaded = client.post("/hub/home-assistant/reload", headers=stranger)
        assert reloaded.status_code == 401
        assert client.get("/hub/home-assistant").json() == {
            "linked": False,
            "status": None,
            "push": "",
        }


async def test_all_is_well(home_assistant, home_assistant_version):
    found = await examine(Link(url=home_assistant.url, token=home_assistant.token))
    assert isinstance(found, Reached)
    assert found.version == home_assistant_version


async def test_a_wrong_token(home_assistant):
    found = await examine(Link(url=home_assistant.url, token="wrong"))
    assert "token" in found.text
    assert "Long-lived access tokens" in found.hint


async def test_a_user_who_may_not_see_what_is_exposed(home_assistant, make_user_token):
    token = await make_user_token()
    found = await examine(Link(url=home_assistant.url, token=token))
    assert "may not" in found.text
    assert "administrator" in found.hint


@pytest.fixture
def make_user_token(home_assistant):
    """A long-lived token of somebody who is no administrator."""

    async def make():
        async with aiohttp.ClientSession() as session:
            link = Link(url=home_assistant.url, token=home_assistant.token)
            async with connected(session, link) as connection:
                user = await connection.command(
                    "config/auth/create", name="Guest", group_ids=["system-users"]
                )
                await connection.command(
                    "config/auth_provider/homeassistant/create",
                    user_id=user["user"]["id"],
                    username="guest",
                    password="guest-password",
                )
            return await _log_in(session, home_assistant.url)

    return make


async def _log_in(session, url):
    """An access token of the guest, through the login flow."""
    start = {"client_id": f"{url}/", "handler": ["homeassistant", None], "redirect_uri": f"{url}/"}
    async with session.post(f"{url}/auth/login_flow", json=start) as response:
        flow = (await response.json())["flow_id"]
    given = {"client_id": f"{url}/", "username": "guest", "password": "guest-password"}
    async with session.post(f"{url}/auth/login_flow/{flow}", json=given) as response:
        code = (await response.json())["result"]
    form = {"grant_type": "authorization_code", "code": code, "client_id": f"{url}/"}
    async with session.post(f"{url}/auth/token", data=form) as response:
        return (await response.json())["access_token"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://no-such-machine.invalid:8123", "no machine named no-such-machine.invalid"),
        ("http://127.0.0.1:1", "nothing listens on 127.0.0.1 port 1"),
    ],
)
async def test_an_address_where_nothing_is(url, words):
    found = await examine(Link(url=url, token="x"))
    assert isinstance(found, Problem)
    assert words in found.text
    assert found.hint


async def test_https_where_none_is_spoken(home_assistant):
    url = home_assistant.url.replace("http://", "https://")
    assert "does not speak TLS" in (await examine(Link(url=url, token="x"))).text


@asynccontextmanager
async def answering(status, body=b"{}", headers=None):
    """Something that is not Home Assistant, or stands before it."""

    async def handle(request):
        return web.Response(status=status, body=body, headers=headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


STARTING = b'{"state": "STARTING", "components": ["websocket_api", "mobile_app"]}'
OLD = b'{"version": "2022.12.1", "state": "RUNNING", "components": ["websocket_api", "mobile_app"]}'
RECOVERY = (
    b'{"version": "2025.4.4", "state": "RUNNING", "recovery_mode": true, '
    b'"components": ["websocket_api", "mobile_app"]}'
)
WITHOUT = b'{"state": "RUNNING", "components": ["websocket_api"]}'
NO_SOCKET = b'{"state": "RUNNING", "components": ["websocket_api", "mobile_app"]}'


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, b"<html>A router</html>", "not Home Assistant"),
        (404, b"", "not Home Assistant"),
        (301, b"", "sends callers on to https://elsewhere"),
        (400, b"", "proxy that it does not trust"),
        (403, b"", "banned this machine"),
        (502, b"", "a proxy answers"),
        (200, STARTING, "still starting"),
        (200, OLD, "2022.12.1 is too old"),
        (200, RECOVERY, "recovery mode"),
        (200, WITHOUT, "without mobile_app"),
        (200, NO_SOCKET, "WebSocket does not open"),
    ],
)
async def test_each_wrong_answer_is_explained(status, body, words):
    async with answering(status, body, {"Location": "https://elsewhere"}) as url:
        found = await examine(Link(url=url, token="x"))
        assert isinstance(found, Problem)
        assert words in found.text
        assert found.hint


async def test_a_token_that_was_revoked(home_assistant):
    async with aiohttp.ClientSession() as session:
        link = Link(url=home_assistant.url, token=home_assistant.token)
        async with connected(session, link) as connection:
            token = await connection.command(
                "auth/long_lived_access_token", client_name="to revoke", lifespan=1
            )
            assert isinstance(await examine(Link(url=link.url, token=token)), Reached)
            tokens = await connection.command("auth/refresh_tokens")
            number = next(t["id"] for t in tokens if t["client_name"] == "to revoke")
            await connection.command("auth/delete_refresh_token", refresh_token_id=number)
    found = await examine(Link(url=home_assistant.url, token=token))
    assert "does not take the token" in found.text


async def test_nothing_is_exposed(home_assistant):
    async with aiohttp.ClientSession() as session:
        link = Link(url=home_assistant.url, token=home_assistant.token)
        async with connected(session, link) as connection:
            result = await connection.command("homeassistant/expose_entity/list")
            shown = [
                known for known, by in result["exposed_entities"].items() if by.get("conversation")
            ]

            async def expose(those, new):
                await connection.command(
                    "homeassistant/expose_new_entities/set",
                    assistant="conversation",
                    expose_new=new,
                )
                await connection.command(
                    "homeassistant/expose_entity",
                    assistants=["conversation"],
                    entity_ids=shown,
                    should_expose=those,
                )

            await expose(False, False)
            try:
                found = await examine(link)
            finally:
                await expose(True, True)
    assert isinstance(found, Problem)
    assert "no entity is exposed" in found.text


async def test_a_version_that_does_not_know_what_the_hub_asks():
    async def config(request):
        return web.json_response(
            {"version": "2030.1", "state": "RUNNING", "components": ["websocket_api", "mobile_app"]}
        )

    async def socket(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "auth_required", "ha_version": "2030.1"})
        await socket.receive_json()
        await socket.send_json({"type": "auth_ok", "ha_version": "2030.1"})
        asked = await socket.receive_json()
        refused = {"code": "unknown_command", "message": "Unknown command."}
        await socket.send_json(
            {"id": asked["id"], "type": "result", "success": False, "error": refused}
        )
        await socket.receive()
        return socket

    app = web.Application()
    app.add_routes([web.get("/api/config", config), web.get("/api/websocket", socket)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        found = await examine(Link(url=f"http://127.0.0.1:{runner.addresses[0][1]}", token="x"))
    finally:
        await runner.cleanup()
    assert "2030.1 is too old" in found.text


@pytest.fixture
def self_signed(tmp_path):
    """The files of a certificate that nobody else has signed, and of its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=home",
    ]
    subprocess.run(
        [*command, "-subj", "/CN=home", "-keyout", key, "-out", certificate],
        capture_output=True,
        check=True,
    )
    return certificate, key


async def test_a_certificate_that_is_not_trusted(self_signed):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*self_signed)
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        found = await examine(Link(url=f"https://127.0.0.1:{runner.addresses[0][1]}", token="x"))
    finally:
        await runner.cleanup()
    assert "is not trusted: self-signed certificate" in found.text


async def test_a_machine_that_says_nothing(monkeypatch):
    monkeypatch.setattr("hubd.home.examine.LIMIT_S", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert "does not answer" in (await examine(Link(url=url, token="x"))).text


def test_a_link_that_others_can_read_is_refused(tmp_path):
    paths = find_paths({"HUBD_HOME": str(tmp_path)})
    save(paths, Link(url="http://x", token="secret"))
    assert load(paths, {}).token == "secret"
    file_of(paths).chmod(0o644)
    with pytest.raises(HubError, match="other users") as caught:
        load(paths, {})
    assert "secret" not in caught.value.message
    assert forget(paths)
    assert not forget(paths)


def test_the_token_may_come_from_systemd(tmp_path):
    paths = find_paths({"HUBD_HOME": str(tmp_path / "home")})
    save(paths, Link(url="http://x"))
    (tmp_path / "home-assistant-token").write_text("from systemd\n")
    assert load(paths, {"CREDENTIALS_DIRECTORY": str(tmp_path)}).token == "from systemd"


def test_a_broken_link_file_is_told(tmp_path):
    paths = find_paths({"HUBD_HOME": str(tmp_path)})
    save(paths, Link(url="http://x"))
    descriptor = os.open(file_of(paths), os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, b"not json")
    os.close(descriptor)
    with pytest.raises(HubError, match="cannot be used"):
        load(paths, {})
