"""Plots as SVG, without a plotting library: bars of ratios, and a roofline."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

INK, GRID, OURS, OTHER, GOAL = "#1b1f24", "#d5dae1", "#1f6feb", "#9aa4b2", "#d1242f"
_COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df")
_FONT = 'font-family="system-ui, sans-serif"'


def _text(x: float, y: float, words: str, size: int = 12, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{INK}"'
        f" {_FONT}>{escape(words)}</text>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{colour}"/>'


def _image(width: int, height: int, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
    ground = _box(0, 0, width, height, "#ffffff")
    return "\n".join([f'{head} width="{width}" height="{height}">', ground, *parts, "</svg>\n"])


class Bar(NamedTuple):
    """A ratio, and the one that is to be reached."""

    label: str
    value: float
    goal: float


def bars(title: str, groups: Mapping[str, Sequence[Bar]]) -> str:
    """Groups of bars beside each other, each with its goal as a red mark; 1 is a grey line."""
    row, left, plot, gap = 26, 210, 190, 60
    rows = max(len(group) for group in groups.values())
    height = 70 + rows * row + 20
    width = left + len(groups) * (plot + gap)
    parts = [_text(12, 24, title, 15)]
    for column, (heading, group) in enumerate(groups.items()):
        x = left + column * (plot + gap)
        scale = plot / max(1.0, *(max(bar.value, bar.goal) for bar in group))
        parts.append(_text(x, 52, heading, 13))
        parts.append(_line(x + scale, 60, x + scale, 60 + rows * row, GRID, 2))
        for index, bar in enumerate(group):
            y = 64 + index * row
            colour = OURS if bar.value >= bar.goal else OTHER
            parts.append(_box(x, y, bar.value * scale, row - 10, colour))
            goal = x + bar.goal * scale
            parts.append(_line(goal, y - 2, goal, y + row - 8, GOAL, 2))
            parts.append(_text(x + plot + 6, y + 13, f"{bar.value:.2f}"))
            if column == 0:
                parts.append(_text(left - 10, y + 13, bar.label, 12, "end"))
    parts.append(_text(12, height - 8, "red mark: the goal; blue: reached; grey line: 1", 11))
    return _image(width, height, parts)


class Point(NamedTuple):
    """Work done at some arithmetic intensity."""

    label: str
    intensity: float
    """Operations for a byte of weights read."""
    rate: float
    """Operations a second."""
    hollow: bool = False


class _Scale(NamedTuple):
    """A logarithmic axis: [first, last] onto pixels [start, end]."""

    first: float
    last: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        part = math.log(value / self.first) / math.log(self.last / self.first)
        return self.start + part * (self.end - self.start)

    def powers(self, base: int) -> list[float]:
        """Powers of `base` on the axis."""
        low, high = (math.log(value, base) for value in (self.first, self.last))
        return [float(base) ** n for n in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]


def roofline(
    title: str, bytes_per_s: float, operations_per_s: float, points: Sequence[Point]
) -> str:
    """Attainable operations a second over operations a byte (Williams et al., 2009), both logs.

    Points with the same label share a colour; those of somebody else are hollow.
    """
    width, height, left, right = 860, 420, 70, 230
    x = _Scale(0.5, 2048, left, width - right)
    lowest = min(bytes_per_s, *(point.rate for point in points)) / 2
    y = _Scale(lowest, operations_per_s * 1.5, height - 54, 44)
    parts = [_text(12, 24, title, 15), _text(12, 40, "GOP/s", 12)]
    for rate in y.powers(10):
        parts.append(_line(left, y(rate), width - right, y(rate), GRID))
        parts.append(_text(left - 8, y(rate) + 4, f"{rate / 1e9:g}", 11, "end"))
    for intensity in x.powers(4):
        parts.append(_line(x(intensity), y.start, x(intensity), y.end, GRID))
        parts.append(_text(x(intensity), y.start + 16, f"{intensity:g}", 11, "middle"))
    ridge = operations_per_s / bytes_per_s
    foot = max(x.first, lowest / bytes_per_s)
    parts.append(_line(x(foot), y(bytes_per_s * foot), x(ridge), y(operations_per_s), INK, 2))
    parts.append(_line(x(ridge), y(operations_per_s), x.end, y(operations_per_s), INK, 2))
    colours = dict(zip(dict.fromkeys(point.label for point in points), _COLOURS * 9, strict=False))
    for point in points:
        colour = colours[point.label]
        fill = "none" if point.hollow else colour
        at = f'cx="{x(point.intensity):.1f}" cy="{y(point.rate):.1f}"'
        parts.append(f'<circle {at} r="5" fill="{fill}" stroke="{colour}" stroke-width="2"/>')
    for index, (label, colour) in enumerate(colours.items()):
        parts.append(_box(width - right + 16, 60 + 22 * index, 12, 12, colour))
        parts.append(_text(width - right + 34, 71 + 22 * index, label))
    parts.append(
        _text(width / 2 - 80, height - 14, "operations for a byte of weights", 12, "middle")
    )
    return _image(width, height, parts)
