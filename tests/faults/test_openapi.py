"""Requests that are made from ``/openapi.json``, right ones and wrong ones, to a daemon of its own.

schemathesis makes them; every route is asked. No fault but a deliberate 503, no hang, and what
comes back is what the document says.
"""

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error  # noqa: F401
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
)

from tests.faults.conftest import SOAK

EXAMPLES = 200 if SOAK else 2
"""A route and mode."""
HANG_S = 10.0
ENDLESS = {"/hub/events"}
"""Streams that stay open; `tests/hubd/test_events.py` reads them."""
TOKEN = "a-token-that-no-request-can-revoke"
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
DELIBERATE = {"no_model", "engine_down", "storage", "busy", "stopping"}


@pytest.fixture
def asked(environment, light):
    """The daemon, and a session of its owner."""
    environment["HUBD_HTTP_TOKEN"] = TOKEN
    with light() as daemon, requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {TOKEN}"
        yield daemon, session


def is_deliberate(response):
    """Whether a 503 says what is missing, in the form of its path."""
    if "/readyz" in response.request.url:
        return True
    error = response.json()["error"]
    return isinstance(error, str) or error["code"] in DELIBERATE


def test_no_request_made_from_the_document_is_a_fault(asked):
    daemon, session = asked
    told = session.get(f"{daemon.url}/openapi.json", timeout=HANG_S).json()
    reached, statuses = set(), []
    for found in schemathesis.openapi.from_dict(told).get_all_operations():
        operation = found.ok()
        if operation.path in ENDLESS:
            continue

        def look(case):
            sent = case.call(base_url=daemon.url, session=session, timeout=HANG_S)
            where = f"{case.as_curl_command()}\n{sent.status_code} {sent.text[:300]}"
            assert sent.status_code < 500 or sent.status_code == 503, where
            assert sent.status_code != 503 or is_deliberate(sent), where
            case.validate_response(
                sent, checks=[response_schema_conformance, content_type_conformance]
            )
            reached.add((case.operation.method.upper(), case.operation.path))
            statuses.append(sent.status_code)

        for mode in MODES:
            ask(operation, mode, look)
    paths = {(m.upper(), p) for p, item in told["paths"].items() for m in item}
    assert reached == {one for one in paths if one[1] not in ENDLESS}
    assert sum(status < 300 for status in statuses) > 20
    assert sum(400 <= status < 500 for status in statuses) > 20
    assert session.get(f"{daemon.url}/healthz", timeout=HANG_S).status_code == 200


def ask(operation, mode, look):
    """A number of requests to one operation; where nothing can be wrong, only right ones."""
    strategy = operation.as_strategy(generation_mode=mode)
    run = settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=not SOAK,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )(given(case=strategy)(look))
    try:
        run()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, operation.label
