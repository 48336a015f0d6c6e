"""What OpenAI's protocol can ask for beyond text, with the real model and the official client."""

import asyncio
import json
import re

import aiohttp
import msgspec
import numpy as np
import openai
import pytest

from engine.answers import ChatAnswer, shown_tokens
from engine.chat import ChatTemplate
from engine.chat_parse import CONVENTIONS, ChatParser, ToolCall
from engine.generate import Finished, Piece
from engine.gguf import GGUFFile
from engine.protocol import Health, Timings
from engine.structured import Guides
from engine.tokenizer import Tokenizer
from engine.tool_choice import call_grammar

MODEL = "SmolLM2-135M-Instruct.Q4_1"
HELLO = [{"role": "user", "content": "Set a timer for five minutes."}]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "set_timer",
            "description": "Starts a timer.",
            "parameters": {"type": "object", "properties": {"minutes": {"type": "integer"}}},
        },
    }
]
# Makes a model of any size call the tool, as larger ones do of their own accord.
CALLS = (
    r"(On it\. )?<tool_call>\n"
    r'\{"name": "set_timer", "arguments": \{"minutes": [1-9]\}\}\n</tool_call>'
)


@pytest.fixture(scope="module")
def url(start_engine):
    process = start_engine("--port", "0", "--context-length", "1024")

    async def until_ready():
        async with aiohttp.ClientSession(process.address) as session, asyncio.timeout(60):
            while True:
                async with session.get("/health") as response:
                    state = msgspec.json.decode(await response.read(), type=Health)
                if state.status == "ready":
                    return
                await asyncio.sleep(0.05)

    asyncio.run(until_ready())
    return process.address


@pytest.fixture
async def client(url):
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        yield client


def chat(client, **request):
    given = {"model": MODEL, "messages": HELLO, "max_tokens": 60, "temperature": 0}
    return client.chat.completions.create(**{**given, **request})


async def test_tool_calls_whole_and_streamed(client):
    request = {"tools": TOOLS, "extra_body": {"guided_regex": CALLS}}
    (choice,) = (await chat(client, **request)).choices
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.message.tool_calls
    assert call.function.name == "set_timer"
    assert set(json.loads(call.function.arguments)) == {"minutes"}
    assert choice.message.content in (None, "On it.")
    chunks = [chunk async for chunk in await chat(client, stream=True, **request)]
    deltas = [chunk.choices[0].delta for chunk in chunks]
    (streamed,) = [call for delta in deltas for call in delta.tool_calls or ()]
    assert streamed.index == 0
    assert streamed.function.model_dump() == call.function.model_dump()
    assert "".join(delta.content or "" for delta in deltas) == (choice.message.content or "")
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


async def test_a_tool_result_goes_back_into_the_conversation(client):
    request = {"tools": TOOLS, "extra_body": {"guided_regex": CALLS}}
    first = (await chat(client, **request)).choices[0].message
    result = {
        "role": "tool",
        "tool_call_id": first.tool_calls[0].id,
        "content": "The timer runs.",
    }
    messages = [*HELLO, first.model_dump(exclude_none=True), result]
    answer = await chat(client, messages=messages, tools=TOOLS, max_tokens=8)
    assert answer.choices[0].message.content
    assert answer.usage.prompt_tokens > 60


async def test_without_tools_the_same_text_is_an_answer(client):
    answer = await chat(client, extra_body={"guided_regex": CALLS})
    assert "<tool_call>" in answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    answer = await chat(client, tools=TOOLS, tool_choice="none", extra_body={"guided_regex": CALLS})
    assert "<tool_call>" in answer.choices[0].message.content


STRICT = {
    "type": "function",
    "function": {
        "name": "set_timer",
        "parameters": {
            "type": "object",
            "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 99}},
            "additionalProperties": False,
        },
    },
}
BROKEN = {"type": "function", "function": {"name": "x", "parameters": {"type": 3}}}
LIGHT = {
    "type": "function",
    "function": {
        "name": "set_light",
        "parameters": {
            "type": "object",
            "properties": {"room": {"$ref": "#/$defs/room"}},
            "required": ["room"],
            "additionalProperties": False,
            "$defs": {"room": {"enum": ["kitchen", "attic"]}},
        },
    },
}


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("required", {"set_timer", "set_light"}),
        ({"type": "function", "function": {"name": "set_light"}}, {"set_light"}),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_call_that_is_demanded_is_made_and_valid(client, choice, names, seed):
    request = {"tools": [STRICT, LIGHT], "tool_choice": choice, "temperature": 1, "seed": seed}
    (answer,) = (await chat(client, **request)).choices
    assert answer.finish_reason == "tool_calls"
    assert not answer.message.content
    (call,) = answer.message.tool_calls
    assert call.function.name in names
    arguments = json.loads(call.function.arguments)
    if call.function.name == "set_light":
        assert arguments in ({"room": "kitchen"}, {"room": "attic"})
    chunks = [chunk async for chunk in await chat(client, stream=True, **request)]
    parts = [part for chunk in chunks for part in chunk.choices[0].delta.tool_calls or ()]
    assert [part.function.model_dump() for part in parts] == [call.function.model_dump()]


