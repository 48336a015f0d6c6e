"""What OpenAI's protocol can ask for beyond text, with the real model and the official client."""

import asyncio
import json
import re

import aiohttp
import msgspec
import openai
import pytest

from engine.answers import ChatAnswer, shown_tokens
from engine.chat import ChatTemplate
from engine.generate import Finished, Piece
from engine.gguf import GGUFFile
from engine.protocol import Health, Timings
from engine.tokenizer import Tokenizer

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


async def test_a_forced_tool_choice_is_refused(client):
    with pytest.raises(openai.BadRequestError, match="cannot be forced") as refused:
        await chat(client, tools=TOOLS, tool_choice="required")
    assert refused.value.param == "tool_choice"


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
