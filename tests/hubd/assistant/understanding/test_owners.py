"""Names of two parts, as people say them."""

from hubd.assistant.understanding.lexicon import Tag, lexicon
from hubd.assistant.understanding.owners import said_otherwise
from hubd.home.model import Area, Entity, Snapshot


def household(*names):
    entities = [
        Entity(id=f"cover.c{at}", name=name, area="a", state="open")
        for at, name in enumerate(names)
    ]
    person = Entity(id="person.jonas", name="Jonas", state="home")
    areas = [Area(id="a", name="Zimmer von Jonas"), Area(id="b", name="Küche")]
    return Snapshot(version=1, areas=areas, entities=[*entities, person])


def test_the_parts_are_linked_in_many_ways():
    found = said_otherwise(household("Rollladen Terrassentür"), lexicon("de"))
    for phrase in ("rollladen an der terrassentür", "rollo an der terrassentür",
                   "jalousie terrassentür", "rollladen von der terrassentür"):  # fmt: skip
        assert found[phrase] == Tag("entity", "Rollladen Terrassentür")


def test_what_somebody_owns_and_where_they_live():
    found = said_otherwise(household("Jonas Rollo"), lexicon("de"))
    assert found["rollladen von jonas"] == Tag("entity", "Jonas Rollo")
    assert found["bei jonas"] == Tag("area", "Zimmer von Jonas")


def test_what_names_two_things_names_neither():
    found = said_otherwise(household("Rollladen Süd", "Jalousie Süd"), lexicon("de"))
    assert "rollo süd" not in found
    assert "rollo im süd" not in found


def test_its_own_word_comes_first():
    found = said_otherwise(household("Rollladen Süd", "Jalousie Süd"), lexicon("de"))
    assert found["jalousie im süd"] == Tag("entity", "Jalousie Süd")


def test_what_only_says_where_may_be_said_of_others():
    assert "rollladen in der küche" not in said_otherwise(
        household("Rollladen Küche"), lexicon("de")
    )


def test_what_plays_is_of_many_kinds():
    found = said_otherwise(household("Radio Süd"), lexicon("de"))
    assert "radio im süd" in found
    assert "fernseher im süd" not in found


def test_a_name_that_begins_with_no_kind_of_thing_stays_as_it_is():
    found = said_otherwise(household("Große Stehlampe"), lexicon("de"))
    assert not any("stehlampe" in phrase for phrase in found)


def test_other_languages_have_their_own_ways():
    assert not said_otherwise(household("Blind Kitchen"), lexicon("en"))
