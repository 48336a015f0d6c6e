"""Sets of questions as folders of documents: one's own, and SQuAD's form (XQuAD)."""

from pathlib import Path
from typing import Any

import msgspec

from rag.evaluate import Case


def squad(file: Path, folder: Path) -> list[Case]:
    """The questions of a SQuAD file; each paragraph becomes a document in ``folder``.

    Raises:
        OSError: it cannot be read.
        msgspec.DecodeError, KeyError: it is not of that form.
    """
    data: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    cases = []
    paragraphs = [paragraph for article in data["data"] for paragraph in article["paragraphs"]]
    for number, paragraph in enumerate(paragraphs):
        name = f"{number:04}.txt"
        (folder / name).write_text(paragraph["context"], encoding="utf-8")
        for asked in paragraph["qas"]:
            answers = asked["answers"]
            cases.append(
                Case(
                    id=str(asked["id"]),
                    question=asked["question"],
                    answerable=bool(answers),
                    document=name if answers else None,
                    answer=answers[0]["text"] if answers else None,
                )
            )
    return cases
