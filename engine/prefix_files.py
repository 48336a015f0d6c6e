"""The files of the prefix store: one holds one KV block, as opaque bytes.

Form: magic, the block's own name, its parent's, its token ids (little-endian int32), a checksum,
the payload. A name is SHA-256 of the parent's name and the ids, and the first parent is the model;
so a file is found only by the very tokens it belongs to. Nothing in a file is believed: all but the
payload has to be what is expected, byte for byte, and the checksum covers everything.

Files are read, not mapped: it takes as long (33 ms for 46 MB, SHA-256 and copy included), and a
bad sector is an OSError where a map would end the process with SIGBUS, again at every start.
"""

import contextlib
import hashlib
import os
import stat
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

MAGIC = b"hubd KV block 1\n"
"""Raised with every change of the file's form: older files are then never found, and age out."""
SUFFIX = ".kv"
_NAME_BYTES = 32
_CHECKSUM_BYTES = 4
"""A CRC-32, which finds every error that is not longer than 32 bits. For 46 MB it takes 11 ms,
SHA-256 26 ms on a CPU that has instructions for it."""


class Block(msgspec.Struct, frozen=True):
    """Where a block is kept, and everything that its file must begin with."""

    path: Path
    header: bytes


class Entry(msgspec.Struct, frozen=True):
    """What a file says of itself, in agreement with its name."""

    name: bytes
    parent: bytes
    own: bytes
    """Its token ids, little-endian int32."""
    number: int
    used_at_ns: int


class Files:
    """The files of one model in a directory."""

    def __init__(self, directory: Path, model: str, block_tokens: int, block_bytes: int) -> None:
        self.directory = directory
        self.block_bytes = block_bytes
        self._block_tokens = block_tokens
        self._header_bytes = len(MAGIC) + 2 * _NAME_BYTES + 4 * block_tokens
        self.file_bytes = self._header_bytes + _CHECKSUM_BYTES + block_bytes
        form = f"{model}\n{block_tokens} tokens\n{block_bytes} bytes\n".encode()
        self._root = hashlib.sha256(MAGIC + form).digest()
        self._last: tuple[list[bytes], list[bytes]] = [], []
        """Token ids of the blocks that were named last, and their names."""

    def blocks(self, tokens: Sequence[int], first: int = 0) -> list[Block]:
        """The whole blocks of a prompt from number `first` on, each named after all tokens up to
        its end. For one thread."""
        ids, size = np.asarray(tokens, "<i4").tobytes(), 4 * self._block_tokens
        owns = [ids[at : at + size] for at in range(0, len(ids) - size + 1, size)]
        names = self._names(owns)
        parents = [self._root, *names]
        return [
            Block(
                self.directory / f"{names[number].hex()}.{number}{SUFFIX}",
                MAGIC + names[number] + parents[number] + owns[number],
            )
            for number in range(first, len(owns))
        ]

    def _names(self, owns: list[bytes]) -> list[bytes]:
        """The names of blocks with these token ids. Those of the last prompt are known: most begin
        as it does, and are named before every first token that is not all in memory."""
        known, names = self._last
        pairs = enumerate(zip(known, owns, strict=False))
        same = next((n for n, (a, b) in pairs if a != b), min(len(known), len(owns)))
        names = names[:same]
        for own in owns[same:]:
            parent = names[-1] if names else self._root
            names.append(hashlib.sha256(parent + own).digest())
        self._last = owns, names
        return names

    def read(self, block: Block, buffer: bytearray) -> bool:
        """Fill `buffer` (file_bytes,) with the file; False if it is not exactly the one expected.

        The payload is its end. Raises OSError.
        """
        if not _fill(block.path, buffer, self.file_bytes):
            return False
        file, end = memoryview(buffer), self._header_bytes
        if file[:end] != block.header:
            return False
        start = end + _CHECKSUM_BYTES
        return file[end:start] == _checksum(block.header, file[start:])

    def prompts(self, limit: int) -> Iterator[list[int]]:
        """Token ids of the prompts used last, of at most `limit` blocks together."""
        found = {entry.name: entry for entry in self._entries()}
        given = {self._root}
        for entry in sorted(found.values(), key=lambda one: (-one.used_at_ns, -one.number)):
            chain: list[Entry] = []
            name = entry.name
            while name not in given and name in found:
                chain.append(found[name])
                name = chain[-1].parent
            if chain and name in given and len(given) - 1 + len(chain) <= limit:
                given.update(one.name for one in chain)
                yield self._tokens_to(entry, found)

    def _entries(self) -> Iterator[Entry]:
        for path in self.directory.glob(f"*{SUFFIX}"):
            with contextlib.suppress(OSError, ValueError):  # deleted meanwhile, or not ours
                if (entry := self._entry(path)) is not None:
                    yield entry

    def _entry(self, path: Path) -> Entry | None:
        header = bytearray(self._header_bytes)
        if not _fill(path, header, self.file_bytes):
            return None
        start = len(MAGIC) + 2 * _NAME_BYTES
        parent, own = bytes(header[start - _NAME_BYTES : start]), bytes(header[start:])
        name = hashlib.sha256(parent + own).digest()
        number = int(path.name.split(".")[1])
        if header != MAGIC + name + parent + own or path.name != f"{name.hex()}.{number}{SUFFIX}":
            return None
        return Entry(name, parent, own, number, path.lstat().st_mtime_ns)

    def _tokens_to(self, entry: Entry, found: dict[bytes, Entry]) -> list[int]:
        """The ids from the beginning of the prompt to the end of this block."""
        parts = [entry.own]
        while entry.parent != self._root:
            entry = found[entry.parent]
            parts.append(entry.own)
        ids: list[int] = np.frombuffer(b"".join(reversed(parts)), "<i4").tolist()
        return ids


def write(block: Block, payload: bytes | memoryview) -> None:
    """Write a file whole or not at all, readable by its owner alone. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(dir=block.path.parent, suffix=".part")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(block.header)
            file.write(_checksum(block.header, payload))
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(block.path)
    except BaseException:
        unlink(Path(temporary))
        raise


def unlink(path: Path) -> None:
    """Delete a file, if that is possible."""
    with contextlib.suppress(OSError):
        path.unlink()


def _checksum(header: bytes, payload: bytes | memoryview) -> bytes:
    return zlib.crc32(payload, zlib.crc32(header)).to_bytes(_CHECKSUM_BYTES, "little")


def _fill(path: Path, buffer: bytearray, file_bytes: int) -> bool:
    """Fill the buffer with the beginning of a file; False for what is no file of `file_bytes`.

    Raises OSError.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != file_bytes:
            return False
        view = memoryview(buffer)
        while view and (count := os.readv(descriptor, [view])):
            view = view[count:]
        return not view
    finally:
        os.close(descriptor)
