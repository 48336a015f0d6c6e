"""How long until the first word: the sample questions, asked of the running daemon.

    .venv/bin/python bench/first_word.py --token "$(.venv/bin/hubd token add bench --quiet)" \\
        [--url http://127.0.0.1:8400] [--json]

Every answerable question of samples/questions.jsonl is asked once over HTTP, streamed, after one
that does not count. Times are the client's own, from the request to the first `token` event and to
`done`.
"""

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path

import aiohttp

QUESTIONS = Path(__file__).parents[1] / "samples" / "questions.jsonl"


async def ask(session: aiohttp.ClientSession, url: str, text: str) -> tuple[float, float]:
    """Seconds to the first word and to the end of the answer."""
    began = time.perf_counter()
    first = None
    async with session.post(f"{url}/hub/ask", json={"text": text, "stream": True}) as response:
        response.raise_for_status()
        async for line in response.content:
            if first is None and line.startswith(b"event: token"):
                first = time.perf_counter() - began
    if first is None:
        raise SystemExit(f"no answer to {text!r}: see hubd's log")
    return first, time.perf_counter() - began


async def measure(url: str, token: str) -> dict[str, float]:
    questions = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    texts = [question["question"] for question in questions if question["answerable"]]
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        await ask(session, url, texts[0])
        times = [await ask(session, url, text) for text in texts]
    first, whole = zip(*times, strict=True)
    return {
        "questions": len(texts),
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
