"""What the answer cache gains, and whether it ever answers something else than was asked.

    .venv/bin/python -m bench.answer_cache --token TOKEN [--url http://127.0.0.1:8400] [--json]

Asks a running daemon, whose library is samples/household, over HTTP; every question in a
conversation of its own. The hits are counted by the daemon (/metrics), before and after each
question. First the answerable sample questions, each three times: new, word for word, and without
capitals and its mark. Then NEAR: questions and commands beside one that was asked, which another
answer belongs to; a hit there is a wrong one. Start the daemon anew before each run: it must not
know any of them. It needs a household with a front door (`hubd home load`), and a token of the
scopes chat, tools and metrics (`hubd token add`).
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
HIT = 'hubd_answer_cache_total{outcome="hit"}'
NEAR = (
    ("What does error code E04 on the oven mean?", "What does error code E03 on the oven mean?"),
    ("What does error code E04 on the oven mean?", "What does code E04 on the dishwasher mean?"),
    ("When is the black bin emptied?", "When is the blue bin emptied?"),
    ("When may I use the garden hose?", "When may I not use the garden hose?"),
    ("How do I turn on the heating?", "How do I turn off the heating?"),
    ("How do I lock the oven?", "How do I unlock the oven?"),
    ("How do I arm the alarm system?", "How do I disarm the alarm system?"),
    ("turn on the light", "turn off the light"),
    ("lock the front door", "unlock the front door"),
    ("open the garage door", "close the garage door"),
    ("start the dishwasher", "stop the dishwasher"),
    ("what time is it", "what time is it"),
    ("is the front door locked", "is the front door locked"),
    ("how long is left on the timer", "how long is left on the timer"),
)
"""Pairs; the second is asked after the first and must be no hit. The last three are the same words,
of what depends on the time or on a device."""


class Asked(NamedTuple):
    """One question as it was answered."""

    seconds: float
    """From the request to the end of the answer."""
    hit: bool
    answer: str


async def ask(session: aiohttp.ClientSession, url: str, text: str) -> Asked:
    before = await hits(session, url)
    began = time.perf_counter()
    async with session.post(f"{url}/hub/ask", json={"text": text}) as response:
        response.raise_for_status()
        answer = (await response.json())["answer"]
    return Asked(time.perf_counter() - began, await hits(session, url) > before, answer)


async def hits(session: aiohttp.ClientSession, url: str) -> float:
    async with session.get(f"{url}/metrics") as response:
        response.raise_for_status()
        lines = (await response.text()).splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(HIT))


def worn(text: str) -> str:
    """The same words as people type them when they ask again."""
    return text.casefold().rstrip("?")


async def measure(url: str, token: str) -> dict[str, object]:
    questions = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    texts = [question["question"] for question in questions if question["answerable"]]
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:
        await ask(session, url, "What is the speed of light?")  # whatever has to load, loads
        new = [await ask(session, url, text) for text in texts]
        again = [await ask(session, url, text) for text in texts]
        otherwise = [await ask(session, url, worn(text)) for text in texts]
        near = [(pair, [await ask(session, url, text) for text in pair][1]) for pair in NEAR]
    hit = [(first, then) for first, then in zip(new, again, strict=True) if then.hit]
    rest = [(first, then) for first, then in zip(new, again, strict=True) if not then.hit]
    return {
        "questions": len(texts),
        "hits_when_new": sum(one.hit for one in new),
        "hits_word_for_word": len(hit),
        "hits_without_capitals": sum(one.hit for one in otherwise),
        "other_answers_than_before": sum(a.answer != b.answer for a, b in hit),
        "hits_first_s": _middle([first.seconds for first, _ in hit]),
        "hits_again_s": _middle([then.seconds for _, then in hit]),
        "others_first_s": _middle([first.seconds for first, _ in rest]),
        "others_again_s": _middle([then.seconds for _, then in rest]),
        "all_first_s": sum(one.seconds for one in new),
        "all_again_s": sum(one.seconds for one in again),
        "near": len(near),
        "wrong_hits": [list(pair) for pair, one in near if one.hit],
    }


def _middle(seconds: list[float]) -> float | None:
    return round(statistics.median(seconds), 3) if seconds else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8400")
    parser.add_argument("--token", required=True)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    found = asyncio.run(measure(options.url, options.token))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name.replace('_', ' ')}: {value}")


if __name__ == "__main__":
    main()
