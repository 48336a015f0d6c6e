"""Requests that no client would send, to every route: refused in words, never with a fault."""

import contextlib
import random
import re

import pytest

from hubd.http.services import SERVICES
from tests.faults.conftest import SOAK

ROUNDS = 400 if SOAK else 6
"""Bodies a route."""
SAID = [{"role": "user", "content": "list timers"}]
GOOD = {
    "/hub/ask": {"text": "list timers", "conversation": "c", "language": "en", "area": ""},
    "/hub/explain": {"text": "turn on the light", "language": "en", "area": ""},
    "/hub/pair": {"code": "0000-0000", "device": "x"},
    "/hub/pairing": {"person": "owner", "areas": None, "tools": ["timers"]},
    "/hub/persons": {"name": "Ann", "role": "guest", "tools": ["timers"]},
    "/hub/tokens": {"name": "x", "person": "owner", "scopes": ["chat"], "tools": ["timers"]},
    "/hub/forget": {"words": "something"},
    "/hub/webhooks": {"name": "w", "action": "notify", "callback": ""},
    "/hub/home": {"description": "entities: []"},
    "/v1/chat/completions": {"model": "household", "messages": SAID, "user": "c", "tools": []},
    "/v1/completions": {"model": "household", "prompt": "list timers"},
    "/v1/responses": {"model": "household", "input": "list timers", "tools": []},
    "/api/chat": {"model": "household", "messages": SAID, "stream": False, "options": {}},
    "/api/generate": {"model": "household", "prompt": "list timers", "stream": False},
    "/api/show": {"model": "household"},
    "/api/pull": {"model": "household", "stream": False},
}
"""What is right, so that what is wrong in one place is looked at and not refused for another."""
SLOW = ("/hub/events",)
"""Streams that stay open."""
TEXTS = ("", "a", "list timers", "\x00", "../../etc/passwd", "😀" * 50, "x" * 5000, "-1", "null")
FIELDS = (
    "text", "conversation", "language", "area", "stream", "model", "messages", "prompt", "input",
    "tools", "name", "person", "role", "scopes", "areas", "code", "device", "k", "paths", "words",
    "description", "action", "callback", "message", "push_token", "document", "page", "content",
    "options", "keep_alive", "format", "think", "user", "dimensions", "encoding_format", "items",
)  # fmt: skip


def value(dice, depth=0):
    """Anything that JSON can say."""
    kind = dice.randrange(8 if depth < 4 else 5)
    if kind == 0:
        return dice.choice((None, True, False))
    if kind == 1:
        return dice.choice((0, -1, 2**31, 2**63, 10**30, 1e308, 0.1))
    if kind < 5:
        return dice.choice(TEXTS)
    if kind == 5:
        return [value(dice, depth + 1) for _ in range(dice.randrange(4))]
    if kind == 6:
        return {"role": dice.choice(("user", "tool", "x")), "content": value(dice, depth + 1)}
    return {dice.choice(FIELDS): value(dice, depth + 1) for _ in range(dice.randrange(6))}


def wrong(dice, path):
    """The fields that are given something else."""
    if path in GOOD:
        return dice.sample(list(GOOD[path]), min(len(GOOD[path]), dice.randrange(3)))
    return dice.sample(FIELDS, dice.randrange(8))


def routes(hub):
    """Every method and path of the application, each parameter filled in two ways."""
    for route in hub.server.app.router.routes():
        path = route.resource.canonical
        if route.method in ("HEAD", "*") or path.startswith((*SLOW, "/token/")):
            continue
        for filled in ("x", "%00%ff..%2f"):
            yield route.method, re.sub(r"\{[^}]*\}", filled, path)


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path / "home") as client:
        client.server.app[SERVICES].traffic.one = _no_limit
        yield client


def _no_limit(*_, **__):
    return contextlib.nullcontext()


@pytest.mark.parametrize("seed", range(3))
async def test_no_request_is_a_fault(hub, seed):
    dice = random.Random(seed)
    faults = []
    for method, path in routes(hub):
        for _ in range(ROUNDS):
            query = {dice.choice(FIELDS): dice.choice(TEXTS) for _ in range(dice.randrange(3))}
            body = GOOD.get(path, {}) | {name: value(dice) for name in wrong(dice, path)}
            options = {"params": query}
            if method in ("POST", "PUT"):
                options |= {"json": body} if dice.random() < 0.8 else {"data": dice.randbytes(99)}
            response = await hub.request(method, path, **options)
            said = await response.text()
            if response.status >= 500 and response.status != 503:
                faults.append((method, path, query, body, response.status, said[:200]))
    assert faults == []
