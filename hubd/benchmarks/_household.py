"""The prompts that the hub sends for questions about a folder of documents."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec

from engine.protocol import ChatMessage
from hubd.assistant.answers import prompt
from hubd.config import load_config
from hubd.daemon import open_models
from hubd.events import NoticeBoard
from hubd.paths import create_directories, find_paths
from rag.evaluate import Case, read_cases
from rag.library import Library
from rag.types import Evidence, Passage


class Found(NamedTuple):
    """An answerable question, and what the library gives for it."""

    case: Case
    passages: list[Passage]
    evidence: Evidence


async def prompts_of(folder: Path, questions: Path) -> list[list[ChatMessage]]:
    """One for each answerable question of a file in the form of `rag.evaluate`, in its order.

    Raises as `found_in`.
    """
    return [
        prompt.build(found.case.question, found.evidence)
        for found in await found_in(folder, questions)
    ]


async def found_in(folder: Path, questions: Path) -> list[Found]:
    """For each answerable question, in its order.

    Reads the folder into a library of its own, with the configured embedder. Raises HubError,
    RagError, EngineError, OSError or ValueError.
    """
    real, home = find_paths(), Path(tempfile.mkdtemp(prefix="hubd-bench-"))
    surroundings = {**os.environ, "HUBD_HOME": str(home)}
    paths = msgspec.structs.replace(find_paths(surroundings), models=real.models)
    config = load_config(real.config_file)
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        stack.callback(shutil.rmtree, paths.run, ignore_errors=True)
        create_directories(paths)
        _, embedder, read = await open_models(stack, config, paths, NoticeBoard())
        library = await Library.open(paths.database, embedder=embedder, uploads=paths.uploads)
        stack.push_async_callback(library.close)
        library.read = read
        await library.ingest([folder])
        answered = []
        for case in read_cases(questions):
            if case.answerable:
                found = await library.retrieve(case.question, config.rag.passages)
                evidence = await library.evidence(case.question, found.passages)
                answered.append(Found(case, found.passages, evidence))
        return answered
