"""A memory that another one ends is over, wherever its file still lies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lerim.cli.app import app
from lerim.errors import MemoryError_
from lerim.extraction.candidate import Candidate
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths

Make = Callable[..., Candidate]


@pytest.fixture
def over(place: ReviewPaths) -> tuple[str, str]:
    """A memory whose file says that it is active, and one written by hand that supersedes it."""
    old, new = (
        queue.add_memory(place, "decision", title, "So it is.").path for title in ("Use make", "Build with just")
    )
    assert old and new
    path = Path(new)
    path.write_text(path.read_text().replace("\nsource:", f"\nsupersedes: [{Path(old).stem}]\nsource:", 1))
    return Path(old).stem, path.stem


def test_what_is_over_is_not_made_global(place: ReviewPaths, over: tuple[str, str]) -> None:
    with pytest.raises(MemoryError_, match=r"inactive|no longer holds") as refused:
        acts.globalize_memory(place, over[0])
    assert over[1] in refused.value.message
    assert place.personal().store().path_of(over[0]) is None
    assert acts.globalize_memory(place, over[1]).code == "globalize"


def test_show_says_that_another_memory_ended_it(place: ReviewPaths, over: tuple[str, str]) -> None:
    shown = CliRunner().invoke(app, ["memory", "show", over[0], "--repo", str(place.project.root), "--json"])
    assert json.loads(shown.stdout)["status"] == "superseded"
    plain = CliRunner().invoke(app, ["memory", "show", over[0], "--repo", str(place.project.root)])
    assert "superseded" in plain.stdout