ONE_CALL = CALLS.removeprefix(r"(On it\. )?")
TWO_CALLS = rf"{ONE_CALL}\n{ONE_CALL}"


async def test_one_call_at_a_time_if_asked(client):
    request = {"tools": TOOLS, "extra_body": {"guided_regex": TWO_CALLS}, "max_tokens": 120}
    both = (await chat(client, **request)).choices[0].message.tool_calls
    one = (await chat(client, parallel_tool_calls=False, **request)).choices[0]
    assert len(both) == 2
    assert [call.function for call in one.message.tool_calls] == [both[0].function]
    assert one.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("request_", "param", "message"),
    [
        ({"tool_choice": "required"}, "tools", "no tools are there"),
        ({"tools": TOOLS, "tool_choice": "always"}, "tool_choice", "must be 'auto'"),
        (
            {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "tool_choice",
            "no tool 'x'",
        ),
        (
            {"tools": TOOLS, "tool_choice": "required", "response_format": {"type": "json_object"}},
            "response_format",
            "exclude each other",
        ),
        ({"tools": [BROKEN], "tool_choice": "required"}, "tools", "tools: "),
    ],
)
async def test_demands_that_make_no_sense(client, request_, param, message):
    with pytest.raises(openai.BadRequestError, match=message) as refused:
        await chat(client, **request_)
    assert refused.value.param == param


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("thinking", [False, True])
def test_the_grammar_of_every_convention_makes_calls_that_are_read(tokenizer, convention, thinking):
    """Any answer it lets through, here by random choice among the tokens allowed."""
    grammar = call_grammar(convention, tokenizer.control, [*TOOLS, LIGHT], thinking=thinking)
    guides, rng = Guides(tokenizer), np.random.default_rng(3)
    parser = ChatParser(convention, ["set_timer", "set_light"], thinks=thinking, thinking=thinking)
    guide, events = guides.guide(grammar), []
    while not guide.complete:
        token = int(rng.choice(np.flatnonzero(guide.mask())))
        guide.accept(token)
        events += parser.push(tokenizer.decode([token]))
    guides.close()
    events += parser.finish()
    (call,) = [event for event in events if isinstance(event, ToolCall)]
    assert len(events) == 1
    assert call.name in ("set_timer", "set_light")
    assert isinstance(json.loads(call.arguments), dict)


async def test_response_formats(client):
    schema = {
        "type": "object",
        "properties": {"minutes": {"type": "integer", "maximum": 99, "minimum": 0}},
        "required": ["minutes"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "timer", "schema": schema}}
    answer = await chat(client, response_format=form, temperature=1, seed=4)
    assert set(json.loads(answer.choices[0].message.content)) == {"minutes"}
    answer = await chat(client, response_format={"type": "json_object"}, max_tokens=200)
    if answer.choices[0].finish_reason == "stop":
        assert isinstance(json.loads(answer.choices[0].message.content), dict)
    assert answer.choices[0].message.content.startswith("{")
    answer = await chat(client, response_format={"type": "text"}, max_tokens=4)
    assert answer.choices[0].message.content
    regex = {"guided_regex": "(red|green) (cat|dog)"}
    texts = await client.completions.create(model=MODEL, prompt="A", n=2, extra_body=regex)
    assert all(re.fullmatch("(red|green) (cat|dog)", choice.text) for choice in texts.choices)


