"""Renders ``samples/sources/NAME.png.txt`` as a scan: ``samples/cabinet/NAME.png``.

Grey, a little crooked and specked, as a sheet on a scanner is; the same source gives the same file.
Run ``python samples/scan.py`` after a change of a source.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SAMPLES = Path(__file__).resolve().parent
WIDTH, MARGIN, LINE, POINTS = 1240, 110, 46, 30
"""Pixels: A4 at 150 dots an inch."""
DEGREES = 0.4
SPECKS = 0.0004
"""Share of pixels."""


def scan(text: str) -> Image.Image:
    """``text``, line by line, as a sheet."""
    lines = text.splitlines()
    sheet = Image.new("L", (WIDTH, 2 * MARGIN + LINE * len(lines)), 246)
    font = ImageFont.load_default(POINTS)
    for row, line in enumerate(lines):
        ImageDraw.Draw(sheet).text((MARGIN, MARGIN + LINE * row), line, fill=25, font=font)
    sheet = sheet.rotate(DEGREES, Image.Resampling.BICUBIC, fillcolor=246)
    pixels = np.asarray(sheet).copy()
    chance = np.random.default_rng(1)
    pixels[chance.random(pixels.shape) < SPECKS] = 90
    return Image.fromarray(pixels).quantize(16)


def main(folder: Path) -> None:
    """Scan every source into ``folder``."""
    for source in sorted((SAMPLES / "sources").glob("*.png.txt")):
        scan(source.read_text(encoding="utf-8")).save(folder / source.stem, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES / "cabinet")
