"""What is kept of how a memory ended, and shown with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from lerim.cli.app import app
from lerim.review import acts, queue
from lerim.review.proposing import Suggestion
from lerim.review.review_paths import ReviewPaths


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def shown(repo: Path, memory: str) -> Any:
    return json.loads(run("memory", "show", memory, "--repo", str(repo), "--json"))


def test_the_reason_a_memory_was_archived_for_is_shown_with_it(place: ReviewPaths) -> None:
    added = Path(queue.add_memory(place, "decision", "Use uv", "").path or "").stem
    assert (shown(place.project.root, added)["ended"], shown(place.project.root, added)["why"]) == ("", "")
    done = acts.archive_memory(place, added, "We moved (again) to pip")
    view = shown(place.project.root, added)
    assert view["why"] == "We moved (again) to pip" and view["ended"][:2] == "20"
    assert f"archived {view['ended'][:10]}: We moved (again) to pip" in run(
        "memory", "show", added, "--repo", str(place.project.root)
    )
    queue.undo_last(place, done.action)
    assert shown(place.project.root, added)["ended"] == ""
    acts.archive_memory(place, added)
    assert shown(place.project.root, added)["why"] == ""


def test_the_reason_of_a_proposal_that_archived_it_is_shown_with_it(place: ReviewPaths) -> None:
    added = Path(queue.add_memory(place, "learning", "The cache is slow", "", kind="insight").path or "")
    stored = place.store().load(added)[0]
    offered = queue.propose_suggestion(
        place, Suggestion("archive", stored.record, (stored,), "It was not used for 300 days.")
    )
    assert isinstance(offered, queue.CandidateProposed)
    assert queue.accept_candidate(place, offered.proposal.id, quotes="shared").ok
    assert shown(place.project.root, added.stem)["why"] == "It was not used for 300 days."
