"""``/openapi.json``: complete, true to what handlers validate, and valid.

That replies are of the types it names is held by the fixture ``open_hub`` in every test.
"""

import ast
import inspect
import textwrap

import pytest
from aiohttp import web
from jsonschema import Draft202012Validator

from hubd.http import app as application
from hubd.http import callers
from hubd.http.described import described
from hubd.http.openapi import document
from tests.faults.conftest import every_route

NO_BODY_TYPE = {"add", "mcp", "receive"}
"""Of these handlers, others read the body."""


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path / "home") as client:
        yield client


async def told(hub):
    return await (await hub.get("/openapi.json")).json()


async def test_every_route_of_the_running_application_is_in_it_and_no_other(hub):
    paths = (await told(hub))["paths"]
    in_document = {(method.upper(), path) for path, item in paths.items() for method in item}
    assert in_document == set(every_route(hub.server.app))
    assert len(in_document) > 60


async def test_every_operation_says_what_comes_back_and_who_may_ask(hub):
    paths = (await told(hub))["paths"]
    for path, item in paths.items():
        for method, operation in item.items():
            assert operation["summary"], path
            assert "default" in operation["responses"], path
            plain = path.removeprefix("/token/{secret}")
            rule = callers.rule_of(method.upper(), plain.replace("{", "").replace("}", ""))
            assert operation["x-hubd-scope"] == rule.scope, path
            assert bool(operation["security"]) == (rule.scope != "open" and plain == path), path


def test_types_that_are_told_of_are_those_that_handlers_validate_with():
    """The second argument of ``read_body`` and ``query`` in a handler's own source."""
    for family in application.FAMILIES:
        for handler in {route.handler for route in family.ROUTES}:
            said, found = described(handler), {"read_body": None, "query": None}
            for call in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(handler)))):
                if isinstance(call, ast.Call) and ast.unparse(call.func) in found:
                    kind = ast.unparse(call.args[1])
                    found[call.func.id] = eval(kind, vars(inspect.getmodule(handler)))
            where = f"{handler.__module__}.{handler.__name__}"
            assert found["query"] is said.query, where
            if handler.__name__ not in NO_BODY_TYPE or found["read_body"]:
                assert found["read_body"] == said.body, where


async def test_it_is_valid_and_every_reference_leads_somewhere(hub):
    found = await told(hub)
    assert found["openapi"].startswith("3.1")
    schemas = found["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    references = set()

    def walk(node):
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                references.add(node["$ref"])
            for one in node.values():
                walk(one)
        elif isinstance(node, list):
            for one in node:
                walk(one)

    walk(found)
    assert references
    assert references <= {f"#/components/schemas/{name}" for name in schemas}
    names = [one["operationId"] for item in found["paths"].values() for one in item.values()]
    assert len(names) == len(set(names))


async def test_bounds_of_fields_are_in_it(hub):
    schemas = (await told(hub))["components"]["schemas"]
    assert schemas["Ask"]["properties"]["text"]["maxLength"] == 8000
    assert schemas["Ask"]["additionalProperties"] is False
    assert schemas["Ask"]["required"] == ["text"]


def test_a_handler_without_a_description_is_named():
    async def forgotten(request):
        """Somebody's new route."""

    app = web.Application()
    app.router.add_get("/new", forgotten)
    with pytest.raises(LookupError, match="forgotten answers a route and has no @describe"):
        document(app)


async def test_whole_numbers_in_a_query_are_such_that_the_database_can_hold(hub):
    """2**63 in ``keep`` was a fault of the database."""
    for path, item in (await told(hub))["paths"].items():
        for operation in item.values():
            for one in operation["parameters"]:
                if one["schema"].get("type") == "integer" or "anyOf" in one["schema"]:
                    kinds = one["schema"].get("anyOf", [one["schema"]])
                    whole = [kind for kind in kinds if kind.get("type") == "integer"]
                    assert all(kind["maximum"] < 2**63 for kind in whole), (path, one)
    big = await hub.delete(f"/hub/conversations/x/turns?keep={2**63}")
    assert big.status == 400
