"""What a step gave is shown while the next is computed, and a step too many is given back."""

import pytest

from engine.generate import Generation


def watched(model, monkeypatch):
    """How many sequences each step computes, where what the one before gave is shown meanwhile."""
    overlapped, step = [], model.step

    def counted(parts, meanwhile=None):
        if meanwhile is not None:
            overlapped.append(len(parts))
        return step(parts, meanwhile)

    monkeypatch.setattr(model, "step", counted)
    return overlapped


def test_what_a_step_gave_is_shown_while_the_next_is_computed(home, monkeypatch):
    overlapped = watched(home.model, monkeypatch)
    traffic = home.batch(200)
    for number in range(3):
        traffic.submit(20 + number, number or None, tokens=20)
    traffic.run()
    traffic.check()
    assert sum(overlapped) > 3 * 15


@pytest.mark.parametrize("biased", [False, True])
def test_an_answer_that_ended_unseen_gives_back_the_step_too_many(home, monkeypatch, biased):
    """Its stop string is found while the next step computes for it; the other goes on. Biased:
    several tokens are right at once, and those after the stop string do not count."""
    overlapped, stopped = watched(home.model, monkeypatch), 0
    for stop_at in range(8, 24):
        traffic = home.batch(200)
        traffic.submit(64, tokens=40, biased=biased, stop_at=stop_at)
        traffic.submit(50, 1, tokens=30)
        while not traffic.ended:
            traffic.step()
        ended = traffic.tickets[traffic.ended[0]]
        assert not ended.request.sequences
        tokens = ended.request.tokens
        assert traffic.cache.cached_length(tokens) == (len(tokens) - 1) // 32 * 32
        traffic.submit(64, tokens=40, biased=biased)  # on what is cached of it
        traffic.run()
        stopped += traffic.outcomes[0][-1].reason == "stop"
        traffic.check()
    assert overlapped
    assert stopped >= 4  # elsewhere its text is half a character


def test_a_step_too_many_that_fails_does_not_take_the_answer_along(home, monkeypatch):
    real = home.model.step
    traffic = home.batch(200)
    traffic.submit(40, tokens=30, stop_at=9)

    def step(parts, meanwhile=None):
        if parts[0].sequence.length >= 40 + len(traffic.expected[0]) - 1:
            raise MemoryError("no room")
        return real(parts, meanwhile)

    monkeypatch.setattr(home.model, "step", step)
    traffic.run()
    traffic.check()


def test_right_guesses_after_a_stop_string_do_not_count(home, monkeypatch):
    """The stop string ends within what one step chose, several right guesses in a row."""
    cut, pieces = [], Generation.pieces

    def counted(self):
        chosen = len(self._unshown)
        shown = pieces(self)
        cut.append(chosen - len(shown))
        return shown

    monkeypatch.setattr(Generation, "pieces", counted)
    for stop_after in range(20, 36):
        traffic = home.batch(200)
        traffic.submit(64, tokens=60, biased=True, stop_after=stop_after)
        traffic.run()
        request = traffic.tickets[0].request
        assert request.tokens[64:].tolist() == traffic.expected[0]
        assert traffic.cache.cached_length(request.tokens) >= (len(request.tokens) - 1) // 32 * 32
        traffic.check()
    assert sum(count > 0 for count in cut) >= 4
