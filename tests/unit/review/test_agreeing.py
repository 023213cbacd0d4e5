"""A sync makes both sides of a link agree, and reads no more for it than it must."""

import sys
from pathlib import Path

from by_hand import DECISION, NAME, over, put
from lerim.review import acts
from lerim.review.review_paths import ReviewPaths


def test_a_repair_reads_what_changed_and_no_other_memory(place: ReviewPaths) -> None:
    for number in range(5):
        put(place, name=f"20260801-m{number}")
    over(place)
    assert acts.repair_links(place).count == 0
    read: list[str] = []
    watching = True
    sys.addaudithook(
        lambda event, given: (
            read.append(str(given[0])) if watching and event == "open" and ".md" in str(given[0]) else None
        )
    )
    assert acts.repair_links(place).count == 0
    assert read == []
    added = put(place, name="20260803-new")
    read.clear()
    assert acts.repair_links(place).count == 0
    watching = False
    assert [Path(one).name for one in read] == [added.name]


def test_where_no_index_can_be_kept_links_are_read_from_the_files(place: ReviewPaths, tmp_path: Path) -> None:
    put(place)
    put(place, DECISION.replace("---\n\nIt", f"supersedes: [{NAME}]\n---\n\nIt"), name="20260802-newer")
    index = place.state / "index"
    (tmp_path / "elsewhere").mkdir()
    index.symlink_to(tmp_path / "elsewhere")
    assert acts.repair_links(place).count == 1
    assert acts.repair_links(place).count == 0
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_repair_leaves_a_header_alone_that_cannot_be_changed_line_by_line(place: ReviewPaths) -> None:
    text = f"---\n{{id: {NAME}, title: x, created: 2026-08-01}}\n---\n\nMine.\n"
    path = put(place, text)
    put(place, DECISION.replace("---\n\nIt", f"supersedes: [{NAME}, 20260803-b]\n---\n\nIt"), name="20260802-newer")
    put(place, name="20260803-b")
    done = acts.repair_links(place)
    assert (done.count, [problem.path for problem in done.problems]) == (1, [str(path)])
    assert path.read_text() == text and place.store().load_by_id("20260803-b").status == "superseded"