@pytest.mark.parametrize(
    ("request_", "param"),
    [
        ({"extra_body": {"guided_regex": "("}}, "guided_regex"),
        ({"extra_body": {"guided_grammar": "start: x"}}, "guided_grammar"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        (
            {"response_format": {"type": "json_object"}, "extra_body": {"guided_regex": "a"}},
            "response_format",
        ),
        ({"extra_body": {"mirostat": 7}}, "mirostat"),
        ({"logprobs": True, "top_logprobs": 21}, "logprobs"),
        ({"n": 9}, "n"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_what_cannot_be_done_is_refused_with_the_reason(client, request_, param, stream):
    with pytest.raises(openai.BadRequestError) as refused:
        await chat(client, stream=stream, **request_)
    assert refused.value.param == param


async def test_several_answers_share_their_prompt(client):
    request = {"n": 3, "temperature": 1, "seed": 5, "max_tokens": 10}
    answer = await chat(client, **request)
    texts = [choice.message.content for choice in answer.choices]
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert len(set(texts)) == 3
    assert answer.usage.completion_tokens <= 30
    streamed = ["", "", ""]
    stream = await chat(client, stream=True, stream_options={"include_usage": True}, **request)
    async for chunk in stream:
        for choice in chunk.choices:
            streamed[choice.index] += choice.delta.content or ""
    assert streamed == texts
    assert chunk.usage == answer.usage.model_copy(
        update={"prompt_tokens_details": chunk.usage.prompt_tokens_details}
    )
    assert texts[0] == (await chat(client, **{**request, "n": 1})).choices[0].message.content


async def test_log_probabilities(client):
    request = {"logprobs": True, "top_logprobs": 2, "max_tokens": 6}
    answer = await chat(client, **request)
    tokens = answer.choices[0].logprobs.content
    assert "".join(token.token for token in tokens) == answer.choices[0].message.content
    assert all(token.top_logprobs[0].token == token.token for token in tokens)  # greedy
    assert all(-20 < token.logprob <= 0 and len(token.top_logprobs) == 2 for token in tokens)
    stream = await chat(client, stream=True, **request)
    streamed = [
        token.token
        async for chunk in stream
        if chunk.choices[0].logprobs
        for token in chunk.choices[0].logprobs.content
    ]
    assert streamed == [token.token for token in tokens]
    older = await client.completions.create(
        model=MODEL, prompt="One, two,", logprobs=2, max_tokens=4
    )
    found = older.choices[0].logprobs
    assert "".join(found.tokens) == older.choices[0].text
    assert len(found.token_logprobs) == len(found.top_logprobs) == 4


async def test_samplers_and_first_words_by_request(client):
    extra = {
        "mirostat": 2,
        "dynamic_temperature": 0.3,
        "no_repeat_ngram": 3,
        "banned_phrases": ["timer"],
        "prefix": "Well,",
        "typical_p": 0.9,
    }
    answer = await chat(client, temperature=0.8, seed=1, extra_body=extra)
    assert answer.choices[0].message.content.startswith("Well,")
    assert "timer" not in answer.choices[0].message.content


@pytest.fixture(scope="module")
def tokenizer(model_path):
    with GGUFFile(model_path) as file:
        return Tokenizer(file.metadata)


THINKING = "{{ messages[0].content }}</think>"


@pytest.mark.parametrize(
    ("opening", "text", "reasoning", "content"),
    [
        ("assistant\n", "<think>\nSix? No.\n</think>\n\nFive.", "Six? No.", "Five."),
        ("assistant\n<think>\n", "Six? No.\n</think>\n\nFive.", "Six? No.", "Five."),
        ("assistant\n<think>\n\n</think>\n\n", "Five.", "", "Five."),
        ("assistant\n", "Five.", "", "Five."),
    ],
)
def test_reasoning_is_told_from_the_answer(tokenizer, opening, text, reasoning, content):
    prompt = tokenizer.encode("<|im_start|>" + opening, add_special=False)
    answer = ChatAnswer(ChatTemplate(THINKING), tokenizer, prompt, [])
    deltas = [
        delta
        for token in tokenizer.encode(text, add_special=False)
        for delta in answer.push(Piece(token, tokenizer.decode([token])))
    ]
    finished = Finished(
        reason="stop", prompt_tokens=1, cached_tokens=0, completion_tokens=1, timings=Timings()
    )
    choice = answer.choice(0, finished)
    deltas = [msgspec.to_builtins(delta) for delta in deltas]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == reasoning
    assert "".join(delta.get("content", "") for delta in deltas) == content
    message = msgspec.to_builtins(choice.message)
    assert message.get("reasoning_content", "") == reasoning
    assert message["content"] == content


def test_control_tokens_that_mark_calls_are_text(model_path):
    with GGUFFile(model_path) as file:
        metadata = dict(file.metadata)
    tokens = list(metadata["tokenizer.ggml.tokens"])
    tokens[7] = "[TOOL_CALLS]"  # a control token before and after
    tokenizer = Tokenizer({**metadata, "tokenizer.ggml.tokens": tokens})
    template = ChatTemplate("<|im_start|> [TOOL_CALLS]")
    assert shown_tokens(template, tokenizer, tools=True) == [7]
    assert shown_tokens(template, tokenizer, tools=False) == []
