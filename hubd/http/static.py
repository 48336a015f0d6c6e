"""The page's files: compressed once, sent only when changed, and kept by the service worker.

Every file carries a validator (ETag) and is asked for each time, so that an update is there with
the next reload. The service worker is written here, because only here is it known which files the
page consists of: it keeps them all under one version, so that parts of two versions never mix.
"""

import asyncio
import functools
import gzip
import hashlib
from pathlib import Path

import msgspec
from aiohttp import web

from hubd.http.described import describe

WEB = Path(__file__).resolve().parent.parent / "web"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
"""Said here because the system's table of types differs from machine to machine."""
WORTH_IT = 0.9
"""Packed only if it gets smaller than this share: a picture does not."""
WORKER = "worker.js"


class Asset(msgspec.Struct, frozen=True):
    """A file ready to be sent."""

    body: bytes
    packed: bytes | None
    """gzip, where that is worth it."""
    tag: str
    """Of the content; the packed form has ``-gz`` after it."""
    content_type: str


@describe(reply="text/html")
async def index(request: web.Request) -> web.StreamResponse:
    """The page."""
    return await page_file(request, "index.html")


async def page_file(request: web.Request, name: str) -> web.StreamResponse:
    """One of the page's own files."""
    return _answer(request, await asyncio.to_thread(_read, WEB / name))


@describe(reply="*/*")
async def static(request: web.Request) -> web.StreamResponse:
    """A file of the page; nothing outside its folder."""
    try:
        path = (WEB / request.match_info["path"]).resolve()
    except ValueError as error:  # a NUL in it
        raise web.HTTPNotFound from error
    if not path.is_relative_to(WEB) or path.suffix not in TYPES or not path.is_file():
        raise web.HTTPNotFound
    return _answer(request, await asyncio.to_thread(_read, path))


@describe(reply="text/javascript")
async def worker(request: web.Request) -> web.StreamResponse:
    """The service worker, with the list and the version of the files that it keeps."""
    return _answer(request, await asyncio.to_thread(_worker))


def _answer(request: web.Request, asset: Asset) -> web.StreamResponse:
    """The asset as this browser takes it, or 304 when it has it."""
    packed = asset.packed if _takes_gzip(request) else None
    tag = f"{asset.tag}-gz" if packed is not None else asset.tag
    response = web.Response(headers={"Cache-Control": "no-cache", "Vary": "Accept-Encoding"})
    response.etag = tag
    if any(known.value in (tag, "*") for known in request.if_none_match or ()):
        response.set_status(304)
        return response
    if packed is not None:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Type"] = asset.content_type
    response.body = asset.body if packed is None else packed
    return response


def _takes_gzip(request: web.Request) -> bool:
    """Whether Accept-Encoding names gzip with a weight above zero (RFC 9110, section 12.5.3)."""
    for part in request.headers.get("Accept-Encoding", "").split(","):
        coding, _, weight = part.replace(" ", "").partition(";q=")
        if coding.casefold() == "gzip":
            return weight.strip("0.") != "" if weight else True
    return False


def _read(path: Path) -> Asset:
    """The file as it is now; packed once for each change."""
    stat = path.stat()
    return _packed(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=256)
def _packed(path: Path, _changed_ns: int, _size: int) -> Asset:
    return _asset(path.read_bytes(), TYPES[path.suffix])


def _asset(body: bytes, content_type: str) -> Asset:
    packed = gzip.compress(body, mtime=0)
    return Asset(
        body=body,
        packed=packed if len(packed) < WORTH_IT * len(body) else None,
        tag=hashlib.sha256(body).hexdigest()[:20],
        content_type=content_type,
    )


def _worker() -> Asset:
    files = [
        path
        for path in sorted(WEB.rglob("*"))
        if path.suffix in TYPES and path.name not in (WORKER, "index.html")
    ]
    whole = "".join(_read(path).tag for path in [*files, WEB / "index.html", WEB / WORKER])
    kept = ["/", *(f"/static/{path.relative_to(WEB).as_posix()}" for path in files)]
    version = hashlib.sha256(whole.encode()).hexdigest()[:12]
    head = f"const VERSION = {version!r};\nconst FILES = {msgspec.json.encode(kept).decode()};\n"
    return _asset(head.encode() + (WEB / WORKER).read_bytes(), TYPES[".js"])


ROUTES = [
    web.get("/", index),
    web.get(f"/{WORKER}", worker),
    web.get("/static/{path:.+}", static),
]
