"""Pairing a browser, the devices' tokens and the persons of the household."""

from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd.errors import BadRequestError
from hubd.http import replies
from hubd.http.ask import area_id
from hubd.http.body import read_body, reply
from hubd.http.callers import (
    COOKIE,
    COOKIE_AGE_S,
    RefusedError,
    caller_of,
    check_patience,
    known,
)
from hubd.http.described import describe
from hubd.http.pairing import LENGTH, VALID_S, Offer
from hubd.http.services import SERVICES, Services
from hubd.http.static import page_file
from hubd.policy import OWNER, Person, Role, Scope
from hubd.store.access import Token

Name = Annotated[
    str, Meta(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$")
]
Names = Annotated[list[Annotated[str, Meta(min_length=1, max_length=120)]], Meta(max_length=100)]


class NewPerson(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    role: Role
    areas: Names | None = None
    """Ids or names of the areas where they may act; none said: everywhere."""
    tools: Names | None = None


class NewToken(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    person: Name = OWNER.name
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=5)] = ("chat", "tools")
    areas: Names | None = None
    tools: Names | None = None


class NewCode(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    person: Name = OWNER.name
    areas: Names | None = None
    tools: Names | None = None


class Pairing(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    code: Annotated[str, Meta(max_length=2 * LENGTH)]
    device: Name = "browser"


# For anybody


@describe(reply="text/html")
async def pair_page(request: web.Request) -> web.StreamResponse:
    """The page where a code is typed; a link's code is behind its ``#`` and never sent with it."""
    return await page_file(request, "pair.html")


@describe(body=Pairing, reply=replies.Paired)
async def pair(request: web.Request) -> web.StreamResponse:
    """A code for a session of its own, in a cookie that scripts cannot read."""
    check_patience(request)
    services = request.app[SERVICES]
    body = await read_body(request, Pairing)
    address = request.remote or ""
    offer = services.codes.take(body.code)
    if offer is None:
        services.backoff.failed(address)
        raise RefusedError(
            401, "unauthorized", "This code is not right, or not any more.",
            "`hubd pair` on the hub's machine shows a new one.",
        )  # fmt: skip
    services.backoff.succeeded(address)
    token, secret = await services.access.add_token(
        name=body.device, person=offer.person, scopes=offer.scopes, areas=offer.areas,
        tools=offer.tools,
    )  # fmt: skip
    role = services.access.person(offer.person).role
    response = reply({"person": token.person, "role": role, "scopes": token.scopes})
    response.set_cookie(
        COOKIE, secret, max_age=COOKIE_AGE_S, httponly=True, samesite="Strict",
        secure=request.secure, path="/",
    )  # fmt: skip
    return response


# For everybody whom the hub knows


@describe(reply=replies.Me)
async def me(request: web.Request) -> web.StreamResponse:
    """Who the caller is, and what their device may; ``person`` is null for a stranger."""
    caller = known(request)
    if caller is None:
        return reply({"person": None})
    return reply(
        {
            "person": caller.person.name,
            "role": caller.person.role,
            "scopes": sorted(caller.scopes),
            "areas": None if caller.person.areas is None else sorted(caller.person.areas),
            "tools": caller.person.tools,
        }
    )


@describe(reply=replies.Revoked)
async def logout(request: web.Request) -> web.StreamResponse:
    """The caller's own token is revoked."""
    identity = caller_of(request).token
    if not identity:
        raise BadRequestError("only a device that was paired can be logged out")
    await _revoke(request.app[SERVICES], identity)
    response = reply({"revoked": identity})
    response.del_cookie(COOKIE, path="/")
    return response


# For owners


@describe(body=NewCode, reply=replies.Code)
async def new_code(request: web.Request) -> web.StreamResponse:
    """A code for one more device."""
    services = request.app[SERVICES]
    body = await read_body(request, NewCode)
    return reply(make_code(services, _offer(services, body)))


def make_code(services: Services, offer: Offer, valid_s: float = VALID_S) -> dict[str, object]:
    """A code as it is shown, the path that uses it, and for how long."""
    code = services.codes.make(offer, valid_s)
    return {"code": code, "path": f"/pair#{code}", "person": offer.person, "valid_s": valid_s}


def offer_for(person: Person) -> Offer:
    """What a browser of that person gets: everything that their role may have."""
    scopes: tuple[Scope, ...] = ("chat", "tools")
    return Offer(
        person=person.name, scopes=(*scopes, "admin") if person.role == "owner" else scopes
    )


@describe(reply=list[replies.ShownPerson])
async def persons(request: web.Request) -> web.StreamResponse:
    """Everybody of the household."""
    return reply([_shown(person) for person in request.app[SERVICES].access.persons()])


@describe(body=NewPerson, reply=replies.ShownPerson, status=201)
async def add_person(request: web.Request) -> web.StreamResponse:
    """Somebody new."""
    services = request.app[SERVICES]
    body = await read_body(request, NewPerson)
    areas = known_areas(services, body.areas)
    person = Person(
        name=body.name.strip(),
        role=body.role,
        areas=None if areas is None else frozenset(areas),
        tools=known_tools(services, body.tools),
    )
    await services.access.add_person(person)
    return reply(_shown(person), 201)


@describe(reply=replies.Removed)
async def remove_person(request: web.Request) -> web.StreamResponse:
    """Somebody leaves; their devices open nothing any more."""
    services, name = request.app[SERVICES], request.match_info["name"]
    theirs = [token.id for token in services.access.tokens() if token.person == name]
    await services.access.remove_person(name)
    for identity in theirs:
        services.traffic.end(identity)
    return reply({"removed": True})


@describe(reply=list[Token])
async def tokens(request: web.Request) -> web.StreamResponse:
    """The devices, without their secrets."""
    return reply(request.app[SERVICES].access.tokens())


@describe(body=NewToken, reply=replies.MadeToken, status=201)
async def add_token(request: web.Request) -> web.StreamResponse:
    """A token for a program; its secret is told now and never again."""
    services = request.app[SERVICES]
    body = await read_body(request, NewToken)
    token, secret = await services.access.add_token(
        name=body.name.strip(),
        person=body.person,
        scopes=tuple(dict.fromkeys(body.scopes)),
        areas=known_areas(services, body.areas),
        tools=known_tools(services, body.tools),
    )
    return reply({"token": secret, **msgspec.structs.asdict(token)}, 201)


@describe(reply=replies.Revoked)
async def revoke_token(request: web.Request) -> web.StreamResponse:
    """A device opens nothing any more."""
    await _revoke(request.app[SERVICES], request.match_info["id"])
    return reply({"revoked": request.match_info["id"]})


async def _revoke(services: Services, identity: str) -> None:
    """The token opens nothing any more; what it had opened is closed."""
    await services.access.revoke(identity)
    services.traffic.end(identity)


def known_areas(services: Services, said: list[str] | None) -> tuple[str, ...] | None:
    """The ids of areas. Raises BadRequestError: one is not of this home."""
    if said is None:
        return None
    found = {name: area_id(services, name) for name in said}
    if missing := [name for name, identity in found.items() if not identity]:
        names = ", ".join(area.name for area in services.household.snapshot().areas) or "none"
        raise BadRequestError(f"areas: no area {missing[0]!r}; there are: {names}")
    return tuple(dict.fromkeys(found.values()))


def known_tools(services: Services, said: list[str] | None) -> tuple[str, ...] | None:
    """Names of tools or plugins. Raises BadRequestError: there is no such tool."""
    if said is None:
        return None
    names = {tool.name for tool in services.tools.tools()}
    names |= {name.partition(".")[0] for name in names}
    if missing := [name for name in said if name not in names]:
        known = ", ".join(sorted(name for name in names if "." not in name))
        raise BadRequestError(f"tools: no tool or plugin {missing[0]!r}; the plugins are: {known}")
    return tuple(dict.fromkeys(said))


def _offer(services: Services, body: NewCode) -> Offer:
    offer = offer_for(services.access.person(body.person))
    return msgspec.structs.replace(
        offer, areas=known_areas(services, body.areas), tools=known_tools(services, body.tools)
    )


def _shown(person: Person) -> dict[str, object]:
    areas = None if person.areas is None else sorted(person.areas)
    return {"name": person.name, "role": person.role, "areas": areas, "tools": person.tools}


ROUTES = [
    web.get("/pair", pair_page),
    web.post("/hub/pair", pair),
    web.get("/hub/me", me),
    web.post("/hub/logout", logout),
    web.post("/hub/pairing", new_code),
    web.get("/hub/persons", persons),
    web.post("/hub/persons", add_person),
    web.delete("/hub/persons/{name}", remove_person),
    web.get("/hub/tokens", tokens),
    web.post("/hub/tokens", add_token),
    web.delete("/hub/tokens/{id}", revoke_token),
]
