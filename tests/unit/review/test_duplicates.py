"""Memories of different ids that say the same become one."""

import pytest

from by_hand import DECISION, NAME, files_of, put
from lerim.errors import MemoryError_
from lerim.memory.search.memory_search import search_memories
from lerim.review import merge_conflict, queue
from lerim.review.review_paths import ReviewPaths

NEWER = "20260802-again"
AGAIN = (
    DECISION.replace("created: 2026-08-01", "created: 2026-08-02")
    .replace('title: "Use uv"   # not pip', 'title: "**use** uv"')
    .replace("tags: [ packaging ]", "tags: [ci]")
    .replace("- README.md", "- setup.cfg")
    .replace(
        "confidence: 0.6", "confidence: 0.8\nevidence:\n  - quote: uv is fast\n    turn: 0a1b2c3d4e5f\n    who: user"
    )
)


def test_the_older_one_is_kept_with_what_both_have_after_a_look_at_the_difference(place: ReviewPaths) -> None:
    old, new = put(place), put(place, AGAIN, name=NEWER)
    before = files_of(place)
    look = merge_conflict(place, new, preview=True)
    assert (look.kind, look.result) == ("memories", None) and files_of(place) == before
    assert f"+++ b/decisions/{NAME}.md" in look.diff
    assert look.diff.endswith(f"decisions/{NEWER}.md is archived; the file above has its text.")
    done = merge_conflict(place, new).result
    assert done and (done.ok, done.path) == (True, str(old))
    store = place.store()
    kept, ended = store.load_by_id(NAME).record, store.load_by_id(NEWER)
    assert (kept.title, kept.tags) == ("Use uv", ("packaging", "ci"))
    assert kept.references == ("src/app.py#load", "README.md", "setup.cfg")
    assert [one.quote for one in kept.evidence] == ["uv is fast"] and kept.supersedes == (NEWER,)
    assert (ended.status, ended.record.superseded_by) == ("superseded", NAME)
    assert kept.body.count("It is fast.") == 1 and "# mine" in old.read_text()
    assert queue.undo_last(place).ok and files_of(place) == before
    assert queue.list_pending(place)[0] == []


def test_three_become_one_at_once_whichever_is_named_and_a_search_has_read_them(place: ReviewPaths) -> None:
    old = put(place)
    put(place, AGAIN, name=NEWER)
    put(place, AGAIN.replace("tags: [ci]", "tags: [third]"), name="20260803-third")
    search_memories(place.project, place.home, "uv")
    assert merge_conflict(place, old).result
    kept = place.store().load_by_id(NAME).record
    assert (kept.tags, kept.supersedes) == (("packaging", "ci", "third"), (NEWER, "20260803-third"))


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        (AGAIN.replace("It is fast", "It is slow"), "decisions"),
        (AGAIN, "learnings"),
        (AGAIN, "archived/decisions"),
        (AGAIN.replace("source:", f"superseded_by: {NAME}\nsource:"), "decisions"),
    ],
)
def test_what_says_something_else_is_of_another_kind_or_has_ended_is_not_merged(
    place: ReviewPaths, text: str, folder: str
) -> None:
    path = put(place)
    put(place, text, folder, NEWER)
    before = files_of(place)
    with pytest.raises(MemoryError_, match="no other memory says the same"):
        merge_conflict(place, path)
    assert files_of(place) == before
