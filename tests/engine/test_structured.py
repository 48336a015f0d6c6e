"""Answers that follow a grammar, from the real model."""

import json
import re
import time

import pytest

from engine import Engine, SamplingParams
from engine.errors import InvalidRequestError
from engine.sampling_params import Grammar

# Short names: every token of them is one step of the model.
SCHEMA = {
    "type": "object",
    "properties": {
        "r": {"enum": ["kitchen", "hall", "garden"]},
        "m": {"type": "integer", "minimum": 1, "maximum": 90},
        "n": {"type": "string", "maxLength": 4},
    },
    "required": ["r", "m", "n"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def engine(model_path):
    with Engine.load(model_path, threads=1, context_length=512) as loaded:
        yield loaded


@pytest.fixture(scope="module")
def prompt(engine):
    return engine.tokenizer.encode("Set a timer in the kitchen. As JSON: ")


def answer(engine, prompt, grammar, **params):
    params = {"max_tokens": 120, **params}
    *pieces, finished = engine.generate_fully(prompt, SamplingParams(grammar=grammar, **params))
    return "".join(piece.text for piece in pieces), finished


def follows(value):
    return (
        list(value) == ["r", "m", "n"]
        and value["r"] in ("kitchen", "hall", "garden")
        and type(value["m"]) is int
        and 1 <= value["m"] <= 90
        and isinstance(value["n"], str)
        and len(value["n"]) <= 4
    )


def test_a_hundred_seeded_answers_all_follow_the_schema(engine, prompt):
    grammar = Grammar("json_schema", json.dumps(SCHEMA))
    texts = [answer(engine, prompt, grammar, seed=n, temperature=1.5)[0] for n in range(100)]
    assert all(follows(json.loads(text)) for text in texts)
    assert len(set(texts)) > 80


@pytest.mark.parametrize("ignore_eos", [False, True])
def test_a_complete_answer_ends(engine, prompt, ignore_eos):
    grammar = Grammar("json_schema", json.dumps(SCHEMA))
    text, finished = answer(engine, prompt, grammar, temperature=0.0, ignore_eos=ignore_eos)
    assert follows(json.loads(text))
    assert finished.reason == "stop"


@pytest.mark.parametrize(
    ("kind", "text", "pattern"),
    [
        ("regex", r"(Mon|Tues)day at [0-9]{1,2}:[0-9]{2}", r"(Mon|Tues)day at \d{1,2}:\d{2}"),
        ("regex", r"[а-я]{4,6}é?👍", r"[а-я]{4,6}é?👍"),
        ("grammar", 'start: "yes" | "no" (" " /[a-z]{2}/)+ "."', r"yes|no( [a-z]{2})+\."),
    ],
)
def test_regular_expressions_and_grammars(engine, prompt, kind, text, pattern):
    for seed in range(5):
        grammar = Grammar(kind, text)
        said, finished = answer(engine, prompt, grammar, seed=seed, max_tokens=60)
        assert finished.reason == "length" or re.fullmatch(pattern, said), said


def test_a_grammar_goes_with_the_other_parameters(engine, prompt):
    grammar = Grammar("regex", "(kitchen|hall|garden)")
    params = {"banned_phrases": ("kit", "ha"), "mirostat": 2, "seed": 1}
    assert answer(engine, prompt, grammar, **params)[0] == "garden"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("regex", "("),
        ("grammar", "start: nothing"),
        ("json_schema", '{"type": "nonsense"}'),
        ("json_schema", "[1"),
        ("regex", "a" * 300_000),
        ("json_schema", '{"allOf": ' * 5000 + "{}" + "}" * 5000),
    ],
)
def test_grammars_that_cannot_be_followed_are_refused_with_the_reason(engine, prompt, kind, text):
    began = time.monotonic()
    with pytest.raises(InvalidRequestError) as refused:
        engine.prepare(prompt, SamplingParams(grammar=Grammar(kind, text, "guided")))
    assert refused.value.param == "guided"
    assert time.monotonic() - began < 5.0


def test_a_huge_regular_expression_does_not_hold_up_others(engine, prompt):
    """It is never written out: tokens come as for any other."""
    began = time.monotonic()
    text, _ = answer(engine, prompt, Grammar("regex", "((a{1,1000}){1,1000}){1,1000}b"))
    assert set(text) <= {"a", "b"}
    assert time.monotonic() - began < 20.0


def test_masks_hardly_slow_the_answer(engine, prompt):
    """A mask takes 0.3 ms on its own, and is computed beside a step of 9 ms (one thread)."""
    free = SamplingParams(temperature=0.0, max_tokens=40, ignore_eos=True)
    grammar = Grammar("regex", "(.|\n){400}")
    guided = SamplingParams(temperature=0.0, max_tokens=40, ignore_eos=True, grammar=grammar)
    rates = []
    for params in (free, guided) * 4:
        *_, finished = engine.generate_fully(prompt, params)
        rates.append(finished.timings.decode_tokens_per_s)
    assert max(rates[1::2]) > 0.6 * max(rates[::2]), rates
