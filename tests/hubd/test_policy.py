"""The policy's table, whole: who may do what, and who may not."""

import itertools

import pytest

from hubd.policy import OWNER, Person, decide

EVERYWHERE: frozenset[str] = frozenset()
ROLES = ("owner", "member", "guest", "child")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("provenance", ["person", "model", "schedule", "document", "webhook"])
def test_reading_is_allowed_to_all(role, provenance):
    person = Person(name="x", role=role)
    assert decide("read", provenance, person, "home.state", EVERYWHERE).verdict == "allow"


@pytest.mark.parametrize(("risk", "role"), list(itertools.product(("act", "dangerous"), ROLES)))
@pytest.mark.parametrize("provenance", ["document", "webhook"])
def test_texts_and_messages_never_act(risk, role, provenance):
    person = Person(name="x", role=role)
    assert decide(risk, provenance, person, "home.turn_on", EVERYWHERE).verdict == "deny"


@pytest.mark.parametrize("role", ROLES)
def test_everybody_may_act(role):
    assert decide("act", "person", Person(role=role), "home.turn_on", EVERYWHERE).verdict == "allow"


@pytest.mark.parametrize(
    ("role", "verdict"),
    [("owner", "confirm"), ("member", "confirm"), ("guest", "deny"), ("child", "deny")],
)
@pytest.mark.parametrize("provenance", ["person", "model"])
def test_danger_is_confirmed_or_denied(role, verdict, provenance):
    decided = decide("dangerous", provenance, Person(role=role), "home.unlock", EVERYWHERE)
    assert decided.verdict == verdict
    assert decided.reason


def test_nobody_confirms_at_night():
    assert decide("dangerous", "schedule", OWNER, "home.unlock", EVERYWHERE).verdict == "deny"


def test_a_person_is_kept_to_their_areas_and_tools():
    tablet = Person(name="tablet", role="member", areas=frozenset({"kitchen"}), tools=("home",))
    kitchen, bedroom = frozenset({"kitchen"}), frozenset({"kitchen", "bedroom"})
    assert decide("act", "person", tablet, "home.turn_on", kitchen).verdict == "allow"
    assert decide("act", "person", tablet, "home.turn_on", bedroom).verdict == "deny"
    assert decide("read", "person", tablet, "home.state", bedroom).verdict == "allow"
    assert decide("act", "person", tablet, "lists.add", EVERYWHERE).verdict == "deny"
