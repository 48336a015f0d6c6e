"""What is being done with each file now: waiting, read, embedded.

For the list of documents and for whoever watches it. Knows nothing of the work itself.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from rag.files import AWAY
from rag.types import Document, Status


class Activity:
    """The files of running ingests, by path."""

    def __init__(self) -> None:
        self._files: dict[str, Document] = {}
        self._away: set[str] = set()
        self.changed: Callable[[Document], None] = lambda _: None
        """Called at once with every new state, the last one of a file too; it must not wait."""

    def queue(self, files: Iterable[Document]) -> None:
        """These wait for their turn."""
        for file in files:
            self._set(file)

    def update(self, path: str, status: Status, done: int = 0, total: int = 0) -> None:
        """``done`` of ``total`` pages or chunks of a file that was queued."""
        if file := self._files.get(path):
            self._set(msgspec.structs.replace(file, status=status, done=done, total=total))

    def finish(self, document: Document) -> None:
        """The file's work is over; ``document`` is what came of it."""
        self._files.pop(document.path, None)
        self.changed(document)

    def drop(self, paths: Iterable[str]) -> None:
        """An ingest ended before it came to these."""
        for path in paths:
            self._files.pop(path, None)

    def away(self, paths: Iterable[str], back: Iterable[str]) -> None:
        """The disks of the first are not there, those of the others are."""
        self._away.difference_update(back)
        self._away.update(paths)

    @property
    def unfinished(self) -> tuple[Document, ...]:
        """The files that wait, or are being read."""
        return tuple(self._files.values())

    @property
    def gone(self) -> frozenset[str]:
        """The paths of documents whose disks are not there."""
        return frozenset(self._away)

    def over(self, known: Sequence[Document]) -> list[Document]:
        """The documents with what is being done with them, and those to come, by name."""
        busy = dict(self._files)
        documents = []
        for document in known:
            if document.path in self._away:
                document = msgspec.structs.replace(document, reason=AWAY, away=True)
            now = busy.pop(document.path, None)
            if now is not None:
                document = msgspec.structs.replace(
                    document, status=now.status, done=now.done, total=now.total
                )
            documents.append(document)
        return sorted([*documents, *busy.values()], key=lambda document: document.document)

    def _set(self, file: Document) -> None:
        self._files[file.path] = file
        self.changed(file)
