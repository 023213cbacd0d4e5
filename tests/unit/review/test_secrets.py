"""What a person writes in the review reaches no file with a secret in it."""

import pytest

from lerim.review import queue
from lerim.review.candidates import redacted_diff
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("at_once", [True, False], ids=["accepted with the edit", "edited, then accepted"])
def test_a_secret_in_an_edit_reaches_no_file(place: ReviewPaths, make: Make, at_once: bool) -> None:
    waiting = proposed(place, make())
    words = queue.CandidateEdit(f"Deploy with {SECRET}", "DB_PASSWORD: swordfishy", ("deploy", SECRET))
    if not at_once:
        assert queue.edit_candidate(place, waiting.id, words).ok
    result = queue.accept_candidate(place, waiting.id, words if at_once else None, quotes="shared")
    assert result.path is not None
    written = "".join(path.read_text(encoding="utf-8") for path in place.project.lerim_dir.rglob("*.md"))
    assert "Deploy with [redacted:github-token]" in written
    assert SECRET not in written + result.message
    assert "swordfishy" not in written
    shown = redacted_diff(f"It is {SECRET}.\nUse pip.", f"It is {SECRET}.\nUse uv.", "deploy.md")
    assert SECRET not in shown and "-Use pip.\n+Use uv." in shown
