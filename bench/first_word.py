"""How long until the first word: the sample questions, asked of the running daemon.

    .venv/bin/python -m bench.first_word --token "$(.venv/bin/hubd token add bench --quiet)" \\
        [--url http://127.0.0.1:8400] [--json]

Every answerable question of samples/questions.jsonl is asked once over HTTP, streamed, after one
that does not count. Times are the client's own, from the request to the quote that the page shows
meanwhile, to the first `token` event and to `done`. ``bench/large_library.py --into`` makes the
home's library a large one, while no daemon runs.
"""

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import NamedTuple

import aiohttp

QUESTIONS = Path(__file__).parents[1] / "samples" / "questions.jsonl"


class Times(NamedTuple):
    """Seconds from the request."""

    quote: float | None
    """None where the documents do not tell."""
    first_word: float
    end: float


async def ask(session: aiohttp.ClientSession, url: str, text: str) -> Times:
    began = time.perf_counter()
    event, quote, first = "", None, None
    async with session.post(f"{url}/hub/ask", json={"text": text, "stream": True}) as response:
        response.raise_for_status()
        async for line in response.content:
            if line.startswith(b"event: "):
                event = line.decode().split()[1]
            elif event == "passages" and line.startswith(b"data: "):
                if json.loads(line[6:])["quote"]:
                    quote = time.perf_counter() - began
            elif event == "token" and first is None:
                first = time.perf_counter() - began
    if first is None:
        raise SystemExit(f"no answer to {text!r}: see hubd's log")
    return Times(quote, first, time.perf_counter() - began)


async def measure(url: str, token: str) -> dict[str, float]:
    questions = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    texts = [question["question"] for question in questions if question["answerable"]]
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        await ask(session, url, texts[0])
        times = [await ask(session, url, text) for text in texts]
        documents = await (await session.get(f"{url}/hub/documents")).json()
    first, whole = [one.first_word for one in times], [one.end for one in times]
    quotes = [one.quote for one in times if one.quote is not None]
    if not quotes:
        raise SystemExit(
            "no question was answered from a document: `hubd ingest samples/household`"
        )
    return {
        "chunks": sum(document["chunks"] for document in documents),
        "questions": len(texts),
        "quoted": len(quotes),
        "quote_median_s": round(statistics.median(quotes), 3),
        "quote_slowest_s": round(max(quotes), 3),
        "first_word_median_s": round(statistics.median(first), 3),
        "first_word_slowest_s": round(max(first), 3),
        "answer_median_s": round(statistics.median(whole), 3),
        "answer_slowest_s": round(max(whole), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8400")
    parser.add_argument("--token", required=True)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = asyncio.run(measure(arguments.url.rstrip("/"), arguments.token))
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
