"""The language model's answer from the evidence, as far as the evidence supports it.

Must not know of turns, conversations or HTTP.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from engine.client import Answered, EngineClient
from engine.protocol import ChatMessage, ChatRequest
from hubd.assistant.answers.ground import Grounded, Grounding
from hubd.settings import Assistant as Settings


async def write(
    client: EngineClient,
    messages: list[ChatMessage],
    grounding: Grounding,
    settings: Settings,
    answered: Callable[[Answered], None],
) -> AsyncGenerator[Grounded, None]:
    """The pieces that may be shown, the quote itself where the model's words do not stand.

    ``messages`` are those of ``prompt.build``; ``answered`` hears the model's token counts, where
    it came to its end.

    Raises:
        EngineUnavailable, EngineRefused: as ``EngineClient.chat``.
    """
    request = ChatRequest(
        messages=messages,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
    )
    async with aclosing(client.chat(request)) as deltas:
        async for delta in deltas:
            if isinstance(delta, Answered):
                answered(delta)
                break
            for grounded in grounding.feed(delta.text):
                yield grounded
            if grounding.complete:
                break
    for grounded in grounding.finish():
        yield grounded
