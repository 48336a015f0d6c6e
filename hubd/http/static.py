"""The chat page's files."""

from pathlib import Path

from aiohttp import web

WEB = Path(__file__).resolve().parent.parent / "web"
HEADERS = {"Cache-Control": "no-cache"}
"""Asked for every time, sent only when changed (ETag): an update is there with the next reload."""
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
"""Said here because the system's table of types differs from machine to machine."""


async def index(_: web.Request) -> web.StreamResponse:
    """The page."""
    return page_file("index.html")


def page_file(name: str) -> web.StreamResponse:
    """One of the page's own files."""
    return _file(WEB / name)


async def static(request: web.Request) -> web.StreamResponse:
    """A file of the page; nothing outside its folder."""
    try:
        path = (WEB / request.match_info["path"]).resolve()
    except ValueError as error:  # a NUL in it
        raise web.HTTPNotFound from error
    if not path.is_relative_to(WEB) or path.suffix not in TYPES or not path.is_file():
        raise web.HTTPNotFound
    return _file(path)


def _file(path: Path) -> web.StreamResponse:
    return web.FileResponse(path, headers=HEADERS | {"Content-Type": TYPES[path.suffix]})


ROUTES = [web.get("/", index), web.get("/static/{path:.+}", static)]
