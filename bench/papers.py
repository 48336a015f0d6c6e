"""Read bench/refusals/*.txt and bench/reading/*.txt: papers of invented families, with questions.

The format stands in bench/refusals/README.md.
"""

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "refusals"
READING = Path(__file__).parent / "reading"


class Asked(NamedTuple):
    """A question about a paper."""

    question: str
    answer: str
    """Words of the paper, "" where no paper answers."""
    would_answer: str = ""
    """Where none does: a sentence that would, if it stood in the paper."""


class Paper(NamedTuple):
    """A document with its questions."""

    name: str
    text: str
    asked: list[Asked]


def read_papers(path: Path) -> list[Paper]:
    """The papers of one family.

    Raises:
        ValueError: an answer does not stand in its paper. (A calendar is read otherwise than it is
            written, so that its answers may be as they are read.)
    """
    papers = []
    for block in path.read_text(encoding="utf-8").split("\n@ "):
        name, _, rest = block.removeprefix("@ ").partition("\n")
        lines = rest.splitlines()
        text = "\n".join(line for line in lines if line[:2] not in ("? ", "! ")) + "\n"
        asked = []
        for line in lines:
            question, _, answer = (part.strip() for part in line[2:].partition(" => "))
            if line.startswith("? "):
                if not answer or (_bare(answer) not in _bare(text) and not name.endswith(".ics")):
                    raise ValueError(f"{path}: {name} does not say {answer!r}: {line}")
                asked.append(Asked(question, answer))
            elif line.startswith("! "):
                asked.append(Asked(question, "", answer))
        papers.append(Paper(name.strip(), text, asked))
    return papers


def _bare(text: str) -> str:
    return "".join(text.split())
