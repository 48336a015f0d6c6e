"""Documents made on the spot, and an encoder by hashing for tests of mechanics.

Whether retrieval is any good is tested with the real encoder only.
"""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path

import docx
import fpdf
import numpy as np
import pytest

from rag.embed import DIMENSION, Embedder
from rag.library import Library


@cache
def direction(word: str):
    """float32 (DIMENSION,), the same for the same word."""
    digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
    chance = np.random.default_rng(int.from_bytes(digest))
    return chance.standard_normal(DIMENSION).astype(np.float32)


class HashEmbedder(Embedder):
    """Bags of hashed words: texts that share words are near. Counts what it is asked.

    A word is a direction by chance, so that signs tell as much as an encoder's.
    """

    model = "hash"
    dimension = DIMENSION

    def __init__(self):
        self.embedded = []

    async def embed(self, texts: Sequence[str]):
        self.embedded += texts
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in ["", *text.lower().split()]:
                vector += direction(word)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
async def open_library(tmp_path, embedder) -> AsyncIterator[Callable[[], Awaitable[Library]]]:
    """Opens the same library again and again; all are closed at the end."""
    opened = []

    async def open_it() -> Library:
        library = await Library.open(
            tmp_path / "hub.db", embedder=embedder, uploads=tmp_path / "uploads"
        )
        opened.append(library)
        return library

    yield open_it
    for library in opened:
        await library.close()


@pytest.fixture
async def library(open_library) -> Library:
    return await open_library()


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "papers"
    path.mkdir()
    return path


@pytest.fixture
def make_pdf():
    """``make_pdf(path, pages, **options)``: pages are lists of (text, size, style)."""

    def make(path: Path, pages: list[list[tuple[str, int, str]]], *, password: str = "") -> Path:
        pdf = fpdf.FPDF()
        if password:
            pdf.set_encryption(owner_password="owner", user_password=password)
        for lines in pages:
            pdf.add_page()
            for text, size, style in lines:
                pdf.set_font("Helvetica", style, size)
                pdf.multi_cell(0, size * 0.5, text, new_x="LMARGIN", new_y="NEXT")
                pdf.ln(3)
        pdf.output(str(path))
        return path

    return make


@pytest.fixture
def make_docx():
    def make(path: Path, paragraphs: list[tuple[str, str]]) -> Path:
        document = docx.Document()
        for text, style in paragraphs:
            document.add_paragraph(text, style=style)
        document.save(str(path))
        return path

    return make
