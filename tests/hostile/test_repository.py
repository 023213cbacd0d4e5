"""A cloned repository that ships a `.lerim/` made to harm: it is survived, ignored where it is not a memory, and
nothing is written outside."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from desk import Desk, correction
from lerim.errors import LerimError
from lerim.lsp.protocol import core
from lerim.review import queue
from long import at_most
from rights import Terminal, tree
from window import RECORD, Editor, write_memory

Window = Callable[..., Awaitable[Editor]]
WAS_HERE = "/tmp/lerim-was-here"
MEMORY_BOUND = 200 * 1024 * 1024
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
)
HEAD = (
    "id: {id}\ntitle: Forged {id}\ncreated: 2026-08-01\nupdated: 2026-08-01\nsource: manual\n"
    "confidence: 0.9\ntags: []\n"
)
HEADERS = {
    "alias-bomb": BOMB,
    "deep-flow": "a: " + "[" * 30_000,
    "deep-block": "- " * 30_000,
    "deep-map": "".join(f"{' ' * n}a:\n" for n in range(250)),
    "huge": "x: " + "y" * 200_000,
    "many": "x: {" + ",".join(f"a{n}: [1, 2, {{b: c}}]" for n in range(2900)) + "}",
    "sexagesimal": "x: " + ":".join(["1"] * 30_000),
    "digits": "x: " + "9" * 60_000,
    "python": "x: !!python/object/apply:os.system ['touch /tmp/lerim-was-here']",
    "merge": "x: &x {a: b}\n<<: *x",
    "tags": "tags: !!set {a, b}\nkind: !!binary aGVsbG8=\nevidence: !!omap [a: b]\nrelated: !!pairs [a: b]",
    "times": "created: 9999-12-31T23:59:59-23:59\nupdated: 0001-01-01T00:00:00+23:59\nconfidence: .nan",
    "types": "title: [a]\nsource: {a: b}\nconfidence: yes\nreferences: {a: b}\nevidence: 5\ntags: [[a]]",
    "nul": 'title: "a\\0b"\nreferences: ["src/app.py\\0", "/etc/passwd", "C:\\\\x", "../../x", "~/x", "file:///etc"]',
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What lies outside the repository, and must stay as it is and unread."""
    folder = tmp_path / "outside"
    for name in ("decisions", "review", "index"):
        (folder / name).mkdir(parents=True)
    (folder / "decisions" / "20260801-private.md").write_text(
        "---\n" + HEAD.format(id="20260801-private") + "references: [src/app.py]\n---\n\nPRIVATE\n", encoding="utf-8"
    )
    (folder / "config.toml").write_text("[search]\nlimit = 3\nPRIVATE = 1\n", encoding="utf-8")
    return folder


def was_here() -> bool:
    """Whether something the repository brought was run."""
    return os.path.lexists(WAS_HERE)


async def survives(
    desk: Desk, terminal: Terminal, window: Window, memories: set[str], *, process: bool = False
) -> tuple[Editor, str]:
    """Sync, list, hover, lens, search and accept work on the repository; returns the window and all that was said."""
    desk.session("s1", *correction(desk))
    said = []
    for arguments in (("memory", "list"), ("review", "list")):
        done = terminal(*arguments, "--json")
        assert "unexpected" not in done.stdout, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        json.loads(done.stdout)
        said += [done.stdout, done.stderr]
    editor = await window(process=process)
    app = editor.open("src/app.py")
    shown = await editor.hover(app, 0, 5)
    assert all(title in (shown or "") for title in memories)
    assert bool(await editor.lenses(app)) == bool(memories)
    report = await editor.ask(core.SYNC, {"root": editor.root})
    assert len(report.candidates) == 1, report
    for view in report.candidates:
        wanted = {"root": editor.root, "id": view.id, "action": "accept", "quotes": "shared"}
        assert (await editor.ask(core.REVIEW_ACT, wanted)).ok
    found = await editor.ask(core.MEMORY_SEARCH, {"root": editor.root, "query": "pathlib", "limit": 5})
    assert len(found.memories) >= 1
    return editor, "".join([*said, str(shown), str(report), str(found)])


@pytest.mark.asyncio
async def test_headers_made_to_harm_are_told_as_unreadable_or_read_as_text(
    desk: Desk, terminal: Terminal, window: Window
) -> None:
    write_memory(desk.repo)
    folder = desk.repo / ".lerim" / "memory" / "decisions"
    for name, evil in HEADERS.items():
        known = HEAD.format(id=f"20260801-{name}")
        keys = {line.partition(":")[0] for line in evil.splitlines()}
        kept = "".join(f"{line}\n" for line in known.splitlines() if line.partition(":")[0] not in keys)
        (folder / f"20260801-{name}.md").write_text(f"---\n{kept}{evil}\n---\n\nBody\n", encoding="utf-8")
    (folder / "20260801-latin.md").write_bytes(b"---\ntitle: \xe9\xff\n---\n\n\xfe\n")
    (folder / "20260801-utf16.md").write_bytes("---\ntitle: x\n---\n".encode("utf-16"))
    (folder / "20260801-open.md").write_text("---\n" + "a: b\n" * 40_000, encoding="utf-8")
    (folder / "20260801-empty.md").write_text("", encoding="utf-8")
    before = tree(folder)
    editor, said = await survives(desk, terminal, window, {"Keep load small"})
    assert {path: state for path, state in tree(folder).items() if path in before and path != str(folder)} == {
        path: state for path, state in before.items() if path != str(folder)
    }
    assert not was_here()
    for name in ("alias-bomb", "deep-flow", "huge", "many", "sexagesimal", "python", "latin", "utf16", "open", "empty"):
        assert f"20260801-{name}.md" in said
    await editor.until(lambda: len(editor.client.diagnostics) >= 10)


