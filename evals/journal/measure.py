"""How much of the journal is Lerim's own earlier output, day by day, as a table and a picture; and how long it takes.

python evals/journal/measure.py REPOSITORY FIRST_DAY LAST_DAY [PICTURE.svg]

Measures a repository whose sessions Lerim has read (`lerim sync`), in the home of the environment.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from html import escape
from pathlib import Path

from lerim.journal import (
    DaySelfReference,
    OriginCounts,
    build_entries,
    list_span,
    measure_self_reference,
    open_journal,
)
from lerim.paths import Home
from lerim.project import locate_project

LIMIT = 0.3
WIDTH, HEIGHT, LEFT, TOP, GAP = 860, 170, 46, 26, 60
LINES: tuple[tuple[str, str, Callable[[OriginCounts], float | None]], ...] = (
    ("sessions only", "#c0392b", lambda counts: counts.share_of_sessions_only),
    ("with git", "#e08e0b", lambda counts: counts.share_with_git),
    ("with notes and feeds", "#2980b9", lambda counts: counts.share_with_notes),
    ("included or sent", "#27ae60", lambda counts: counts.share_included),
)


def main(arguments: Sequence[str]) -> int:
    """Print the figures and write the picture. Return 1 if a day's entry is above the limit."""
    folder, first, last = Path(arguments[0]).absolute(), *map(date.fromisoformat, arguments[1:3])
    home = Home.from_environ(os.environ)
    project = locate_project(folder, home)
    if project is None:
        raise SystemExit(f"{folder} is in no git repository.")
    journal = open_journal(project, home, os.environ)
    spans = list_span(journal, first, last, datetime.now(UTC))
    began = time.monotonic()
    entries = list(build_entries(journal, spans))
    seconds = time.monotonic() - began
    found = measure_self_reference(journal, spans)
    for day in (*found.days, found.total):
        print(day.day, *(f"{_percent(share(counts))}" for counts in (day.sentences, day.tokens) for *_, share in LINES))
    cited = [len(sentence.sources) for entry in entries for sentence in entry.sentences]
    print(
        f"{len(entries)} entries in {seconds:.1f} s, {sum(entry.sessions for entry in entries)} parts of sessions, "
        f"{sum(entry.commits for entry in entries)} commits, {len(cited)} sentences, "
        f"{sum(cited) / max(1, len(cited)):.2f} sources per sentence, {found.total.tokens.included} tokens; "
        f"highest share in an entry {_percent(found.highest_share)}"
    )
    if len(arguments) > 3:
        Path(arguments[3]).write_text(draw(found.days), encoding="utf-8")
    return int(found.highest_share >= LIMIT)


def draw(days: Sequence[DaySelfReference]) -> str:
    """Return the picture: one chart for sentences and one for tokens, a line for each set of sources."""
    charts = (
        ("Share of the sentences", [day.sentences for day in days]),
        ("Share of the tokens", [day.tokens for day in days]),
    )
    height = TOP + len(charts) * (HEIGHT + GAP) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + LEFT + 20} {height}"'
        ' font-family="sans-serif" font-size="12">',
        f"<title>Lerim's own earlier output in the journal, {days[0].day} to {days[-1].day}</title>" if days else "",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, (title, counts) in enumerate(charts):
        top = TOP + number * (HEIGHT + GAP)
        parts.append(f'<text x="{LEFT}" y="{top - 8}">{escape(title)} that is Lerim\'s own earlier output</text>')
        for level in (0.0, LIMIT, 1.0):
            y = top + HEIGHT * (1 - level)
            dash = ' stroke-dasharray="4 3"' if level == LIMIT else ""
            parts.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#999"{dash}/>')
            parts.append(f'<text x="4" y="{y + 4:.1f}">{_percent(level)}</text>')
        for _, colour, share_of in LINES:
            points = [
                f"{LEFT + WIDTH * (index + 0.5) / len(days):.1f},{top + HEIGHT * (1 - share):.1f}"
                for index, one in enumerate(counts)
                if (share := share_of(one)) is not None
            ]
            parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{" ".join(points)}"/>')
    for number, (name, colour, _) in enumerate(LINES):
        x = LEFT + number * 190
        parts.append(f'<rect x="{x}" y="{height - 22}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="{height - 12}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.0f}%"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
