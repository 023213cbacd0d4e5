"""How a memory ended is shown with it, wherever its file still lies, and what is over is not made global."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lerim.errors import MemoryError_
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import added, suggested
from terminal import answer, run


def shown(place: ReviewPaths, memory: str) -> Any:
    return answer("memory", "show", memory, "--repo", str(place.project.root))


def test_what_another_memory_ends_is_over_though_its_own_file_does_not_say_so(place: ReviewPaths) -> None:
    old, new = added(place, "Use make").stem, added(place, "Build with just")
    new.write_text(new.read_text().replace("\nsource:", f"\nsupersedes: [{old}]\nsource:", 1))
    with pytest.raises(MemoryError_, match=r"inactive|no longer holds") as refused:
        acts.globalize_memory(place, old)
    assert new.stem in refused.value.message
    assert place.personal().store().path_of(old) is None
    assert acts.globalize_memory(place, new.stem).code == "globalize"
    assert shown(place, old)["status"] == "superseded"
    assert "superseded" in run("memory", "show", old, "--repo", str(place.project.root)).stdout


def test_the_reason_a_memory_was_archived_for_is_shown_with_it(place: ReviewPaths) -> None:
    name = added(place).stem
    assert (shown(place, name)["ended"], shown(place, name)["why"]) == ("", "")
    done = acts.archive_memory(place, name, "We moved (again) to pip")
    view = shown(place, name)
    assert view["why"] == "We moved (again) to pip" and view["ended"][:2] == "20"
    text = run("memory", "show", name, "--repo", str(place.project.root)).stdout
    assert re.search(r"^archived \d+ \w+ \d{4}: We moved \(again\) to pip$", text, re.MULTILINE)
    queue.undo_last(place, done.action)
    assert shown(place, name)["ended"] == ""
    offered = suggested(place, "archive", (place.store().load_by_id(name),))
    assert queue.accept_candidate(place, offered.id, quotes="shared").ok
    assert shown(place, name)["why"] == "Because."
