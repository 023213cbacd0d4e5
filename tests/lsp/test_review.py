"""The review over the wire: from a candidate on disk to a hover, and back."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lsprotocol import types

from lerim.extraction.candidate import drop_candidate
from lerim.lsp.protocol import core
from lerim.memory.record import Evidence
from lerim.review import queue
from proposals import CANDIDATE, propose, review_paths
from window import Editor, write_memory

pytestmark = pytest.mark.asyncio


def write_below(path: str, line: str) -> None:
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def is_there(path: str | Path) -> bool:
    return Path(path).exists()


def memory_files(repo: Path) -> list[str]:
    return [str(path) for path in (repo / ".lerim" / "memory").glob("*/*.md")]


async def test_an_accepted_candidate_is_a_hover_at_once_and_undo_takes_it_back(editor: Editor, isolated: Path) -> None:
    waiting = propose(review_paths(editor.repo))
    await editor.start()
    app = editor.open("src/app.py", "x = 1\n")
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert [one.title for one in listed.candidates] == [CANDIDATE.title]
    assert listed.candidates[0].evidence[0].quote == "no, Use uv, not pip"
    assert listed.candidates[0].canChangeKind
    assert listed.undo is None
    assert await editor.hover(app, 0, 0) is None

    act = {"root": editor.root, "id": waiting, "action": "accept"}
    asked = await editor.ask(core.REVIEW_ACT, act)
    assert (asked.ok, asked.askQuotes) == (False, True)
    done = await editor.ask(core.REVIEW_ACT, {**act, "quotes": "shared"})
    assert done.ok
    assert memory_files(editor.repo) == [done.path]
    hover = await editor.hover(app, 0, 0) or ""
    assert "Use uv" in hover and "(you)" in hover
    await editor.until(lambda: editor.told[core.CANDIDATES_CHANGED])
    assert editor.told[core.CANDIDATES_CHANGED][-1].pending == 0

    undone = await editor.ask(core.REVIEW_UNDO, {"root": editor.root})
    assert undone.ok
    assert memory_files(editor.repo) == []
    assert await editor.hover(app, 0, 0) is None
    assert len((await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates) == 1


async def test_a_candidate_can_be_edited_and_rejected(editor: Editor, isolated: Path) -> None:
    waiting = propose(review_paths(editor.repo))
    await editor.start()
    edit = {"title": "Use pathlib", "body": "In src/app.py.", "tags": []}
    act = {"root": editor.root, "id": waiting}
    assert (await editor.ask(core.REVIEW_ACT, {**act, "action": "edit", "edit": edit})).ok
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert (listed.candidates[0].title, listed.candidates[0].edited) == ("Use pathlib", True)
    assert (await editor.ask(core.REVIEW_ACT, {**act, "action": "reject"})).ok
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert (listed.candidates, listed.undo.label) == ([], "Rejected: Use pathlib")


async def test_several_are_decided_with_one_request_and_one_undo_selects_what_waits_again(
    editor: Editor, isolated: Path
) -> None:
    ids = [
        propose(
            review_paths(editor.repo), title=f"Use uv for part {name}", turn=f"{name * 12}", references=("src/none.py",)
        )
        for name in "abc"
    ]
    await editor.start()
    items = [{"id": one, "scope": "project"} for one in ids]
    asked = await editor.ask(core.REVIEW_ACT_ON_MANY, {"root": editor.root, "action": "accept", "items": items})
    assert (asked.ok, asked.askQuotes) == (False, True)
    quotes = {"root": editor.root}
    assert (await editor.ask(core.REVIEW_QUOTES, quotes)).quotes == ""
    assert (await editor.ask(core.REVIEW_QUOTES, {**quotes, "quotes": "local"})).quotes == "local"
    assert (await editor.ask(core.REVIEW_QUOTES, {**quotes, "quotes": "shared"})).quotes == "shared"
    checked = await editor.ask(core.REVIEW_REFERENCES, {"root": editor.root, "id": ids[0], "scope": "project"})
    assert [(one.reference, one.state) for one in checked.problems] == [("src/none.py", "not-found")]
    done = await editor.ask(core.REVIEW_ACT_ON_MANY, {"root": editor.root, "action": "reject", "items": items[:2]})
    assert (done.ok, done.message, sorted(done.decided)) == (True, "Rejected 2 candidates", sorted(ids[:2]))
    decided = await editor.ask(core.REVIEW_REFERENCES, {"root": editor.root, "id": ids[0], "scope": "project"})
    assert decided.problems == []
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert [one.id for one in listed.candidates] == ids[2:]
    assert (listed.undo.action, listed.undo.label) == (done.action, "Rejected 2 candidates")
    assert listed.candidates[0].waitingSince > "2026"
    undone = await editor.ask(core.REVIEW_UNDO, {"root": editor.root, "action": done.action})
    assert sorted(undone.waiting) == sorted(ids[:2])
    assert len((await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates) == 3


async def test_neighbours_are_listed_and_the_answer_for_one_is_carried_out(editor: Editor, isolated: Path) -> None:
    first = propose(review_paths(editor.repo))
    await editor.start()
    act = {"root": editor.root, "action": "accept", "quotes": "shared"}
    assert (await editor.ask(core.REVIEW_ACT, {**act, "id": first})).ok
    later = {"title": "Use uv instead of pip for packages", "turn": "ba9876543210"}
    second = propose(review_paths(editor.repo), **later, time=datetime(2026, 8, 2, tzinfo=UTC))
    [candidate] = (await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates
    [near] = candidate.neighbours
    assert (near.id, near.title, candidate.suggested) == (first, CANDIDATE.title, None) and 0 < near.similarity <= 1
    choice = {"answer": "replaces", "memory": near.id, "hash": near.hash}
    done = await editor.ask(core.REVIEW_ACT, {**act, "id": second, "choice": choice})
    assert done.ok and memory_files(editor.repo) == [done.path]
    assert (await editor.ask(core.REVIEW_UNDO, {"root": editor.root})).ok
    assert [Path(one).stem for one in memory_files(editor.repo)] == [first]


def pending_told(editor: Editor) -> list[int]:
    return [told.pending for told in editor.told[core.CANDIDATES_CHANGED]]


async def test_what_another_window_decides_is_told_once_its_file_changes(editor: Editor, isolated: Path) -> None:
    place = review_paths(editor.repo)
    waiting = propose(review_paths(editor.repo))
    await editor.start()
    await editor.until(lambda: pending_told(editor) == [1])
    queue.reject_candidate(place, waiting)
    editor.changed(place.candidate_path(waiting))
    await editor.until(lambda: pending_told(editor) == [1, 0])
    queue.undo_last(place)
    editor.changed(place.candidate_path(waiting))
    await editor.until(lambda: pending_told(editor) == [1, 0, 1])
    queue.edit_candidate(place, waiting, queue.CandidateEdit("Use pathlib", "In src/app.py.", ()))
    editor.changed(place.candidate_path(waiting))
    await editor.until(lambda: pending_told(editor) == [1, 0, 1, 1])

    editor.changed(place.candidate_path(waiting))  # an echo of what was told already
    assert (await editor.ask(core.REVIEW_ACT, {"root": editor.root, "id": waiting, "action": "reject"})).ok
    await editor.until(lambda: pending_told(editor) == [1, 0, 1, 1, 0])


async def test_a_decision_that_a_look_around_finds_first_is_told_once(editor: Editor, isolated: Path) -> None:
    waiting = propose(review_paths(editor.repo))
    await editor.start()
    await editor.until(lambda: pending_told(editor) == [1])
    act = {"root": editor.root, "id": waiting, "action": "reject"}
    decided = asyncio.create_task(editor.ask(core.REVIEW_ACT, act))
    while not decided.done():
        editor.look_around()
        await asyncio.sleep(0.001)
    assert decided.result().ok
    await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert pending_told(editor) == [1, 0]


async def test_what_was_decided_unseen_is_told_once_when_a_file_is_opened_or_the_window_looks_around(
    editor: Editor, isolated: Path
) -> None:
    await editor.start()
    await editor.hover(editor.open("src/app.py"), 0, 0)
    propose(review_paths(editor.repo))
    editor.open("README.md")
    await editor.until(lambda: pending_told(editor) == [1])
    propose(review_paths(editor.repo), title="Another one", body="It says something else of src/app.py.")
    for _ in range(20):
        editor.look_around()
    await editor.until(lambda: pending_told(editor)[-1:] == [2])
    assert (await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates
    propose(review_paths(editor.repo), title="A third", turn="c" * 12, body="Of src/app.py, too.")
    editor.look_around()
    await editor.until(lambda: pending_told(editor)[-1:] == [3])
    assert pending_told(editor) == [1, 2, 3]


async def test_the_folders_of_a_worktree_are_told_before_they_are_made_and_its_candidates_are_in_the_main_one(
    editor: Editor, isolated: Path, tmp_path: Path, git: object
) -> None:
    assert callable(git)
    tree, review = tmp_path / "tree", editor.repo / ".lerim" / "review"
    git(editor.repo, "worktree", "add", "-q", str(tree))
    await editor.start(root=tree)
    (told,) = await editor.until(lambda: editor.told[core.WATCH_FOLDERS])
    memory = [tree / ".lerim" / "memory" / name for name in ("decisions", "learnings", "questions", "themes")]
    assert told.folders == [path.as_uri() for path in (review, *memory)]
    assert not (tree / ".lerim").exists() and not (editor.repo / ".lerim").exists()
    await editor.until(editor.globs)
    assert [glob for glob in editor.globs() if not isinstance(glob, str)] == [(review.as_uri(), "*.md")]

    waiting = propose(review_paths(tree))
    editor.changed(review / f"{waiting}.md")
    await editor.until(lambda: pending_told(editor) == [1])
    queue.reject_candidate(review_paths(tree), waiting)
    editor.changed(review / f"{waiting}.md")
    await editor.until(lambda: pending_told(editor) == [1, 0])


async def test_a_folder_that_is_added_is_watched_too(editor: Editor, tmp_path: Path, git: object) -> None:
    assert callable(git)
    tree = tmp_path / "tree"
    git(editor.repo, "worktree", "add", "-q", str(tree))
    lone = tmp_path / "lone"
    lone.mkdir()
    await editor.start(root=lone)
    await editor.until(editor.globs)
    added = types.WorkspaceFolder(tree.as_uri(), "tree")
    params = types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([added], []))
    editor.client.workspace_did_change_workspace_folders(params)
    review = editor.repo / ".lerim" / "review"
    await editor.until(lambda: (review.as_uri(), "*.md") in editor.globs())
    assert len(editor.globs()) == 3


async def test_a_memory_changed_since_is_refused_with_the_difference_beside_the_message(
    editor: Editor, isolated: Path
) -> None:
    waiting = propose(review_paths(editor.repo))
    await editor.start()
    act = {"root": editor.root, "id": waiting, "action": "accept", "quotes": "shared"}
    write_below((await editor.ask(core.REVIEW_ACT, act)).path, "My own line.")
    refused = await editor.refused(core.REVIEW_UNDO, {"root": editor.root})
    assert refused.data["kind"] == "stale"
    assert "+My own line." in refused.data["diff"] and "My own line" not in refused.message


async def test_an_unknown_candidate_and_an_unknown_root_are_errors_with_a_kind(editor: Editor, tmp_path: Path) -> None:
    await editor.start()
    act = {"root": editor.root, "id": "20260801-nothing", "action": "accept"}
    assert (await editor.refused(core.REVIEW_ACT, act)).data["kind"] == "not-found"
    outside = {"root": tmp_path.as_uri()}
    assert (await editor.refused(core.REVIEW_LIST, outside)).data["kind"] == "project"


async def test_candidates_of_sessions_outside_any_repository_wait_beside_the_first_repositorys(
    editor: Editor, isolated: Path
) -> None:
    personal = review_paths(editor.repo).personal()
    found = queue.propose_candidate(personal, replace(CANDIDATE, references=()))
    assert isinstance(found, queue.CandidateProposed)
    await editor.start()
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert [(one.title, one.scope) for one in listed.candidates] == [(CANDIDATE.title, "global")]

    act = {"root": editor.root, "id": found.proposal.id, "scope": "global", "action": "accept", "quotes": "shared"}
    done = await editor.ask(core.REVIEW_ACT, act)
    assert done.ok
    assert Path(done.path).is_relative_to(isolated / ".lerim" / "memory")
    assert memory_files(editor.repo) == []
    await editor.until(lambda: editor.told[core.CANDIDATES_CHANGED])
    assert editor.told[core.CANDIDATES_CHANGED][-1].pending == 0

    undone = await editor.ask(core.REVIEW_UNDO, {"root": editor.root, "action": done.action})
    assert undone.ok
    assert not is_there(done.path)
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert [one.scope for one in listed.candidates] == ["global"]


async def test_what_was_left_out_is_listed_and_proposed_and_undo_takes_it_back(editor: Editor, isolated: Path) -> None:
    place = review_paths(editor.repo)
    queue.keep_left_out(place, [drop_candidate(CANDIDATE, "below-the-cut", "", score=0.3)])
    queue.keep_left_out(place.personal(), [drop_candidate(replace(CANDIDATE, title="My own"), "duplicate", "")])
    await editor.start()
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert (len(listed.candidates), listed.leftOut) == (0, 2)
    left = await editor.ask(core.REVIEW_LEFT_OUT, {"root": editor.root, "most": 10})
    assert {(one.title, one.scope, one.score, one.canPropose) for one in left.items} == {
        (CANDIDATE.title, "project", 0.3, True),
        ("My own", "global", None, True),
    }
    assert left.total == 2
    assert len((await editor.ask(core.REVIEW_LEFT_OUT, {"root": editor.root, "most": 1})).items) == 1
    [ours] = [one for one in left.items if one.scope == "project"]
    done = await editor.ask(core.REVIEW_PROPOSE, {"root": editor.root, "id": ours.id, "scope": "project"})
    assert done.ok
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert ([one.title for one in listed.candidates], listed.leftOut) == ([CANDIDATE.title], 1)
    assert listed.undo.action == done.action
    await editor.ask(core.REVIEW_UNDO, {"root": editor.root, "action": done.action})
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert (len(listed.candidates), listed.leftOut) == (0, 2)


SOURCE = "import os\n\n\nclass Store:\n    def load(self):\n        return 1\n"


async def test_a_candidate_is_a_comment_on_the_line_it_speaks_of_with_its_quote_and_nothing_that_works(
    editor: Editor, isolated: Path
) -> None:
    paths = review_paths(editor.repo)
    (editor.repo / "src").mkdir(exist_ok=True)
    (editor.repo / "src" / "store.py").write_text(SOURCE)
    hostile = "[press](command:workbench.action.quit) <b>now</b> https://evil.test"
    found = propose(paths, references=("src/store.py#Store.load",), body=hostile, confidence=0.9)
    gone = propose(paths, title="Use sqlite", turn="b" * 12, references=("src/store.py#Store.save",))
    propose(paths, title="Use tox", turn="c" * 12, references=("src/other.py",))
    await editor.start()
    store = editor.open("src/store.py", SOURCE)
    told = await editor.ask(core.REVIEW_FOR_FILE, {"uri": store})
    assert told.root == editor.root
    assert [(one.id, one.line, one.symbol, one.found) for one in told.comments] == [
        (found, 4, "Store.load", True),
        (gone, 0, "Store.save", False),
    ]
    comment = told.comments[0]
    assert comment.heading == "Lerim proposes a preference · confidence 90 %"
    assert (comment.title, comment.body, comment.choice) == (CANDIDATE.title, hostile, False)
    assert comment.text.startswith("**Use uv\\, not pip**")
    assert "> “no\\, Use uv\\, not pip”  \n> (you)" in comment.text
    assert "](" not in comment.text and "<b>" not in comment.text and "https:" not in comment.text
    assert await editor.hover(store, 4, 9) is None  # a candidate is inert everywhere else

    assert (
        await editor.ask(core.REVIEW_ACT, {"root": told.root, "id": found, "action": "accept", "quotes": "shared"})
    ).ok
    propose(paths, title="Use uv instead of pip", turn="d" * 12, references=("src/store.py",))
    told = await editor.ask(core.REVIEW_FOR_FILE, {"uri": store})
    assert sorted((one.title, one.choice) for one in told.comments) == [
        ("Use sqlite", False),
        ("Use uv instead of pip", True),
    ]


async def test_a_comment_says_once_what_its_title_and_text_and_quote_all_say(editor: Editor) -> None:
    paths = review_paths(editor.repo)
    said = (Evidence("Use uv, not pip.", CANDIDATE.turn, "user"), Evidence("uv it is", CANDIDATE.turn, "assistant"))
    propose(paths, body="Use uv, not pip", evidence=said)
    reason = "Amounts are in cents, as billing wants them."
    quote = (Evidence(reason, "b" * 12, "user"),)
    propose(paths, title="Amounts are in cents", body=reason, turn="b" * 12, evidence=quote, confidence=0.5)
    await editor.start()
    told = await editor.ask(core.REVIEW_FOR_FILE, {"uri": editor.open("src/app.py", SOURCE)})
    assert [one.text.split("\n\n") for one in told.comments] == [
        ["**Use uv\\, not pip** (you)", "> “uv it is”  \n> (the agent)"],
        ["**Amounts are in cents**", "> “Amounts are in cents\\, as billing wants them\\.”  \n> (you)"],
    ]
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert [(one.body, one.text) for one in listed.candidates] == [(reason, ""), ("Use uv, not pip", "")]


async def test_in_the_form_the_tags_of_other_candidates_are_offered_too_also_before_there_is_a_memory(
    editor: Editor, isolated: Path
) -> None:
    first = propose(review_paths(editor.repo), tags=("style", "redis"))
    propose(review_paths(editor.repo), "Use ruff", turn="b" * 12, tags=("style", "ruff"))
    await editor.start()

    async def suggest(typed: str, *present: str) -> list[tuple[str, str]]:
        params = {"root": editor.root, "scope": "project", "field": "tags", "typed": typed, "present": list(present)}
        return [(one.value, one.note) for one in (await editor.ask(core.REVIEW_COMPLETE, params)).items]

    assert await suggest("r", "ruff") == [("redis", "in 1 candidate")]
    assert await suggest("ST", "redis") == [("style", "in 2 candidates")]
    accept = {"root": editor.root, "id": first, "action": "accept", "quotes": "shared"}
    assert (await editor.ask(core.REVIEW_ACT, accept)).ok
    assert await suggest("") == [("style", "in 1 memory"), ("redis", "in 1 memory"), ("ruff", "in 1 candidate")]


async def test_in_the_form_tags_and_references_are_completed_as_in_a_memorys_file(editor: Editor) -> None:
    write_memory(editor.repo, tags=("style", "files"), references=())
    (editor.repo / "src").mkdir(exist_ok=True)
    (editor.repo / "src/app.py").write_text("class Store:\n    def save(self):\n        pass\n", encoding="utf-8")
    await asyncio.to_thread(subprocess.run, ["git", "add", "src/app.py"], cwd=editor.repo, check=True)
    await editor.start()

    async def suggest(field: str, typed: str, *present: str, scope: str = "project") -> list[str]:
        params = {"root": editor.root, "scope": scope, "field": field, "typed": typed, "present": list(present)}
        return [one.value for one in (await editor.ask(core.REVIEW_COMPLETE, params)).items]

    assert (await suggest("tags", "ST"), await suggest("tags", "st", "style")) == (["style"], [])
    assert await suggest("references", "src/app") == ["src/app.py"]
    assert await suggest("references", "src/app", scope="global") == []
    assert await suggest("references", "later") == []
    (editor.repo / "src/later.py").write_text("", encoding="utf-8")
    await asyncio.to_thread(subprocess.run, ["git", "add", "src/later.py"], cwd=editor.repo, check=True)
    assert await suggest("references", "later") == ["src/later.py"]
    await asyncio.to_thread(subprocess.run, ["git", "rm", "-qf", "src/later.py"], cwd=editor.repo, check=True)
    assert await suggest("references", "later") == []
    assert await suggest("references", "src/app.py#s", "src/app.py#Store") == ["src/app.py#Store.save"]
