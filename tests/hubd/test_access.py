"""Who may use the hub: pairing, tokens, scopes, persons; a guest does not open the garage."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.http.backoff import FREE, LONGEST_S, BackOff
from hubd.http.callers import COOKIE, RULES, rule_of
from hubd.http.pairing import LETTERS, TRIES, VALID_S, Offer, PairingCodes
from hubd.http.services import SERVICES
from hubd.policy import Person
from hubd.settings import Config, Http, Rag

HOME = """
areas: [Kitchen, Hall, Garage]
entities:
  - {id: light.kitchen, name: Kitchen light, area: Kitchen, state: "off"}
  - {id: light.hall, name: Hall light, area: Hall, state: "off"}
  - {id: cover.garage_door, name: Garage door, area: Garage, state: closed, device_class: garage}
"""
OFFER = Offer(person="owner", scopes=("chat",))


@pytest.fixture
async def hub(open_hub, tmp_path):
    """Nobody's browser: it shows nothing."""
    async with open_hub(tmp_path, Config(http=Http(token="s3cret")), paired=False) as client:
        yield client


def services(hub):
    return hub.server.app[SERVICES]


@pytest.fixture
def device(hub):
    """``await device(role, …)`` is the header of a device of a person in that role."""

    async def made(role="owner", *, scopes=("chat", "tools"), areas=None, tools=None):
        access = services(hub).access
        if role != "owner" and role not in {person.name for person in access.persons()}:
            await access.add_person(Person(name=role, role=role))
        _, secret = await access.add_token(
            name="device", person=role, scopes=scopes, areas=areas, tools=tools
        )
        return {"Authorization": f"Bearer {secret}"}

    return made


async def described(hub):
    await services(hub).described.load(HOME)


def state(hub, entity):
    found = services(hub).household.snapshot().entities
    return next(one.state for one in found if one.id == entity)


# Nobody


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/hub/documents"), ("GET", "/v1/models"), ("GET", "/api/tags"),
        ("GET", "/hub/events"), ("POST", "/hub/ask"), ("POST", "/v1/chat/completions"),
        ("POST", "/api/chat"), ("POST", "/hub/pairing"), ("GET", "/hub/tokens"),
        ("GET", "/hub/nothing"), ("POST", "/hub/tools/timers.start"), ("GET", "/metrics"),
    ],
)  # fmt: skip
async def test_a_stranger_gets_nothing_not_even_on_this_machine(hub, method, path):
    assert (await hub.request(method, path)).status == 401


async def test_a_stranger_sees_that_the_hub_lives_and_where_to_pair(hub):
    assert (await hub.get("/healthz")).status == 200
    page = await hub.get("/")
    assert page.url.path == "/pair"
    assert "Pair this browser" in await page.text()
    for path in re.findall(r'(?:src|href)="(/static/[^"]+)"', await page.text()):
        assert (await hub.get(path)).status == 200
    assert await (await hub.get("/hub/me")).json() == {"person": None}


async def test_every_route_is_for_owners_unless_the_table_says_otherwise(hub):
    for route in hub.server.app.router.routes():
        path = re.sub(r"\{[^}]*\}", "x", route.resource.canonical).removeprefix("/token/x")
        rule = rule_of(route.method, path)
        public = {"/healthz", "/readyz", "/pair", "/hub/pair", "/hub/me", "/worker.js", "/static/x"}
        public |= {"/api/webhook/x", "/api/home-assistant/notify"}
        assert (rule.scope == "open") == (path in public), (route.method, path)
    assert rule_of("GET", "/hub/something-new").scope == "admin"
    assert rule_of("DELETE", "/hub/tokens/1").scope == "admin"
    assert rule_of("GET", "/hub/askew").scope == "admin"


def test_the_table_opens_no_method_beside():
    for rule in RULES:
        if rule.scope == "open":
            assert rule_of("DELETE", rule.path).scope != "open"


# Pairing


async def code(hub, **body):
    headers = {"Authorization": "Bearer s3cret"}
    response = await hub.post("/hub/pairing", json=body, headers=headers)
    return await response.json()


