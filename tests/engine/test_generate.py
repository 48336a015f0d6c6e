"""A request's life: stop strings that never leak, and answers of the real model."""

import queue

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Engine, SamplingParams
from engine.errors import ContextLengthError, InvalidRequestError
from engine.generate import Finished, Piece, StopStrings

GREEDY = SamplingParams(temperature=0.0, max_tokens=12)


@pytest.fixture(scope="module")
def engine(model_path):
    with Engine.load(model_path, threads=1, context_length=512) as loaded:
        yield loaded


@pytest.fixture(scope="module")
def prompt(engine):
    return engine.tokenizer.encode("The capital of France is", add_special=False)


def run(engine, prompt, params):
    *pieces, finished = engine.generate_fully(prompt, params)
    assert isinstance(finished, Finished)
    return pieces, finished


stops = st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)


@given(pieces=st.lists(st.text("abc", max_size=4), max_size=12), stop=stops)
def test_stop_strings_cut_at_the_first_and_never_leak(pieces, stop):
    held = StopStrings(stop)
    shown, stopped = "", False
    for piece in pieces:
        text, stopped = held.push(piece)
        shown += text
        if stopped:
            break
    else:
        shown += held.flush()
    whole = "".join(pieces)
    ends = [whole.find(s) for s in stop if s in whole]
    assert stopped == bool(ends)
    assert not any(s in shown for s in stop)
    if not ends:
        assert shown == whole
    elif len(stop) == 1:
        assert shown == whole[: min(ends)]


def test_text_that_cannot_become_a_stop_string_is_shown_at_once():
    held = StopStrings(["\n\nUser:"])
    assert held.push("Hello\n") == ("Hello", False)
    assert held.push("World") == ("\nWorld", False)
    assert held.push("\n\nUs") == ("", False)
    assert held.push("er:") == ("", True)


def test_greedy_answers_are_the_argmax_of_the_logits(engine, prompt):
    pieces, finished = run(engine, prompt, GREEDY)
    tokens = [piece.token for piece in pieces]
    logits = engine.logits([*prompt, *tokens])
    assert tokens == np.argmax(logits, axis=1)[len(prompt) - 1 : -1].tolist()
    assert "Paris" in "".join(piece.text for piece in pieces)
    assert finished.reason == "length"


def test_the_account_adds_up(engine, prompt):
    pieces, finished = run(engine, prompt, GREEDY)
    assert finished.prompt_tokens == len(prompt)
    assert finished.completion_tokens == len(pieces) == 12
    timings = finished.timings
    assert timings.first_token_ms == pytest.approx(timings.queue_ms + timings.prefill_ms, abs=0.1)
    assert timings.decode_ms > 0
    assert timings.decode_tokens_per_s == pytest.approx(11_000 / timings.decode_ms, rel=0.01)


def test_a_seed_makes_sampling_repeatable(engine, prompt):
    params = SamplingParams(temperature=1.2, top_p=0.95, seed=11, max_tokens=12)
    first, second = (run(engine, prompt, params)[0] for _ in range(2))
    other = run(engine, prompt, SamplingParams(temperature=1.2, seed=12, max_tokens=12))[0]
    assert first == second
    assert first != other


def test_the_model_ends_its_answer_itself(engine):
    from engine.chat import Message

    prompt = engine.encode_chat([Message("user", "Say only the word hello.")])
    params = SamplingParams(temperature=0.0, max_tokens=80)
    pieces, finished = run(engine, prompt, params)
    assert finished.reason == "stop"
    assert pieces[-1].token in engine.tokenizer.end_of_generation
    assert "<|im_end|>" not in "".join(piece.text for piece in pieces)
    ignoring = SamplingParams(temperature=0.0, max_tokens=len(pieces) + 3, ignore_eos=True)
    pieces, finished = run(engine, prompt, ignoring)
    assert (finished.reason, len(pieces)) == ("length", ignoring.max_tokens)


@pytest.mark.parametrize("stop", [("Paris",), (" Par", "zzz"), ("ris.", "never")])
def test_stop_strings_end_real_answers(engine, prompt, stop):
    whole = "".join(piece.text for piece in run(engine, prompt, GREEDY)[0])
    params = SamplingParams(temperature=0.0, max_tokens=12, stop=stop)
    pieces, finished = run(engine, prompt, params)
    cut = min(at for at in map(whole.find, stop) if at >= 0)
    assert "".join(piece.text for piece in pieces) == whole[:cut]
    assert finished.reason == "stop"


