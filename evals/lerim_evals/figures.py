"""How an evaluation is shown and kept: tables for people, a file for comparing runs side by side."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lerim.errors import SettingsError, reason_of
from lerim_evals.score import Evaluation, Figures

Row = tuple[str, ...]


def rows(figures: Figures) -> list[Row]:
    """Name and value of each figure, as a person reads them."""
    return [
        ("sessions", str(figures.sessions)),
        ("candidates", str(figures.candidates)),
        ("precision", _percent(figures.precision)),
        ("recall", _percent(figures.recall)),
        ("faithfulness", _percent(figures.faithfulness)),
        ("negative precision", _percent(figures.negative_precision)),
        ("duplicates", str(figures.duplicates)),
        ("not judged by a reader", str(figures.unjudged)),
        ("tokens", str(figures.tokens)),
        ("cost", f"${figures.cost:.4f}"),
        ("seconds", f"{figures.seconds:.2f}"),
    ]


def by_platform(evaluation: Evaluation) -> list[Row]:
    """The figures of each agent's sessions, one row an agent."""
    return [
        (
            platform,
            str(one.sessions),
            str(one.candidates),
            _percent(one.precision),
            _percent(one.recall),
            _percent(one.faithfulness),
            _percent(one.negative_precision),
        )
        for platform, one in evaluation.platforms.items()
    ]


def side_by_side(now: Evaluation, before: Evaluation) -> list[Row]:
    """Each figure of two runs, the earlier one last."""
    return [(*one, other[1]) for one, other in zip(rows(now.figures), rows(before.figures), strict=True)]


def keep(evaluation: Evaluation, path: Path) -> None:
    """Writes a run to a JSON file. Raises SettingsError where it cannot be written."""
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(evaluation), indent=2))
    except OSError as error:
        raise SettingsError(
            f"The figures cannot be written: {reason_of(error)}.",
            where=str(path),
            todo="Name another file with --out.",
        ) from error


def kept(path: Path) -> Evaluation:
    """A run written by `keep`. Raises SettingsError where the file is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Evaluation)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"This is no file of figures: {error}.", where=str(path), todo="Name a file made with --out."
        ) from error


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