@pytest.mark.asyncio
async def test_files_that_are_no_files_and_names_made_to_harm_hang_and_break_nothing(
    desk: Desk, terminal: Terminal, window: Window
) -> None:
    write_memory(desk.repo)
    folder = desk.repo / ".lerim" / "memory" / "decisions"
    os.mkfifo(folder / "20260801-pipe.md")
    os.mkfifo(desk.repo / ".lerim" / "config.toml")
    os.mkfifo(desk.repo / ".lerim" / ".gitignore")
    (folder / "20260801-folder.md").mkdir()
    text = "---\n" + HEAD.format(id="x") + "---\n\nBody\n"
    names = [b"20260801-a\nb.md", b"20260801-\xff\xfe.md", b"20260801-\x1b[31m.md", "20260801-\u202eb.md".encode()]
    names += [b"-rf.md", b"a" * 250 + b".md", b"%2e%2e%2fx.md", b"..\\x.md", b" .md", b"command:x(y).md", b"a#b?c.md"]
    for name in names:
        (folder / os.fsdecode(name)).write_text(text, encoding="utf-8")
    (desk.repo / ".lerim" / "review").mkdir()
    (desk.repo / ".lerim" / "review" / os.fsdecode(b"\xff.md")).write_text(text, encoding="utf-8")
    (desk.repo / ".lerim" / "memory" / os.fsdecode(b"stray-\xff.md")).write_text(text, encoding="utf-8")
    sparse = folder / "20260801-sparse.md"
    with sparse.open("wb") as file:
        file.truncate(1024**3)
    editor, _ = await survives(desk, terminal, window, {"Keep load small"}, process=True)
    assert psutil.Process(editor.server_pid).memory_info().rss < MEMORY_BOUND
    titles = await editor.ask(core.MEMORY_TITLES, {"root": editor.root, "start": 0})
    assert len(titles.memories) >= len(names) - 1
    done = terminal("memory", "list")
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr


@pytest.mark.asyncio
async def test_many_thousand_files_are_taken_in_within_bounds(desk: Desk, window: Window) -> None:
    write_memory(desk.repo)
    memory = desk.repo / ".lerim" / "memory"
    seed = memory / "decisions" / "20260801-seed.md"
    seed.write_text("no memory at all\n", encoding="utf-8")
    for name in ("decisions", "learnings", "stray"):
        (memory / name).mkdir(exist_ok=True)
        for number in range(at_most(16_667, 500)):
            os.link(seed, memory / name / f"20260801-{number}.md")
    desk.session("s1", *correction(desk))
    editor = await window(process=True)
    assert "Keep load small" in (await editor.hover(editor.open("src/app.py"), 0, 5) or "")
    report = await editor.ask(core.SYNC, {"root": editor.root})
    assert len(report.candidates) == 1
    assert len(report.problems) < 1000
    found = await editor.ask(core.MEMORY_SEARCH, {"root": editor.root, "query": "load", "limit": 5})
    assert [one.title for one in found.memories] == ["Keep load small"]
    assert len(editor.client.diagnostics) <= 200
    assert psutil.Process(editor.server_pid).memory_info().rss < MEMORY_BOUND


LINKS = (
    ("", ""),
    ("memory", "decisions/.."),
    ("memory/decisions", "decisions"),
    ("memory/decisions/20260801-private.md", "decisions/20260801-private.md"),
    ("review", "review"),
    ("index", "index"),
    ("workspace", "review"),
    (".gitignore", "config.toml"),
    ("config.toml", "config.toml"),
)
"""(where in `.lerim`, to what outside)."""


@pytest.mark.asyncio
@pytest.mark.parametrize(("where", "target"), LINKS)
async def test_a_link_out_of_the_repository_is_neither_read_nor_written_through(
    desk: Desk, terminal: Terminal, outside: Path, where: str, target: str
) -> None:
    link = desk.repo / ".lerim" / where if where else desk.repo / ".lerim"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / target if target else outside)
    before = tree(outside)
    desk.session("s1", *correction(desk))
    said = []
    for arguments in (("sync",), ("memory", "search", "private")) if "memory" in where else (("sync",),):
        done = terminal(*arguments, "--json")
        assert "unexpected" not in done.stdout, done.stdout + done.stderr
        said.append(done.stdout)
    report = json.loads(said[0])
    for view in report["candidates"]:
        with contextlib.suppress(LerimError):
            queue.accept_candidate(desk.place, view["id"], quotes="shared")
    assert "PRIVATE" not in "".join(said)
    assert tree(outside) == before
    assert report["candidates"] or report["problems"]
    if where in ("memory", "memory/decisions", "config.toml", "review", ""):
        assert "link" in "".join(said)


