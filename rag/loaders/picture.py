"""Pictures as documents: opened with Pillow, within bounds, turned the way they were taken.

A picture has no text: each of its pages (a TIFF may have many) waits to be recognised.
"""

from pathlib import Path

from PIL import Image, ImageOps, UnidentifiedImageError

from rag.errors import LoadError
from rag.loaders.page import LoadedDocument, PageContent

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
PIXELS = 60_000_000
"""A page at 600 dots an inch has 35 million."""
PAGES = 500


def read(path: Path) -> LoadedDocument:
    """A page to be recognised for every page of the picture; only a TIFF has several.

    Raises:
        LoadError: no picture, damaged, or too large.
    """
    pages = 1
    if path.suffix.lower() in (".tif", ".tiff"):
        try:
            with Image.open(path, formats=("TIFF",)) as picture:
                pages = int(getattr(picture, "n_frames", 1))
        except Exception as error:  # Pillow's parsers raise whatever bad bytes lead to
            raise LoadError("the picture is damaged") from error
        if pages > PAGES:
            raise LoadError(f"the picture has {pages:,} pages, at most {PAGES:,}")
    open_picture(path)
    return LoadedDocument("picture", [PageContent("", is_scan=True)] * pages, paged=pages > 1)


def open_picture(path: Path, page: int = 1) -> Image.Image:
    """Page ``page`` (from 1) of the picture, upright, in RGB.

    Raises:
        LoadError: no picture, damaged, or of too many pixels.
    """
    try:
        with Image.open(path, formats=FORMATS) as picture:
            width, height = picture.size
            if width * height > PIXELS:
                millions = f"{width * height / 1e6:,.0f} million pixels"
                raise LoadError(f"the picture is too large: {millions}, at most {PIXELS // 10**6}")
            picture.seek(page - 1)
            return ImageOps.exif_transpose(picture).convert("RGB")
    except UnidentifiedImageError as error:
        raise LoadError("the picture is damaged, or not of the type that its name says") from error
    except (LoadError, MemoryError):
        raise
    except Exception as error:  # Pillow's parsers raise whatever bad bytes lead to
        raise LoadError("the picture is damaged") from error
