"""Reports of an evaluation side by side as an SVG drawing; needs no library."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

from rag.evaluate import Report

MEASURES = {
    "hit@1": "hit_at_1",
    "hit@k": "hit_at_k",
    "MRR": "mean_reciprocal_rank",
    "nDCG": "ndcg_at_k",
    "answer shown": "answer_contained",
    "right citation": "citations_correct",
    "right refusals": "right_refusals",
    "wrong refusals": "wrong_refusals",
}
COLOURS = ("#2f6f8f", "#d08a2e", "#5b8c4a", "#8a5a9c")
ROW, BAR, LABEL, WIDTH = 24, 14, 130, 360


def plot(reports: Mapping[str, Report]) -> str:
    """A bar for every measure of every report, from 0 to 1, as SVG."""
    parts = []
    y = 34
    for title, field in MEASURES.items():
        for number, report in enumerate(reports.values()):
            value = float(getattr(report, field))
            colour = COLOURS[number % len(COLOURS)]
            name = escape(title) if number == 0 else ""
            parts.append(
                f'<text x="{LABEL - 8}" y="{y + 11}" text-anchor="end">{name}</text>'
                f'<rect x="{LABEL}" y="{y}" width="{value * WIDTH:.1f}" height="{BAR}" '
                f'fill="{colour}"/><text x="{LABEL + value * WIDTH + 6:.1f}" y="{y + 11}">'
                f"{value:.3f}</text>"
            )
            y += BAR + 2
        y += ROW - BAR - 2
    legend = "".join(
        f'<rect x="{LABEL + 150 * number}" y="10" width="10" height="10" '
        f'fill="{COLOURS[number % len(COLOURS)]}"/>'
        f'<text x="{LABEL + 150 * number + 15}" y="19">{escape(name)}</text>'
        for number, name in enumerate(reports)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 70}" height="{y}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
        f"{legend}{''.join(parts)}</svg>\n"
    )