def forged_review(desk: Desk) -> list[Path]:
    """Candidates, index and run folders as another installation would have left them."""
    lerim = desk.repo / ".lerim"
    (lerim / "review").mkdir(parents=True)
    made = []
    for name in ("20260801-forged", "20260301-use-pathlib-not-os-path-in-src-app-py"):
        path = lerim / "review" / f"{name}.md"
        path.write_text(
            "---\n" + HEAD.format(id=name) + "primitive: decision\naction: add\nsession: s\nplatform: claude\n"
            "time: 2026-08-01\nsignal: correction\nflags: []\nstatus: pending\n---\n\nFORGED\n",
            encoding="utf-8",
        )
        made.append(path)
    (lerim / "index").mkdir()
    for name in ("memories.sqlite3", "sessions.sqlite3", "review.sqlite3"):
        with sqlite3.connect(lerim / "index" / name) as database:
            database.execute("CREATE TABLE meta (nonce TEXT)")
            database.execute("CREATE VIEW files AS SELECT load_extension('/tmp/x') AS path")
            database.execute("CREATE TRIGGER t AFTER INSERT ON meta BEGIN SELECT writefile('/tmp/x', 'x'); END")
            database.execute("PRAGMA user_version = 2")
        database.close()
        for suffix in ("-wal", "-journal", "-shm"):
            (lerim / "index" / f"{name}{suffix}").write_bytes(b"FORGED")
    (lerim / "review.sqlite3").write_bytes(b"FORGED")
    (lerim / "projects").mkdir()
    (lerim / "config.toml").write_text(
        "accept_above = 0.0\n[sync]\naccept_above = 0.0\nsince = 9\n[review]\nquotes = 'shared'\n"
        "[providers]\nbase_url = 'https://evil.invalid'\napi_key = 'FORGED'\n"
        "[roles.extract]\nprovider = 'openai'\nmodel = 'x'\ncommand = ['touch', '/tmp/lerim-was-here']\n",
        encoding="utf-8",
    )
    return made


@pytest.mark.asyncio
async def test_forged_candidates_index_and_settings_have_no_effect(
    desk: Desk, terminal: Terminal, window: Window
) -> None:
    write_memory(desk.repo)
    made = forged_review(desk)
    listed = json.loads(terminal("review", "list", "--json").stdout)
    assert listed["candidates"] == []
    assert {problem["code"] for problem in listed["problems"]} == {"foreign-candidate"}
    for path in made:
        for decide in (queue.accept_candidate, queue.reject_candidate):
            with pytest.raises(LerimError):
                decide(desk.place, path.stem)
    assert desk.memories() == ["Keep load small"]
    _, said = await survives(desk, terminal, window, {"Keep load small"})
    assert "FORGED" not in said
    assert all(path.exists() for path in made)
    assert len(desk.memories()) == 2
    problems = json.loads(terminal("sync", "--json").stdout)["problems"]
    settings = [problem["message"] for problem in problems if problem["code"] == "settings"]
    for name in ("sync.accept_above", "review.quotes", "providers.base_url", "providers.api_key"):
        assert any(name in message for message in settings), (name, settings)
    assert not was_here()
    with sqlite3.connect(desk.repo / ".lerim" / "index" / "memories.sqlite3") as database:
        assert database.execute("SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone() == (
            0,
        )
    database.close()


@pytest.mark.asyncio
async def test_in_restricted_mode_a_hostile_repository_is_read_and_nothing_is_written(
    desk: Desk, window: Window
) -> None:
    write_memory(desk.repo, title=f"{RECORD.title} [x](command:evil) <b>")
    forged_review(desk)
    before = tree(desk.repo)
    editor = await window(trusted=False, process=True)
    shown = await editor.hover(editor.open("src/app.py"), 0, 5)
    assert shown is not None
    assert shown.startswith("*From the repository, which you have not marked as trusted*")
    assert "](command:evil" not in shown
    for method, params in (
        (core.SYNC, {"root": editor.root}),
        (core.REVIEW_LIST, {"root": editor.root}),
        (core.REVIEW_ACT, {"root": editor.root, "id": "20260801-forged", "action": "accept"}),
        (core.TURN, {"root": None, "session": "s", "turn": "0" * 12}),
    ):
        assert (await editor.refused(method, params)).data["kind"] == "untrusted"
    found = await editor.ask(core.MEMORY_SEARCH, {"root": editor.root, "query": "load", "limit": 5})
    assert len(found.memories) == 1
    assert tree(desk.repo) == before
    assert not desk.home.root.exists()
    assert psutil.Process(editor.server_pid).children(recursive=True) == []
