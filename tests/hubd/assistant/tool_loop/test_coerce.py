"""Arguments brought to the kinds that a schema wants, and nothing invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.tool_loop.coerce import coerced

SCHEMA = {
    "properties": {
        "entities": {"type": "array", "items": {"type": "string"}},
        "brightness": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "minutes": {"type": "number"},
        "name": {"type": "string"},
        "loud": {"type": "boolean"},
    }
}


@pytest.mark.parametrize(
    ("name", "written", "wanted"),
    [
        ("entities", "light.desk", ["light.desk"]),
        ("entities", ["light.desk"], ["light.desk"]),
        ("brightness", "20 percent", 20),
        ("brightness", "20%", 20),
        ("brightness", 20.0, 20),
        ("brightness", [20], 20),
        ("brightness", "between 20 and 30", "between 20 and 30"),
        ("brightness", "bright", "bright"),
        ("brightness", 20.5, 20.5),
        ("minutes", "2,5", 2.5),
        ("minutes", 3, 3),
        ("name", 7, "7"),
        ("name", "tea", "tea"),
        ("loud", "yes", True),
        ("loud", "off", False),
        ("loud", True, True),
        ("unheard", {"a": 1}, {"a": 1}),
    ],
)
def test_one_argument(name, written, wanted):
    found = coerced({name: written}, SCHEMA)[name]
    assert (found, type(found)) == (wanted, type(wanted))


def test_null_is_left_out():
    assert coerced({"brightness": None, "name": "x"}, SCHEMA) == {"name": "x"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), VALUES))
def test_whatever_is_written_it_ends_and_twice_is_as_once(arguments):
    once = coerced(arguments, SCHEMA)
    assert coerced(once, SCHEMA) == once
