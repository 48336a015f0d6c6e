"""Lists that Home Assistant keeps, by what its services are asked and answer."""

import pytest

from plugins.api import Entity, HomeError, ServiceResult, Snapshot
from plugins.home_lists import Entry, kept_there, key_of, read, write

ALL, NO_DELETING = 127, 5


class Context:
    """A household with to-do lists, one of which holds milk and, ticked off, eggs."""

    def __init__(self, failed=None):
        self.home = self
        self.called = []
        self._failed = failed or {}

    def snapshot(self):
        def made(name, features=ALL, **more):
            return Entity(
                id=f"todo.{name.lower().replace(' ', '_')}", name=name, state="1",
                attributes={"supported_features": features}, **more,
            )  # fmt: skip

        return Snapshot(
            entities=(
                made("Shopping List"),
                made("Chores", aliases=("the jobs list",)),
                made("Old ones", NO_DELETING),
                Entity(id="todo.described", name="Described", state="0"),
            )
        )

    async def ask(self, service, entity, data):
        assert (service, data) == ("todo.get_items", {"status": ["needs_action", "completed"]})
        return {
            "items": [
                {"summary": "milk", "uid": "1", "status": "needs_action"},
                {"summary": "eggs", "status": "completed", "due": "2026-03-27"},
            ]
        }

    async def call(self, service, entities, data):
        self.called.append((service, *entities, data))
        return ServiceResult(before=(), after=(), failed=self._failed)


def test_lists_that_can_be_worked_are_known_by_all_their_names():
    found = {key: place.id for key, place in kept_there(Context()).items()}
    assert found == {
        "shopping": "todo.shopping_list",
        "chores": "todo.chores",
        "jobs": "todo.chores",
    }
    assert key_of("the Jobs list") == "jobs"
    assert key_of("a hardware list") == "hardware"
    assert key_of("a new packing") == "packing"
    assert key_of("a list") == "shopping"


async def test_only_what_changed_is_changed():
    context = Context()
    place = kept_there(context)["shopping"]
    milk, eggs = await read(context, place)
    assert (milk.text, milk.done, eggs.done) == ("milk", False, True)
    await write(context, place, [milk, eggs])
    assert context.called == []
    milk.done = True
    await write(context, place, [milk, Entry(text="bread")])
    assert context.called == [
        ("todo.update_item", "todo.shopping_list", {"item": "1", "status": "completed"}),
        ("todo.remove_item", "todo.shopping_list", {"item": ["eggs"]}),
        ("todo.add_item", "todo.shopping_list", {"item": "bread"}),
    ]


async def test_a_change_that_was_not_made_is_said():
    context = Context(failed={"todo.shopping_list": "it is unavailable"})
    with pytest.raises(HomeError, match="Shopping List: it is unavailable"):
        await write(context, kept_there(context)["shopping"], [Entry(text="bread")])
