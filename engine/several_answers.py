"""As many answers to one prompt as a request asks for: opened together, closed together."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from engine.answers import seeded
from engine.engine import Engine, Stream
from engine.error_replies import naming
from engine.errors import EngineError
from engine.generate import Finished, Piece
from engine.protocol import PromptTokensDetails, SamplingFields, Usage
from engine.sampling_params import SamplingParams


@asynccontextmanager
async def answers_to(
    engine: Engine,
    prompt: Sequence[int],
    params: SamplingParams,
    body: SamplingFields,
    param: str,
    shown: Sequence[int] = (),
) -> AsyncIterator[list[Stream]]:
    """As many answers to a prompt as the request asks for, side by side: the prompt is computed
    once.

    They are under way when the block begins, so that what is wrong with the request is raised
    there. Leaving the block, however it is left, ends the work.
    """
    opened: list[Stream] = []
    try:
        for index in range(body.n or 1):
            prepare = partial(engine.prepare, prompt, seeded(params, index), shown)
            with naming(param):
                request = await asyncio.to_thread(prepare) if params.grammar else prepare()
            leader = opened[0] if opened else None
            priority = body.priority or "interactive"
            opened.append(engine.stream(request, priority, leader, pin=bool(body.pin)))
        yield opened
    finally:
        for stream in opened:
            stream.close()


async def merged(streams: Sequence[Stream]) -> AsyncIterator[tuple[int, Piece | Finished]]:
    """What several answers give, as it comes, each with the number of its answer."""
    iterators = [aiter(stream) for stream in streams]
    if len(iterators) == 1:
        async for outcome in iterators[0]:
            yield 0, outcome
        return
    waiting = {asyncio.ensure_future(anext(it)): index for index, it in enumerate(iterators)}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=lambda task: waiting[task]):
                index, outcome = waiting.pop(task), task.result()
                yield index, outcome
                if not isinstance(outcome, Finished):
                    waiting[asyncio.ensure_future(anext(iterators[index]))] = index
    finally:
        for task in waiting:
            task.cancel()


async def gathered(stream: Stream) -> tuple[list[Piece], Finished]:
    """All that one answer gives, and how it ended."""
    pieces: list[Piece] = []
    async for outcome in stream:
        if not isinstance(outcome, Piece):
            return pieces, outcome
        pieces.append(outcome)
    raise EngineError("the answer has no end")


def usage_of(accounts: Sequence[Finished]) -> Usage:
    """Of several answers to one prompt."""
    prompt = accounts[0].prompt_tokens
    completion = sum(finished.completion_tokens for finished in accounts)
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion,
        prompt_tokens_details=PromptTokensDetails(accounts[0].cached_tokens),
    )
