"""Pairing as a person does it: the command line, the printed link, the page in a real browser."""

import json
import re
import urllib.error
import urllib.request
from typing import get_args

import pytest
from playwright.sync_api import expect

from hubd import policy
from hubd.commands import access
from hubd.commands.access import reachable

LINK = re.compile(r"Open this once, to pair your browser: (http://127\.0\.0\.1:\d+/pair#\S+)")
REFUSED = "401 (Unauthorized)"


def status(url, token=""):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.browser
def test_the_first_browser_pairs_by_the_printed_link(hubd, served, open_page):
    with served() as process:
        link = LINK.search(process.log.read_text())[1]
        page = open_page(link)
        expect(page.get_by_label("Your question")).to_be_visible()
        assert page.url.endswith("/")
        assert "hubd_session" not in page.evaluate("document.cookie")
        page.goto(link)  # a second time: it goes on to the page
        expect(page.get_by_label("Your question")).to_be_visible()
        (device,) = json.loads(hubd("token", "list", "--json").stdout)
        assert device["person"] == "owner"
        assert device["name"].startswith("Chrome")
        page.close()  # before the daemon: it would complain


@pytest.mark.browser
def test_another_browser_types_the_code(hubd, served, open_page):
    with served():
        hubd("person", "add", "Ann", "--role", "guest")
        made = json.loads(hubd("pair", "--person", "Ann", "--json").stdout)
        page = open_page(made["link"].split("/pair")[0], expected=(REFUSED,))
        expect(page.get_by_role("heading", name="Pair this browser")).to_be_visible()
        page.get_by_label("Code").fill("0000-0000")
        page.get_by_role("button", name="Pair").click()
        expect(page.get_by_role("alert")).to_contain_text("not right")
        page.get_by_label("Code").fill(made["code"].lower())
        page.get_by_label("Name of this device").fill("Ann's phone")
        page.get_by_role("button", name="Pair").click()
        expect(page.get_by_label("Your question")).to_be_visible()
        assert "Ann's phone" in hubd("token", "list").stdout
        assert page.request.get(f"{page.url}hub/tokens").status == 403
        page.close()


def test_programs_have_tokens_and_lose_them(hubd, served):
    with served() as process:
        url = re.search(r"http://127\.0\.0\.1:\d+", process.log.read_text())[0]
        token = hubd("token", "add", "app", "--quiet").stdout.strip()
        assert status(f"{url}/hub/documents", token) == 200
        (listed,) = json.loads(hubd("token", "list", "--json").stdout)
        assert hubd("token", "revoke", listed["id"]).returncode == 0
        assert status(f"{url}/hub/documents", token) == 401
        assert "hubd token list" in hubd("token", "revoke", listed["id"]).stderr
        assert token not in process.log.read_text()


def test_persons_come_and_go(hubd, served):
    with served():
        assert "guest" in hubd("person", "add", "Ann", "--role", "guest").stdout
        assert "already" in hubd("person", "add", "Ann", "--role", "child").stderr
        assert "no area 'moon'" in hubd("pair", "--person", "Ann", "--area", "moon").stderr
        assert "nobody" in hubd("pair", "--person", "Bob").stderr
        assert "owner" in hubd("token", "add", "x", "--person", "Ann", "--scope", "admin").stderr
        said = hubd("person", "list").stdout
        assert [line.split()[:2] for line in said.splitlines()] == [
            ["owner", "owner"], ["Ann", "guest"],
        ]  # fmt: skip
        assert hubd("person", "remove", "Ann").returncode == 0
        assert "stays" in hubd("person", "remove", "owner").stderr


def test_a_journal_keeps_no_link(environment, served):
    environment["JOURNAL_STREAM"] = "1:2"
    with served() as process:
        assert "/pair#" not in process.log.read_text()


def test_the_command_line_knows_the_scopes_and_roles_of_the_policy():
    assert policy.SCOPES == access.SCOPES == get_args(policy.Scope)
    assert get_args(policy.Role) == access.ROLES


def test_a_link_names_an_address_that_others_can_reach():
    assert reachable("http://127.0.0.1:8400") == "http://127.0.0.1:8400"
    assert "0.0.0.0" not in reachable("http://0.0.0.0:8400")
    assert "[::]" not in reachable("http://[::]:8400")
