"""Text in pictures by tesseract, where Debian's ``tesseract-ocr`` is installed.

One page a call, in the loading process: tesseract gets a grey picture on its standard input and
writes words with their places on its standard output. It runs at low priority, on one thread,
within a limit of processor time of its own.
"""

import csv
import io
import os
import re
import resource
import shutil
import statistics
import subprocess
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import msgspec
from PIL import Image

from rag.errors import LoadError
from rag.language import CJK_RANGES
from rag.loaders.layout import Line, heading_levels, page_of
from rag.loaders.page import PageContent, PlacedLine
from rag.loaders.picture import open_picture

PROGRAM = "tesseract"
LANGUAGES = ("eng", "chi_sim")
"""Tried on every page, those of them that are installed."""
MISSING = "it is a scan, and tesseract is not installed (Debian: apt install tesseract-ocr)"
DOTS_PER_INCH = 300
PIXELS = 12_000_000
"""An A4 page at 300 dots an inch has 8.7 million."""
LEAST_CONFIDENCE = 30.0
"""Of 100: below it tesseract guesses at specks and drawings."""
CELL_GAP = 1.8
"""Times the line's height: a wider gap divides cells. A space is about 0.4."""
HEADING_HEIGHT = 1.4
"""Times the usual height of a line."""
_CJK_GAP = re.compile(
    f"(?<=[{CJK_RANGES}，。、；：！？（）]) +(?=[{CJK_RANGES}，。、；：！？（）])"
)
_PRIORITY = 10


class _Word(msgspec.Struct, frozen=True):
    """A word in pixels, its line named by tesseract's numbers."""

    line: tuple[int, int, int]
    left: int
    top: int
    right: int
    bottom: int
    text: str


@lru_cache(maxsize=1)
def languages() -> str:
    """Tesseract's ``-l`` for what is installed; empty where it cannot be used."""
    if shutil.which(PROGRAM) is None:
        return ""
    listed = subprocess.run(
        [PROGRAM, "--list-langs"], capture_output=True, text=True, timeout=10, check=False
    )
    installed = set(listed.stdout.split())
    return "+".join(language for language in LANGUAGES if language in installed)


def recognise(path: Path, page: int, seconds: int) -> PageContent:
    """The text of a picture, or of page ``page`` (from 1) of a scanned PDF.

    Raises:
        LoadError: tesseract is missing, failed or took too long, or the page cannot be drawn.
    """
    known = languages()
    if not known:
        raise LoadError(MISSING)
    picture = _drawn(path, page).convert("L")
    words = _words(_run(picture, known, seconds))
    return _content(words, picture.width, picture.height)


def _drawn(path: Path, page: int) -> Image.Image:
    if path.suffix.lower() == ".pdf":
        from rag.loaders.pdf import picture_of

        return picture_of(path, page, DOTS_PER_INCH, PIXELS)
    picture = open_picture(path, page)
    picture.thumbnail((PIXELS // 2_000, PIXELS // 2_000))
    return picture


def _run(picture: Image.Image, known: str, seconds: int) -> str:
    png = io.BytesIO()
    picture.save(png, "PNG", compress_level=1)

    def limit() -> None:
        os.nice(_PRIORITY)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    command = [PROGRAM, "stdin", "stdout", "-l", known, "--dpi", str(DOTS_PER_INCH), "tsv"]
    try:
        done = subprocess.run(
            command,
            input=png.getvalue(),
            capture_output=True,
            timeout=seconds,
            env={"PATH": os.environ.get("PATH", ""), "OMP_THREAD_LIMIT": "1"},
            preexec_fn=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LoadError(f"recognising a page took more than {seconds} s") from error
    except OSError as error:
        raise LoadError(f"tesseract cannot be run: {error.strerror or error}") from error
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise LoadError(f"tesseract failed on a page ({' '.join(last) or done.returncode})")
    return done.stdout.decode(errors="replace")


def _words(table: str) -> list[_Word]:
    """Words of tesseract's TSV, in reading order; those it is not sure of are left out."""
    found = []
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if not text or float(row["conf"]) < LEAST_CONFIDENCE:
            continue
        line = (int(row["block_num"]), int(row["par_num"]), int(row["line_num"]))
        left, top = int(row["left"]), int(row["top"])
        right, bottom = left + int(row["width"]), top + int(row["height"])
        found.append(_Word(line, left, top, right, bottom, text))
    return found


def _content(words: list[_Word], width: int, height: int) -> PageContent:
    lines: dict[tuple[int, int, int], list[_Word]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    if not lines:
        return PageContent("")
    usual = statistics.median(_height(line) for line in lines.values())
    printed = [_printed(line, usual, height) for line in lines.values()]
    content = page_of(printed, heading_levels([printed]))
    placed = [
        PlacedLine(
            sum(len(word.text.replace("|", "")) for word in line),
            min(word.left for word in line) / width,
            min(word.top for word in line) / height,
            (max(word.right for word in line) - min(word.left for word in line)) / width,
            _height(line) / height,
        )
        for line in lines.values()
    ]
    return msgspec.structs.replace(content, lines=placed)


def _printed(words: list[_Word], usual: float, page_height: int) -> Line:
    """A line for the layout: gaps wider than any space divide cells; CJK has no spaces."""
    pieces = [words[0].text]
    is_row = False
    for before, after in pairwise(words):
        wide = after.left - before.right > CELL_GAP * usual
        is_row |= wide
        pieces.append((" | " if wide else " ") + after.text)
    text = _CJK_GAP.sub("", "".join(pieces))
    return Line(
        text=text,
        left=float(words[0].left),
        right=float(words[-1].right),
        bottom=float(page_height - max(word.bottom for word in words)),
        top=float(page_height - min(word.top for word in words)),
        size=2 * usual if _height(words) >= HEADING_HEIGHT * usual else usual,
        is_row=is_row,
    )


def _height(words: list[_Word]) -> int:
    return max(word.bottom for word in words) - min(word.top for word in words)
