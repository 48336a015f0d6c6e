"""What stays is no work for the garbage collector."""

import gc
import weakref

import pytest

from hubd.memory import lasting, let_go


class Node:
    """An object that holds itself, so that only the collector can find it."""

    def __init__(self):
        self.itself = self


def test_what_was_made_in_the_block_is_not_looked_at_again():
    gc.collect()
    with lasting():
        kept = [[number] for number in range(50_000)]
    assert gc.get_freeze_count() >= len(kept)
    assert len(gc.get_objects()) < len(kept)


def test_the_collector_rests_in_the_block_and_works_after_it():
    with lasting():
        assert not gc.isenabled()
    assert gc.isenabled()
    seen = weakref.ref(Node())
    gc.collect()
    assert seen() is None


def test_the_collector_works_also_after_a_failure():
    with pytest.raises(ValueError, match="broken"), lasting():
        raise ValueError("broken")
    assert gc.isenabled()


def test_what_lasted_is_taken_when_it_is_let_go():
    with lasting():
        kept = Node()
    seen = weakref.ref(kept)
    del kept
    gc.collect()
    assert seen() is not None
    let_go()
    assert seen() is None