async def test_a_code_makes_a_session_that_scripts_cannot_read(hub):
    made = await code(hub)
    response = await hub.post("/hub/pair", json={"code": made["code"].lower(), "device": "phone"})
    assert await response.json() == {
        "person": "owner", "role": "owner", "scopes": ["chat", "tools", "admin"],
    }  # fmt: skip
    cookie = response.cookies[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    assert (await hub.get("/hub/documents")).status == 200  # the client keeps the cookie
    assert (await (await hub.get("/hub/me")).json())["person"] == "owner"
    assert [t.name for t in services(hub).access.tokens()][-1] == "phone"
    assert (await hub.post("/hub/logout")).status == 200
    assert (await hub.get("/hub/documents")).status == 401


async def test_a_code_works_once(hub):
    made = await code(hub)
    assert (await hub.post("/hub/pair", json={"code": made["code"]})).status == 200
    assert (await hub.post("/hub/pair", json={"code": made["code"]})).status == 401


async def test_guessing_codes_has_to_wait_even_with_the_right_one(hub):
    made = await code(hub)
    for _ in range(FREE):
        assert (await hub.post("/hub/pair", json={"code": "AAAA-AAAA"})).status == 401
    refused = await hub.post("/hub/pair", json={"code": made["code"]})
    assert refused.status == 429
    assert int(refused.headers["Retry-After"]) > 0


async def test_a_guess_at_the_configured_token_waits_and_a_device_goes_on(hub, device):
    phone = await device()
    wrong, right = {"Authorization": "Bearer guess"}, {"Authorization": "Bearer s3cret"}
    assert (await hub.get("/hub/documents", headers=right)).status == 200
    for _ in range(FREE):
        assert (await hub.get("/hub/documents", headers=wrong)).status == 401
    assert (await hub.get("/hub/documents", headers=right)).status == 429
    assert (await hub.get("/hub/documents", headers=phone)).status == 200


def test_codes_end_and_are_void_after_many_wrong_ones(clock):
    codes = PairingCodes(lambda: clock().timestamp())
    ends = codes.make(OFFER)
    clock.advance(seconds=VALID_S)
    assert codes.take(ends) is None
    guessed = codes.make(OFFER)
    for _ in range(TRIES):
        assert codes.take("00000000") is None
    assert codes.take(guessed) is None


@given(st.text(max_size=20))
def test_no_text_is_a_code_that_was_not_made(text):
    codes = PairingCodes()
    made = codes.make(OFFER)
    plain = "".join(c for c in text.upper() if c in LETTERS)
    assert (codes.take(text) is None) or plain == made.replace("-", "")


def test_waiting_doubles_and_is_forgotten(clock):
    backoff = BackOff(lambda: clock().timestamp())
    waits = []
    for _ in range(FREE + 12):
        backoff.failed("a")
        waits.append(backoff.wait_s("a"))
    assert waits[: FREE - 1] == [0.0] * (FREE - 1)
    assert waits[FREE] == pytest.approx(2 * waits[FREE - 1])
    assert max(waits) == LONGEST_S
    assert backoff.wait_s("b") == 0
    clock.advance(seconds=LONGEST_S)
    assert backoff.wait_s("a") == 0
    backoff.succeeded("a")
    backoff.failed("a")
    assert backoff.wait_s("a") == 0


# Tokens


async def test_only_an_owner_has_a_token_that_manages(hub):
    headers = {"Authorization": "Bearer s3cret"}
    body = {"name": "Ann", "role": "member"}
    assert (await hub.post("/hub/persons", json=body, headers=headers)).status == 201
    body = {"name": "x", "person": "Ann", "scopes": ["admin"]}
    assert (await hub.post("/hub/tokens", json=body, headers=headers)).status == 400
    made = await hub.post("/hub/tokens", json={"name": "x", "person": "Ann"}, headers=headers)
    told = await made.json()
    assert told["scopes"] == ["chat", "tools"]
    theirs = {"Authorization": f"Bearer {told['token']}"}
    for path in ("/hub/tokens", "/hub/persons", "/hub/webhooks"):
        assert (await hub.get(path, headers=theirs)).status == 403
    listed = await (await hub.get("/hub/tokens", headers=headers)).text()
    assert told["token"] not in listed
    assert (await hub.delete(f"/hub/tokens/{told['id']}", headers=headers)).status == 200
    assert (await hub.get("/hub/documents", headers=theirs)).status == 401


async def test_a_client_without_headers_shows_its_token_in_the_address(hub, device):
    headers = await device()
    secret = headers["Authorization"].removeprefix("Bearer ")
    assert (await hub.get(f"/token/{secret}/api/tags")).status == 200
    refused = await hub.get("/token/guess/api/tags")
    assert refused.status == 401
    assert isinstance((await refused.json())["error"], str)  # in Ollama's form
    assert (await hub.get(f"/token/{secret}/hub/documents")).status in (401, 403, 404)


async def test_a_token_for_webhooks_calls_them_all_and_nothing_else(hub, device):
    headers = await device(scopes=("webhook",))
    owner = {"Authorization": "Bearer s3cret"}
    body = {"name": "tea", "action": "tool:timers.start"}
    path = (await (await hub.post("/hub/webhooks", json=body, headers=owner)).json())["path"]
    call = await hub.post(path, json={"minutes": 5}, headers=headers)
    assert call.status == 200, await call.text()
    assert (await hub.post(path, json={"minutes": 5}, headers=await device())).status == 401
    assert (await hub.post("/hub/ask", json={"text": "hello"}, headers=headers)).status == 403


# What people may


GARAGE = "open the garage door"
ASKED = "/hub/ask"


async def says(hub, headers, text, path=ASKED):
    """What the hub answers, over one of its protocols."""
    message = [{"role": "user", "content": text}]
    bodies = {
        ASKED: {"text": text, "conversation": "c"},
        "/v1/chat/completions": {"model": "household", "messages": message, "user": "c"},
        "/v1/responses": {"model": "household", "input": text},
        "/api/chat": {"model": "household", "messages": message, "stream": False},
        "/api/generate": {"model": "household", "prompt": text, "stream": False},
    }
    response = await hub.post(path, json=bodies[path], headers=headers)
    assert response.status == 200, await response.text()
    return await response.text()


PROTOCOLS = [ASKED, "/v1/chat/completions", "/v1/responses", "/api/chat", "/api/generate"]


@pytest.mark.parametrize("path", PROTOCOLS)
@pytest.mark.parametrize("role", ["guest", "child"])
async def test_a_guest_does_not_open_the_garage_whatever_they_speak(hub, device, path, role):
    await described(hub)
    headers = await device(role)
    assert f"A {role} may not do that." in await says(hub, headers, GARAGE, path)
    await says(hub, headers, "yes", path)
    assert state(hub, "cover.garage_door") == "closed"
    assert "on" in await says(hub, headers, "turn on the kitchen light", path)
    assert state(hub, "light.kitchen") == "on"


@pytest.mark.parametrize("path", PROTOCOLS)
async def test_a_member_is_asked_first(hub, device, path):
    await described(hub)
    assert "?" in await says(hub, await device("member"), GARAGE, path)
    assert state(hub, "cover.garage_door") == "closed"


async def test_a_guest_does_not_confirm_what_a_member_asked_for(hub, device):
    await described(hub)
    member, guest = await device("member"), await device("guest")
    await says(hub, member, GARAGE)
    await says(hub, guest, "yes")
    assert state(hub, "cover.garage_door") == "closed"


async def test_a_member_confirms(hub, device):
    await described(hub)
    member = await device("member")
    await says(hub, member, GARAGE)
    await says(hub, member, "yes")
    assert state(hub, "cover.garage_door") == "open"


async def test_tools_called_directly_ask_the_policy_too(hub, device):
    await described(hub)
    arguments = {"entities": ["cover.garage_door"]}
    for role, status in (("guest", 403), ("member", 409)):
        response = await hub.post(
            "/hub/tools/home.open", json=arguments, headers=await device(role)
        )
        assert response.status == status, await response.text()
    assert state(hub, "cover.garage_door") == "closed"


async def test_a_tablet_acts_in_its_own_room_only(hub, device):
    await described(hub)
    tablet = await device("member", areas=("kitchen",))
    await says(hub, tablet, "turn on the kitchen light")
    assert "may not do anything there" in await says(hub, tablet, "turn on the hall light")
    assert (state(hub, "light.kitchen"), state(hub, "light.hall")) == ("on", "off")


async def test_a_device_that_may_only_ask_changes_nothing(hub, device):
    await described(hub)
    display = await device("owner", scopes=("chat",))
    assert "may ask" in await says(hub, display, "turn on the hall light")
    assert state(hub, "light.hall") == "off"
    assert "off" in await says(hub, display, "is the hall light on?")
    files = {"file": b"text"}
    assert (await hub.post("/hub/documents", data=files, headers=display)).status == 403


async def test_guests_do_not_change_the_documents(hub, device):
    guest = await device("guest")
    assert (await hub.get("/hub/documents", headers=guest)).status == 200
    body = {"paths": ["/etc/hostname"]}
    assert (await hub.post("/hub/documents", json=body, headers=guest)).status == 403
    assert (await hub.delete("/hub/documents?document=x", headers=guest)).status == 403
    member = await device("member")
    assert (await hub.post("/hub/documents", json=body, headers=member)).status == 400


HOME_ASSISTANT = """Static Context: An overview of the areas and the devices in this smart home:
- names: Garage Door
  domain: cover
  areas: Garage
- names: Bed Light
  domain: light
  areas: Bedroom
"""


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat"])
async def test_home_assistants_own_tools_are_not_handed_to_a_guest(hub, device, path):
    def body(*texts):
        roles = ("user", "assistant")
        said = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
        tools = [
            {"type": "function", "function": {"name": name, "parameters": {"properties": {
                "name": {"type": "string"}, "domain": {"type": "array"}}}}}
            for name in ("HassTurnOn", "HassTurnOff")
        ]  # fmt: skip
        system = {"role": "system", "content": HOME_ASSISTANT}
        return {"model": "household", "messages": [system, *said], "tools": tools, "stream": False}

    async def reply(headers, *texts):
        return await (await hub.post(path, json=body(*texts), headers=headers)).text()

    guest, member = await device("guest"), await device("member")
    question = "Shall I really open the Garage Door?"
    assert "A guest may not do that." in await reply(guest, GARAGE)
    assert "tool_calls" not in await reply(guest, GARAGE, question, "yes")
    assert question in await reply(member, GARAGE)
    assert "tool_calls" in await reply(member, GARAGE, question, "yes")
    assert "tool_calls" in await reply(guest, "turn on the bed light")
    bedroom = await device("member", areas=("bedroom",))
    assert "tool_calls" in await reply(bedroom, "turn on the bed light")
    kitchen = await device("member", areas=("kitchen",))
    assert "tool_calls" not in await reply(kitchen, "turn on the bed light")


async def test_whoever_knows_anothers_conversation_does_not_hear_it(hub, device):
    owner, guest = await device(), await device("guest")
    conversations = services(hub).assistant._conversations
    await says(hub, owner, "list timers")
    assert await conversations.history("c", 10, "owner")
    assert await conversations.history("c", 10, "guest") == []
    await says(hub, guest, "list timers")
    assert len(await conversations.history("c", 10, "guest")) == 2


async def test_a_private_collection_is_there_for_those_who_may_see_it(open_hub, tmp_path):
    folder = tmp_path / "tax"
    folder.mkdir()
    (folder / "tax.md").write_text("The tax office wants 321 pounds.")
    settings = Rag(folders=[f"parents={folder}"], private=["parents: member"])
    config = Config(http=Http(token="s3cret"), rag=settings)
    async with open_hub(tmp_path / "home", config, paired=False) as hub:
        await services(hub).library.ingest([folder], collection="parents")
        access = services(hub).access
        headers = {}
        for role in ("member", "guest"):
            await access.add_person(Person(name=role, role=role))
            _, secret = await access.add_token(
                name="device", person=role, scopes=("chat",), areas=None, tools=None
            )
            headers[role] = {"Authorization": f"Bearer {secret}"}
        question = {"text": "What does the tax office want?"}
        for role, seen in (("member", 1), ("guest", 0)):
            mine = headers[role]
            listed = await (await hub.get("/hub/documents", headers=mine)).json()
            found = await (await hub.post("/hub/retrieve", json=question, headers=mine)).json()
            answer = await (await hub.post("/hub/ask", json=question, headers=mine)).json()
            assert (len(listed), len(found)) == (seen, seen)
            assert ("321" in answer["answer"]) == bool(seen)
            for what in ("page", "file"):
                response = await hub.get(f"/hub/documents/{what}?document=tax.md", headers=mine)
                assert response.status == (200 if seen else 404)
        async with services(hub).board.listen() as notices:
            owner = {"Authorization": "Bearer s3cret"}
            removed = await hub.delete("/hub/documents?document=tax.md", headers=owner)
            assert removed.status == 200
            notice = await notices.get()
            assert (notice.event, notice.data) == ("documents", {"files": []}), "a name for all"
