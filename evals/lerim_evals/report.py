"""Shows an evaluation as tables, and saves it to a file with which later runs are compared."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lerim.errors import SettingsError, error_reason
from lerim_evals.score import Evaluation, Figures

Row = tuple[str, ...]


def figure_rows(figures: Figures) -> list[Row]:
    """The name and formatted value of each figure."""
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


def platform_rows(evaluation: Evaluation) -> list[Row]:
    """The figures by agent, one row each."""
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


def comparison_rows(now: Evaluation, before: Evaluation) -> list[Row]:
    """The figures of two runs side by side, the earlier run last."""
    return [(*one, other[1]) for one, other in zip(figure_rows(now.figures), figure_rows(before.figures), strict=True)]


def save_evaluation(evaluation: Evaluation, path: Path) -> None:
    """Writes a run to a JSON file. Raises SettingsError if that fails."""
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(evaluation), indent=2))
    except OSError as error:
        raise SettingsError(
            f"The figures cannot be written: {error_reason(error)}.",
            where=str(path),
            todo="Name another file with --out.",
        ) from error


def load_evaluation(path: Path) -> Evaluation:
    """Reads a run that `save_evaluation` wrote. Raises SettingsError if the file is not one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Evaluation)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"This is no file of figures: {error}.", where=str(path), todo="Name a file made with --out."
        ) from error


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
