"""Why a file was not read, on a Chinese page: every reason that the code can give has its words."""

import ast
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from playwright.sync_api import Page, expect

from rag import file_reader, files, ingest, load_worker, loaders
from rag.loaders import _SIGNATURES
from tests.e2e.conftest import Hub

pytestmark = pytest.mark.browser

READ_MS = 60_000
TOLD = {"LoadError", "FoundFile", "LoadReply", "RecogniseReply", "FileReport"}
"""What is given a reason: the first argument of the error, ``reason`` of the others."""


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("papers")


@pytest.fixture(scope="module")
def hub(start: Callable[..., Hub], tmp_path_factory: pytest.TempPathFactory, papers: Path) -> Hub:
    return start(
        tmp_path_factory.mktemp("reasons"),
        HUBD_ENGINE_PRELOAD="false",
        HUBD_RAG_PRELOAD="false",
        HUBD_RAG_FOLDERS=str(papers),
    )


@pytest.fixture
def page(hub: Hub, open_page: Callable[..., Page]) -> Page:
    page = open_page(hub.page())
    page.goto(f"{hub.url}/#/documents")
    page.evaluate("localStorage.setItem('hubd.language', 'zh')")
    page.reload()
    expect(page.locator("#documents-title")).to_have_text("文档")
    return page


def modules() -> Iterator[ModuleType]:
    yield from (files, ingest, load_worker, loaders, file_reader)
    for path in sorted(Path(*loaders.__path__).glob("[a-z]*.py")):
        yield importlib.import_module(f"rag.loaders.{path.stem}")


def filled(node: ast.expr, module: ModuleType) -> str | None:
    """A text as it may be told, with 7 where it varies; ``None`` for what another call makes."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) | ast.Attribute(attr=name):
            text = getattr(module, name, None) or getattr(files, name, None)
            return text if isinstance(text, str) else None
        case ast.JoinedStr(values=parts):
            return "".join(
                part.value
                if isinstance(part, ast.Constant)
                else (isinstance(part.value, ast.Name) and filled(part.value, module)) or "7"
                for part in parts
            )
    return None


def reasons() -> Iterator[str]:
    for module in modules():
        assert module.__file__ is not None
        for call in ast.walk(ast.parse(Path(module.__file__).read_text())):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute)):
                continue
            name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
            if name not in TOLD:
                continue
            given = [pair.value for pair in call.keywords if pair.arg == "reason"]
            for node in call.args[:1] if name == "LoadError" else given:
                if text := filled(node, module):
                    yield text
    for what in _SIGNATURES.values():
        yield f"named .pdf, but the content is {what}"


def test_every_reason_has_its_words(page):
    told = sorted(set(reasons()))
    assert len(told) > 50
    words = page.evaluate(
        """async (told) => {
            const { reasonInWords } = await import("/static/reasons.js");
            return told.map(reasonInWords);
        }""",
        told,
    )
    assert [reason for reason, word in zip(told, words, strict=True) if reason == word] == []
    # English words that are left are names: of programs, types, companies.
    english = [word for word in words if " the " in word or " is " in word or " cannot " in word]
    assert english == []


def test_a_file_of_the_wrong_type_is_told_in_chinese(page, papers):
    (papers / "wrong.pdf").write_bytes(b"GIF89a and so on")
    (papers / "photo.heic").write_bytes(b"\x00\x00\x00\x18ftypheic")
    rows = page.locator(".document-list li")
    expect(rows.filter(has_text="wrong.pdf")).to_contain_text(
        "未读取：扩展名是 .pdf，内容却是 GIF 图片", timeout=READ_MS
    )
    expect(rows.filter(has_text="photo.heic")).to_contain_text(
        "不能读取 .heic 类型的文件，请另存为 PDF，图片请另存为 JPEG", timeout=READ_MS
    )
