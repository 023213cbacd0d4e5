"""Windows of several folders, repositories in repositories, submodules, bare ones, and no repository at all."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types

from desk import Desk, correction
from lerim.lsp.protocol import core
from lerim.project import project
from lerim.review.review_paths import ReviewPaths
from rights import Terminal, tree
from window import Editor, write_memory

Window = Callable[..., Awaitable[Editor]]
Git = Callable[..., str]


def made(root: Path, git: Git, title: str) -> Path:
    """A repository with one memory about its `src/app.py`."""
    (root / "src").mkdir(parents=True, exist_ok=True)
    (root / "src" / "app.py").write_text("def load(path): ...\n", encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Start")
    write_memory(root, title=title)
    return root


def opened_in(editor: Editor, root: Path, file: str = "src/app.py") -> str:
    return editor.open(file, (root / file).read_text(encoding="utf-8"), (root / file).as_uri())


def add_folders(editor: Editor, *folders: Path) -> None:
    added = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]
    event = types.WorkspaceFoldersChangeEvent(added, [])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))


def titles_at(desk: Desk, root: Path) -> list[str]:
    found = project.locate_project(root, desk.home)
    assert found
    return [item.record.title for item in ReviewPaths(found, desk.home).store().load_all()[0]]


@pytest.mark.asyncio
async def test_a_file_belongs_to_the_innermost_repository_of_a_window_of_many(
    desk: Desk, git: Git, window: Window, tmp_path: Path
) -> None:
    write_memory(desk.repo, title="Outer")
    inner = made(desk.repo / "vendor" / "inner", git, "Inner")
    other = made(tmp_path / "other", git, "Other")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "app.py").write_text("def load(): ...\n", encoding="utf-8")
    editor = await window()
    add_folders(editor, inner, other, plain)
    for root, title in ((desk.repo, "Outer"), (inner, "Inner"), (other, "Other")):
        shown = await editor.hover(opened_in(editor, root), 0, 5)
        assert shown is not None
        assert {name for name in ("Outer", "Inner", "Other") if name in shown} == {title}
    assert await editor.hover(opened_in(editor, plain, "app.py"), 0, 5) is None

    desk.session("s1", *correction(desk), cwd=inner)
    report = await editor.ask(core.SYNC, {"root": editor.root})
    assert report.candidates == []
    report = await editor.ask(core.SYNC, {"root": inner.as_uri()})
    (view,) = report.candidates
    wanted = {"root": inner.as_uri(), "id": view.id, "action": "accept", "quotes": "shared"}
    outer = {**wanted, "root": editor.root}
    assert (await editor.refused(core.REVIEW_ACT, outer)).data["kind"] == "not-found"
    assert (await editor.ask(core.REVIEW_ACT, wanted)).ok
    assert sorted(titles_at(desk, inner)) == sorted(["Inner", view.title])
    assert titles_at(desk, desk.repo) == ["Outer"]
    for method in (core.SYNC, core.REVIEW_LIST):
        error = await editor.refused(method, {"root": plain.as_uri()})
        assert error.data["kind"] == "project"
        assert "git init" in error.message
    assert list(plain.iterdir()) == [plain / "app.py"]


@pytest.mark.asyncio
async def test_a_submodule_is_a_project_of_its_own(desk: Desk, git: Git, window: Window, tmp_path: Path) -> None:
    library = made(tmp_path / "library", git, "Of the library")
    git(desk.repo, "submodule", "add", "-q", str(library), "lib")
    write_memory(desk.repo, title="Of the app")
    module = desk.repo / "lib"
    write_memory(module, title="Of the module")
    editor = await window()
    assert "Of the module" in (await editor.hover(opened_in(editor, module), 0, 5) or "")
    assert "Of the app" in (await editor.hover(opened_in(editor, desk.repo), 0, 5) or "")
    desk.session("s1", *correction(desk), cwd=module)
    assert desk.sync().candidates == []
    report = await editor.ask(core.SYNC, {"root": module.as_uri()})
    assert len(report.candidates) == 1
    assert list((module / ".lerim" / "review").glob("*.md"))
    assert not (desk.repo / ".lerim" / "review").exists()


@pytest.mark.asyncio
async def test_worktrees_of_a_bare_repository_keep_candidates_in_the_home(
    desk: Desk, git: Git, window: Window, tmp_path: Path
) -> None:
    bare = tmp_path / "app.git"
    git(desk.repo, "clone", "-q", "--bare", str(desk.repo), str(bare))
    tree_one = tmp_path / "one"
    git(bare, "worktree", "add", "-q", str(tree_one), "main")
    desk.session("s1", *correction(desk), cwd=tree_one)
    before = tree(bare)
    editor = await window(tree_one)
    (view,) = (await editor.ask(core.SYNC, {"root": editor.root})).candidates
    assert str(desk.home.root) in view.path
    wanted = {"root": editor.root, "id": view.id, "action": "accept", "quotes": "shared"}
    result = await editor.ask(core.REVIEW_ACT, wanted)
    assert Path(result.path).is_relative_to(tree_one / ".lerim" / "memory")
    assert {name for name in tree(bare) if name not in before} == set()


@pytest.mark.asyncio
async def test_in_a_bare_repository_itself_nothing_is_written(
    desk: Desk, git: Git, terminal: Terminal, window: Window, tmp_path: Path
) -> None:
    bare = tmp_path / "app.git"
    git(desk.repo, "clone", "-q", "--bare", str(desk.repo), str(bare))
    desk.session("s1", *correction(desk), cwd=bare)
    before = tree(bare)
    done = terminal("sync", "--json", cwd=bare)
    assert "unexpected" not in done.stdout, done.stdout + done.stderr
    json.loads(done.stdout)
    assert tree(bare) == before
    editor = await window(bare)
    assert (await editor.ask(core.DEBUG, {})).version


@pytest.mark.asyncio
async def test_without_a_repository_every_question_is_answered_or_politely_refused(
    desk: Desk, terminal: Terminal, window: Window, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "app.py").write_text("def load(): ...\n", encoding="utf-8")
    write_memory(plain)
    before = tree(plain)
    desk.session("s1", *correction(desk), cwd=plain)
    editor = await window(plain)
    app = opened_in(editor, plain, "app.py")
    assert await editor.hover(app, 0, 5) is None
    assert await editor.lenses(app) == []
    assert (await editor.ask(core.MEMORY_FOR_FILE, {"uri": app})).memories == []
    assert (await editor.ask(core.MEMORY_SEARCH, {"root": None, "query": "x", "limit": 5})).memories == []
    assert (await editor.refused(core.SYNC, {"root": editor.root})).data["kind"] == "project"
    for arguments in (("sync",), ("memory", "list")):
        done = terminal(*arguments, "--json", cwd=plain)
        assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (1, "project"), done.stderr
    for uri in ("untitled:Untitled-1", "git:/x/src/app.py", "vscode-userdata:/x", "file://server/share/x.py", "x", ""):
        editor.open("app.py", "def load(): ...\n", uri or "file:")
        assert await editor.hover(uri or "file:", 0, 5) is None
    assert tree(plain) == before


@pytest.mark.asyncio
async def test_a_git_file_that_points_elsewhere_makes_no_other_repository_ours(
    desk: Desk, git: Git, terminal: Terminal, window: Window, tmp_path: Path
) -> None:
    victim = made(tmp_path / "victim", git, "Of the victim")
    desk.session("s1", *correction(desk), cwd=victim)
    thief = tmp_path / "thief"
    (thief / "src").mkdir(parents=True)
    (thief / "src" / "app.py").write_text("def load(): ...\n", encoding="utf-8")
    (thief / ".git").write_text(f"gitdir: {victim / '.git'}\n", encoding="utf-8")
    linked = tmp_path / "linked"
    (linked / "src").mkdir(parents=True)
    (linked / "src" / "app.py").write_text("def load(): ...\n", encoding="utf-8")
    (linked / ".git").symlink_to(victim / ".git")
    loop = tmp_path / "loop"
    loop.mkdir()
    (loop / ".git").symlink_to(loop / ".git")
    os.mkfifo(tmp_path / "pipe")
    piped = tmp_path / "piped"
    piped.mkdir()
    (piped / ".git").symlink_to(tmp_path / "pipe")
    before = tree(victim)
    for folder in (thief, linked, loop, piped):
        done = terminal("sync", "--json", cwd=folder)
        assert "unexpected" not in done.stdout, done.stdout + done.stderr
        assert json.loads(done.stdout).get("candidates", []) == []
        located = project.locate_project(folder, desk.home)
        assert located is None or located.root == folder
    editor = await window(thief)
    assert await editor.hover(opened_in(editor, thief), 0, 5) is None
    assert tree(victim) == before
