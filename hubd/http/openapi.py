"""``GET /openapi.json``: the application's own routes as an OpenAPI 3.1 document.

https://spec.openapis.org/oas/v3.1.0. Made from the routes that the router really has and from the
types that validate their requests, so that it cannot tell of something else. Which token a route
asks for comes from the table that refuses the others.
"""

import asyncio
import inspect
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from aiohttp import web

import hubd
from hubd.http import replies
from hubd.http.body import error_body, reply
from hubd.http.callers import COOKIE, rule_of
from hubd.http.described import JSON, Described, describe, described

VERSION = "3.1.0"
SCHEMAS = "#/components/schemas/{name}"
TOKEN_PATH = "/token/{secret}"
ERRORS = (replies.Error, replies.OpenAiError, replies.OllamaError)
SECURITY: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]
_PARAMETER = re.compile(r"\{([^}:]+)[^}]*\}")


@describe(reply=dict[str, Any])
async def openapi(request: web.Request) -> web.StreamResponse:
    """This document."""
    return reply(await asyncio.to_thread(document, request.app))


def document(app: web.Application) -> dict[str, Any]:
    """Every route of the application, with what it takes and gives.

    Raises:
        LookupError: a handler has no description.
    """
    routes = list(_routes(app))
    schemas, components = _schemas([said for _, _, said, _ in routes])
    paths: dict[str, dict[str, Any]] = {}
    for method, path, said, told in routes:
        paths.setdefault(path, {})[method.lower()] = _operation(method, path, said, told, schemas)
    return {
        "openapi": VERSION,
        "info": {
            "title": "hubd",
            "version": hubd.__version__,
            "description": "A home smart hub; docs/http-api.md says what the routes mean.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
        },
    }


def _routes(app: web.Application) -> Iterator[tuple[str, str, Described, str]]:
    """Method, path, description and docstring; HEAD is GET without its body and not told of."""
    for route in app.router.routes():
        if route.method != "HEAD" and route.resource is not None:
            told = inspect.getdoc(route.handler) or ""
            yield route.method, route.resource.canonical, described(route.handler), told


def _schemas(all_said: list[Described]) -> tuple[dict[Any, Any], dict[str, Any]]:
    """The JSON schema of each type that is named, by its ``repr``, and what they refer to."""
    types: dict[str, Any] = {repr(kind): kind for kind in ERRORS}
    for said in all_said:
        for kind in (said.body, said.query, said.reply, *said.others.values()):
            if kind is not None and not isinstance(kind, str):
                types[repr(kind)] = kind
    made, components = msgspec.json.schema_components(types.values(), ref_template=SCHEMAS)
    return dict(zip(types, made, strict=True)), components


def _operation(
    method: str, path: str, said: Described, told: str, schemas: dict[Any, Any]
) -> dict[str, Any]:
    """An OpenAPI operation object."""
    plain = path.removeprefix(TOKEN_PATH)
    rule = rule_of(method, plain)
    is_open = rule.scope == "open" or plain != path
    operation: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{method.lower()}{path}").rstrip("_"),
        "summary": told.partition("\n")[0],
        "parameters": _parameters(path, said),
        "responses": _responses(plain, said, schemas),
        "security": [] if is_open else SECURITY,
        "x-hubd-scope": rule.scope,
    }
    if said.body is not None and method not in ("GET", "DELETE"):
        operation["requestBody"] = {"content": _body(said, schemas)}
    return operation


def _parameters(path: str, said: Described) -> list[dict[str, Any]]:
    """Those in the path, and the fields of the query's type."""
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(path)
    ]
    if said.query is not None:
        _, named = msgspec.json.schema_components([said.query], ref_template=SCHEMAS)
        schema = named[said.query.__name__]
        found += [
            {
                "name": name,
                "in": "query",
                "required": name in schema.get("required", ()),
                "schema": kind,
            }
            for name, kind in schema["properties"].items()
        ]
    return found


def _body(said: Described, schemas: dict[Any, Any]) -> dict[str, Any]:
    """What may be sent, by its media type."""
    content: dict[str, Any] = {JSON: {"schema": schemas[repr(said.body)]}}
    if said.form:
        content["application/x-www-form-urlencoded"] = {"schema": schemas[repr(said.body)]}
    if said.files:
        one = {"type": "string", "format": "binary"}
        files = {"type": "array", "items": one, "minItems": 1}
        schema = {"type": "object", "properties": {"file": files}, "required": ["file"]}
        content["multipart/form-data"] = {"schema": schema}
    return content


def _responses(path: str, said: Described, schemas: dict[Any, Any]) -> dict[str, Any]:
    """What may come back; every status that is not named is an error in its clients' form."""
    content: dict[str, Any] = {said.streamed: {}} if said.streamed else {}
    if isinstance(said.reply, str):
        content[said.reply] = {}
    else:
        content[JSON] = {"schema": schemas[repr(said.reply)]}
    found: dict[str, Any] = {str(said.status): {"description": "Done.", "content": content}}
    error = schemas[repr(error_kind(path))]
    for status, kind in said.others.items():
        schema = {"anyOf": [schemas[repr(kind)], error]} if status >= 400 else schemas[repr(kind)]
        found[str(status)] = {
            "description": "See the fields.",
            "content": {JSON: {"schema": schema}},
        }
    found["default"] = {"description": "An error.", "content": {JSON: {"schema": error}}}
    return found


def error_kind(path: str) -> type[msgspec.Struct]:
    """The form of the path's errors, found by making one."""
    body = error_body(path, "code", "message", "hint", 400)
    for kind in ERRORS:
        try:
            msgspec.convert(body, kind)
        except msgspec.ValidationError:
            continue
        return kind
    raise LookupError(f"errors of {path} have a form that is not described")


ROUTES = [web.get("/openapi.json", openapi)]
