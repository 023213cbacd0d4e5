"""The Memories view, acts by hand and joining over the wire: what a person sees of the store, and changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lerim.lsp.protocol import core
from proposals import propose, review_paths
from test_review import is_there
from window import RECORD, Editor, write_memory

pytestmark = pytest.mark.asyncio


def write_others(repo: Path) -> None:
    """A learning of another file, one of no file, and a decision that is over."""
    write_memory(
        repo,
        id="20260802-retry-twice",
        primitive="learning",
        kind="pitfall",
        title="Retry twice",
        created=datetime(2026, 8, 2, tzinfo=UTC),
        references=("src/net.py#send",),
    )
    write_memory(
        repo, id="20260803-plain-words", primitive="learning", kind="preference", title="Plain words", references=()
    )
    old = write_memory(repo, id="20260701-load-all", title="Load all at once", superseded_by=RECORD.id)
    over = repo / ".lerim" / "memory" / "archived" / "decisions" / old.name
    over.parent.mkdir(parents=True)
    old.rename(over)


async def test_memories_are_listed_by_primitive_by_file_and_those_that_are_over_last(editor: Editor) -> None:
    write_memory(editor.repo)
    write_others(editor.repo)
    await editor.start()

    async def below(by: str, node: str = "") -> object:
        return await editor.ask(core.MEMORY_TREE, {"root": editor.root, "by": by, "node": node, "start": 0})

    def rows(view: object) -> list[tuple[str, int]]:
        return [(one.node, one.count) for one in view.groups]  # type: ignore[attr-defined]

    top = await below("primitive")
    assert rows(top) == [("primitive:decision", 1), ("primitive:learning", 2), ("ended", 1)]
    learnings = await below("primitive", "primitive:learning")
    assert [(one.title, one.kind, one.status) for one in learnings.memories] == [  # type: ignore[attr-defined]
        ("Retry twice", "pitfall", "active"),
        ("Plain words", "preference", "active"),
    ]
    files = rows(await below("file"))
    assert files == [("file:src/app.py", 1), ("file:src/net.py", 1), ("loose:", 1), ("ended", 1)]
    (loose,) = (await below("file", "loose:")).memories  # type: ignore[attr-defined]
    assert loose.title == "Plain words"
    (over,) = (await below("file", "ended")).memories  # type: ignore[attr-defined]
    assert (over.title, over.status, over.detail) == ("Load all at once", "superseded", RECORD.id)
    shown = await editor.ask(core.MEMORY_SHOW, {"id": over.handle})
    assert shown.path == over.path


async def test_of_many_memories_a_page_is_answered_and_the_next_goes_on(editor: Editor) -> None:
    for number in range(230):
        created = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        write_memory(editor.repo, id=f"20260101-rule-{number}", title=f"Rule {number}", created=created)
    await editor.start()
    asked = {"root": editor.root, "by": "primitive", "node": "primitive:decision"}
    first = await editor.ask(core.MEMORY_TREE, {**asked, "start": 0})
    rest = await editor.ask(core.MEMORY_TREE, {**asked, "start": len(first.memories)})
    titles = [one.title for one in (*first.memories, *rest.memories)]
    assert (len(first.memories), first.total) == (200, 230)
    assert titles == [f"Rule {number}" for number in reversed(range(230))]


async def test_what_waits_stands_on_top_the_most_certain_first(editor: Editor, isolated: Path) -> None:
    waiting = propose(review_paths(editor.repo), confidence=0.5)
    certain = propose(review_paths(editor.repo), "Use ruff", turn="b" * 12, confidence=0.8)
    write_memory(editor.repo)
    await editor.start()
    asked = {"root": editor.root, "by": "primitive", "node": "", "start": 0}
    top = await editor.ask(core.MEMORY_TREE, asked)
    assert [one.kind for one in top.groups] == ["waiting", "primitive"]
    rows = (await editor.ask(core.MEMORY_TREE, {**asked, "node": "waiting"})).proposals
    assert [(row.id, row.action, row.scope) for row in rows] == [
        (certain, "add", "project"),
        (waiting, "add", "project"),
    ]


async def test_an_act_by_hand_shows_in_the_hover_at_once_and_undo_takes_it_back(editor: Editor) -> None:
    path = write_memory(editor.repo)
    before = path.read_text(encoding="utf-8")
    await editor.start()
    app = editor.open("src/app.py", "def load():\n    pass\n")
    by_file = await editor.ask(core.MEMORY_SHOW, {"id": path.as_uri()})
    edited = await editor.ask(
        core.MEMORY_ACT, {"id": by_file.handle, "action": "edit", "title": "Keep load very small"}
    )
    assert edited.ok and "Keep load very small" in path.read_text(encoding="utf-8")
    assert "very small" in (await editor.hover(app, 0, 0) or "")
    archived = await editor.ask(core.MEMORY_ACT, {"id": by_file.handle, "action": "archive"})
    assert not is_there(path) and is_there(archived.path)
    assert await editor.hover(app, 0, 0) is None
    for action in (archived, edited):
        undone = await editor.ask(core.REVIEW_UNDO, {"root": action.root, "action": action.action})
        assert undone.ok
    assert path.read_text(encoding="utf-8") == before
    assert "Keep load small" in (await editor.hover(app, 0, 0) or "")


async def test_an_undo_that_cannot_be_done_says_so_in_two_short_sentences(editor: Editor) -> None:
    path = write_memory(editor.repo)
    await editor.start()
    shown = await editor.ask(core.MEMORY_SHOW, {"id": path.as_uri()})
    edit = {"id": shown.handle, "action": "edit", "title": "Keep load very small"}
    assert (await editor.ask(core.MEMORY_ACT, edit)).ok
    path.write_text(path.read_text(encoding="utf-8") + "My own line.\n", encoding="utf-8")
    refused = await editor.refused(core.REVIEW_UNDO, {"root": editor.root})
    said = "It cannot be undone: the file was changed since. Undo again to take back the action before it."
    assert (refused.message, refused.data["kind"]) == (said, "stale") and "+My own line." in refused.data["diff"]


async def test_a_question_is_answered_by_hand_and_the_answer_among_ones_own(editor: Editor, isolated: Path) -> None:
    question = write_memory(editor.repo, id="20260801-which-cache", primitive="question", title="Which cache?")
    await editor.start()
    shown = await editor.ask(core.MEMORY_SHOW, {"id": question.as_uri()})
    decided = await editor.ask(
        core.MEMORY_ACT, {"id": shown.handle, "action": "promote", "title": "The cache is SQLite"}
    )
    assert decided.ok and not is_there(question)
    decision = await editor.ask(core.MEMORY_SHOW, {"id": Path(decided.path).as_uri()})
    copied = await editor.ask(core.MEMORY_ACT, {"id": decision.handle, "action": "globalize"})
    own = Path(copied.path)
    assert (await editor.ask(core.MEMORY_SHOW, {"id": own.as_uri()})).scope == "global"
    assert own.is_relative_to(isolated / ".lerim") and is_there(decided.path)
    asked = {"root": editor.root, "by": "file", "node": "loose:", "start": 0}
    row = next(one for one in (await editor.ask(core.MEMORY_TREE, asked)).memories if one.scope == "global")
    gone = await editor.ask(core.MEMORY_ACT, {"id": row.handle, "action": "archive"})
    assert gone.ok and not is_there(own)
    told = len(editor.told[core.MEMORIES_CHANGED])
    assert (await editor.ask(core.REVIEW_UNDO, {"root": gone.root, "action": gone.action})).ok
    assert is_there(own)
    await editor.until(lambda: len(editor.told[core.MEMORIES_CHANGED]) > told)


async def test_a_memory_called_outdated_says_so_until_that_is_undone_or_the_memory_is_still_true(
    editor: Editor,
) -> None:
    path = write_memory(editor.repo)
    await editor.start()
    handle = (await editor.ask(core.MEMORY_SHOW, {"id": path.as_uri()})).handle
    asked = {"root": editor.root, "by": "primitive", "node": "primitive:decision", "start": 0}

    uri = editor.open("src/app.py")

    async def marks() -> tuple[bool, bool, str]:
        text = await editor.hover(uri, 0, 0) or ""
        [row] = (await editor.ask(core.MEMORY_TREE, asked)).memories
        return "You marked this as outdated" in text, "[Outdated]" in text, row.called

    assert await marks() == (False, True, "")
    done = await editor.ask(core.MEMORY_ACT, {"id": handle, "action": "feedback", "feedback": "outdated"})
    assert await marks() == (True, False, "outdated")
    undone = await editor.ask(core.REVIEW_UNDO, {"root": editor.root})
    assert undone.action == done.action and undone.message.startswith("Undone. It is no longer marked as outdated")
    assert await marks() == (False, True, "")
    await editor.ask(core.MEMORY_ACT, {"id": handle, "action": "feedback", "feedback": "outdated"})
    assert (await editor.ask(core.MEMORY_ACT, {"id": handle, "action": "verify"})).ok
    assert await marks() == (False, True, "")


async def test_a_memory_whose_code_is_gone_is_not_marked_as_still_true_and_the_answer_names_its_file(
    editor: Editor,
) -> None:
    path = write_memory(editor.repo)
    await editor.start()
    (editor.repo / "src" / "app.py").unlink()
    handle = (await editor.ask(core.MEMORY_SHOW, {"id": path.as_uri()})).handle
    done = await editor.ask(core.MEMORY_ACT, {"id": handle, "action": "verify"})
    assert (done.ok, done.code, done.action, done.path) == (False, "missing-reference", None, str(path))
    assert done.message == "Not marked as still true: load was not found in src/app.py."


async def test_an_act_that_lacks_what_it_needs_is_refused_and_a_broken_handle_found_out(editor: Editor) -> None:
    path = write_memory(editor.repo)
    await editor.start()
    handle = (await editor.ask(core.MEMORY_SHOW, {"id": path.as_uri()})).handle
    for params in ({"action": "feedback"}, {"action": "kind", "primitive": "nonsense"}, {"action": "delete"}):
        assert (await editor.refused(core.MEMORY_ACT, {"id": handle, **params})).data["kind"] == "memory"
    stranger = {"id": "0" * 18, "action": "archive"}
    assert (await editor.refused(core.MEMORY_ACT, stranger)).data["kind"] == "not-found"
    elsewhere = {"id": (editor.repo / "README.md").as_uri()}
    assert (await editor.refused(core.MEMORY_SHOW, elsewhere)).data["kind"] == "not-found"


async def test_a_memory_that_git_left_in_two_is_a_problem_and_is_joined_after_a_look(editor: Editor) -> None:
    path = write_memory(editor.repo)
    whole = path.read_text(encoding="utf-8")
    ours, theirs = (f"confidence: {number}" for number in (0.9, 0.8))
    both = f"<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other"
    path.write_text(whole.replace(ours, both), encoding="utf-8")
    await editor.start()
    asked = {"root": editor.root, "by": "primitive", "node": "problems", "start": 0}
    (problem,) = (await editor.ask(core.MEMORY_TREE, asked)).problems
    assert problem.code == "memory-conflict"
    merge = {"root": editor.root, "path": str(path)}
    preview = await editor.ask(core.MEMORY_MERGE, {**merge, "preview": True})
    assert preview.acted is None and "-<<<<<<< HEAD" in preview.diff and "<<<<<<<" in path.read_text(encoding="utf-8")
    done = await editor.ask(core.MEMORY_MERGE, {**merge, "preview": False})
    assert done.acted.ok and "<<<<<<<" not in path.read_text(encoding="utf-8")
    assert (await editor.ask(core.MEMORY_TREE, asked)).problems == []
