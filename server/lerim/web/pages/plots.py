"""Plots as SVG, made by plain functions. Each has a table behind it, with the same figures as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from lerim.redaction import clean_text

WIDTH = 720
_DAYS_HEIGHT, _DAYS_TOP, _DAYS_BOTTOM, _DAYS_LEFT = 200, 12, 26, 58
_ROW_HEIGHT, _BAR_HEIGHT, _LABEL_WIDTH, _VALUE_WIDTH = 18, 12, 200, 80
_MAX_LABEL = 30
_MAX_GROUPS = 20
FormatValue = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Series:
    """Values of the same meaning, one for each day or group. None: it is not known."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture and the table behind it. `name` is unique on its page."""

    name: str
    title: str
    picture: Markup
    columns: list[str]
    rows: list[list[str]]


def plot_days(name: str, title: str, days: Sequence[str], series: Sequence[Series], show: FormatValue) -> Plot:
    """Plots values by day, as columns beside one another. `days` are the names of all days, in order."""
    top = _round_up(max((value or 0 for one in series for value in one.values), default=0))
    height = _DAYS_HEIGHT - _DAYS_TOP - _DAYS_BOTTOM
    slot = (WIDTH - _DAYS_LEFT) / max(1, len(days))
    width = max(1.0, slot * 0.8 / max(1, len(series)))
    parts = [_grid_line(share, top, height, show) for share in (0.0, 0.5, 1.0)]
    for number, one in enumerate(series):
        for at, value in enumerate(one.values):
            if not value:
                continue
            size = max(1.0, value / top * height)
            parts.append(
                Markup('<rect class="series-{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">{}</rect>').format(
                    number + 1,
                    _DAYS_LEFT + at * slot + slot * 0.1 + number * width,
                    _DAYS_TOP + height - size,
                    width,
                    size,
                    _tooltip(days[at], one.name if len(series) > 1 else "", show(value)),
                )
            )
    for at in sorted({0, len(days) // 2, len(days) - 1}) if days else ():
        anchor = "start" if at == 0 else "end" if at == len(days) - 1 else "middle"
        x = _DAYS_LEFT + at * slot + (0 if at == 0 else slot if anchor == "end" else slot / 2)
        parts.append(_text(x, _DAYS_HEIGHT - 8, days[at], anchor))
    rows = [
        [day, *(_cell(one.values[at], show) for one in series)]
        for at, day in enumerate(days)
        if any(one.values[at] for one in series)
    ]
    return Plot(name, title, _picture(name, _DAYS_HEIGHT, parts, series), _columns("Day", series), rows[::-1])


def plot_groups(
    name: str, title: str, group_name: str, labels: Sequence[str], series: Sequence[Series], show: FormatValue
) -> Plot:
    """Plots values by group, as horizontal bars. The table has all groups, the picture only the first ones."""
    shown = min(len(labels), _MAX_GROUPS)
    top = max((value or 0 for one in series for value in one.values[:shown]), default=0) or 1
    step = _ROW_HEIGHT * len(series) + 6
    room = WIDTH - _LABEL_WIDTH - _VALUE_WIDTH
    parts: list[Markup] = []
    for at, label in enumerate(labels[:shown]):
        y = at * step
        short = label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"
        parts.append(_text(_LABEL_WIDTH - 8, y + 12 + (step - _ROW_HEIGHT - 6) / 2, short, "end"))
        for number, one in enumerate(series):
            value = one.values[at]
            size = (value or 0) / top * room
            bar_y = y + number * _ROW_HEIGHT + 2
            if value:
                parts.append(
                    Markup('<rect class="series-{}" x="{}" y="{}" width="{:.1f}" height="{}">{}</rect>').format(
                        number + 1,
                        _LABEL_WIDTH,
                        bar_y,
                        max(1.0, size),
                        _BAR_HEIGHT,
                        _tooltip(label, one.name if len(series) > 1 else "", show(value)),
                    )
                )
            parts.append(_text(_LABEL_WIDTH + size + 6, bar_y + 10, _cell(value, show), "start"))
    rows = [[label, *(_cell(one.values[at], show) for one in series)] for at, label in enumerate(labels)]
    return Plot(name, title, _picture(name, max(1, shown) * step, parts, series), _columns(group_name, series), rows)


def show_count(value: float) -> str:
    """Formats a number as in `840`, `8.4k` or `176M`."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if value >= size:
            return f"{value / size:.1f}{unit}" if value < 10 * size else f"{value / size:.0f}{unit}"
    return f"{value:g}"


def _columns(first: str, series: Sequence[Series]) -> list[str]:
    return [first, *(one.name for one in series)]


def _cell(value: float | None, show: FormatValue) -> str:
    return "unknown" if value is None else show(value)


def _picture(name: str, height: float, parts: Sequence[Markup], series: Sequence[Series]) -> Markup:
    """Returns the picture. Its legend is above it if there are several series."""
    legend = Markup("")
    if len(series) > 1:
        names = (
            Markup('<li><span class="swatch series-{}"></span>{}</li>').format(at + 1, one.name)
            for at, one in enumerate(series)
        )
        legend = Markup('<ul class="legend">{}</ul>').format(Markup("").join(names))
    picture = Markup('<svg role="img" aria-labelledby="{}-title" viewBox="0 0 {} {:.0f}">{}</svg>')
    return legend + picture.format(name, WIDTH, height, Markup("").join(parts))


def _grid_line(share: float, top: float, height: float, show: FormatValue) -> Markup:
    y = _DAYS_TOP + height * (1 - share)
    line = Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(_DAYS_LEFT, WIDTH, y, y)
    return line + _text(_DAYS_LEFT - 6, y + 4, show(top * share), "end")


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(x, y, anchor, clean_text(text))


def _tooltip(label: str, series: str, value: str) -> Markup:
    text = ", ".join(part for part in (label, series, value) if part)
    return Markup("<title>{}</title>").format(clean_text(text))


def _round_up(value: float) -> float:
    """Returns the end of the axis: an even number times a power of ten, at least the value. Half of it is a round
    number as well."""
    if value <= 0:
        return 2
    power = 10.0 ** math.floor(math.log10(value))
    return float(next(factor * power for factor in (2, 4, 6, 8, 10) if factor * power >= value * 0.999999))
