"""Lines in a plot, as SVG."""

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

_LEFT, _TOP, _WIDTH, _HEIGHT = 60, 50, 520, 300
_FONT = 'font-family="system-ui, sans-serif" fill="#1b1f24"'


class Line(NamedTuple):
    """Points joined by a line; dashed for what was not measured."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashed: bool = False


def _text(x: float, y: float, words: str, anchor: str = "middle", size: int = 12) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f"<text {place} {_FONT}>{escape(words)}</text>"


def plot(title: str, across: str, lines: Sequence[Line], top: float, every: float = 0.5) -> str:
    """Lines over shares from 0 to 1, their values from 0 to `top`, 1 marked.

    every: from a value that is written beside the plot to the next.
    """
    right, bottom = _LEFT + _WIDTH, _TOP + _HEIGHT

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + x * _WIDTH, bottom - y / top * _HEIGHT

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 170} {bottom + 60}"'
        f' width="{right + 170}" height="{bottom + 60}">',
        f'<rect width="{right + 170}" height="{bottom + 60}" fill="#ffffff"/>',
        _text(_LEFT, 28, title, "start", 15),
        _text((_LEFT + right) / 2, bottom + 44, across),
    ]
    for step in range(int(top / every) + 1):
        y = place(0, step * every)[1]
        colour = "#8c959f" if step * every == 1 else "#d5dae1"
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="{colour}"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{step * every:g}", "end"))
    for step in range(11):
        parts.append(_text(place(step / 10, 0)[0], bottom + 20, f"{step * 10} %"))
    for index, line in enumerate(lines):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line.points))
        dashes = ' stroke-dasharray="5 4"' if line.dashed else ""
        drawn = f'fill="none" stroke="{line.colour}" stroke-width="2"{dashes}'
        parts.append(f'<polyline points="{path}" {drawn}/>')
        if not line.dashed:
            for point in line.points:
                x, y = place(*point)
                parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{line.colour}"/>')
        y = _TOP + 14 + 22 * index
        parts.append(f'<path d="M{right + 14} {y - 4}h24" {drawn}/>')
        parts.append(_text(right + 44, y, line.name, "start"))
    return "\n".join([*parts, "</svg>\n"])