def test_a_beginning_of_a_stop_string_is_shown_when_the_answer_ends(engine, prompt):
    whole = "".join(piece.text for piece in run(engine, prompt, GREEDY)[0])
    params = SamplingParams(temperature=0.0, max_tokens=12, stop=(whole[-5:] + "never",))
    assert "".join(piece.text for piece in run(engine, prompt, params)[0]) == whole


def test_a_known_prompt_is_not_computed_again(engine):
    system = engine.tokenizer.encode("You are the assistant of a home. Be brief. " * 12)
    first = [*system, *engine.tokenizer.encode("What time is it?")]
    second = [*system, *engine.tokenizer.encode("Who rang the bell?")]
    run(engine, first, GREEDY)
    pieces, finished = run(engine, second, GREEDY)
    assert finished.cached_tokens >= len(system)
    again, finished = run(engine, second, GREEDY)
    assert finished.cached_tokens == len(second) - 1
    assert again == pieces


def test_the_context_bounds_the_answer(engine):
    prompt = engine.tokenizer.encode("one two three " * 170)[:505]
    _, finished = run(engine, prompt, SamplingParams(temperature=0.0, ignore_eos=True))
    assert (finished.reason, finished.completion_tokens) == ("length", 512 - 505)


def test_prompts_that_cannot_be_computed_are_refused(engine):
    with pytest.raises(ContextLengthError, match=r"512 tokens.* context of 512"):
        next(engine.generate([5] * 512))
    with pytest.raises(InvalidRequestError, match="empty"):
        next(engine.generate([]))
    for token in (-1, 49152):
        with pytest.raises(InvalidRequestError, match="0 to 49151"):
            next(engine.generate([token]))


def test_leaving_the_iterator_cancels(engine, prompt):
    pieces = engine.generate(prompt, SamplingParams(max_tokens=400, ignore_eos=True))
    assert isinstance(next(pieces), Piece)
    pieces.close()
    assert run(engine, prompt, GREEDY)[1].timings.queue_ms < 2000


def test_forced_first_words_begin_the_answer(engine, prompt):
    params = SamplingParams(temperature=0.0, max_tokens=12, prefix=" the city of")
    text = "".join(piece.text for piece in run(engine, prompt, params)[0])
    assert text.startswith(" the city of")
    assert "Paris" in text


def test_banned_phrases_are_kept_out_of_real_answers(engine, prompt):
    params = SamplingParams(temperature=0.0, max_tokens=30, banned_phrases=("Paris", "France"))
    text = "".join(piece.text for piece in run(engine, prompt, params)[0])
    assert len(text) > 20
    assert "Paris" not in text
    assert "France" not in text


def test_pieces_carry_log_probabilities(engine, prompt):
    params = SamplingParams(temperature=0.0, max_tokens=5, logprobs=3)
    pieces, _ = run(engine, prompt, params)
    logits = engine.logits([*prompt, *(piece.token for piece in pieces)])[len(prompt) - 1 :]
    for piece, row in zip(pieces, logits, strict=False):
        expected = row - row.max() - np.log(np.exp(row - row.max()).sum())
        assert piece.logprobs.logprob == pytest.approx(expected[piece.token], abs=1e-4)
        assert piece.logprobs.top[0][0] == piece.token
        assert len(piece.logprobs.top) == 3


def test_control_tokens_are_text_where_an_answer_shows_them(engine):
    from engine.chat import Message

    prompt = engine.encode_chat([Message("user", "Say only the word hello.")])
    params = SamplingParams(temperature=0.0, max_tokens=60, ignore_eos=True)
    texts = []
    for shown in ((), (2,)):
        outcomes = queue.SimpleQueue()
        engine.scheduler.submit(engine.prepare(prompt, params, shown), outcomes.put)
        texts.append("")
        while isinstance(outcome := outcomes.get(timeout=30), Piece):
            texts[-1] += outcome.text
    assert "<|im_end|>" not in texts[0]
    assert texts[1].replace("<|im_end|>", "") == texts[0] != texts[1]
