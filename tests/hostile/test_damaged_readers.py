"""Every reader on stores that are damaged at random: what it cannot read costs that store alone, and is told.

LERIM_LONG multiplies the number of examples. A failure names its seed: run it again with that number alone.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import cursor_store
import damage
import gemini_files
import opencode_store
from catalog_dump import listed
from desk import Desk
from lerim.errors import Problem, ReaderError
from lerim.jobs.agent_states import examine_agents
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import DiscoveredStores, discover_stores, open_databases
from lerim.sessions.platforms import find_platform_roots
from lerim.sessions.readers.platform_readers import find_working_folder, read_session
from long import LONG, times
from stories import FIRST
from story_stores import AGENTS, Write

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and links")
READINGS = times(4)
"""Examples of each store that are read into a catalog."""


def packed_codex(home: Path, repo: Path) -> None:
    AGENTS["codex"](home, repo, "damaged", FIRST)
    for path in (home / ".codex").rglob("*.jsonl"):
        path.with_name(f"{path.name}.zst").write_bytes(zstd.compress(path.read_bytes()))
        path.unlink()


def cursor_cli(home: Path, repo: Path) -> None:
    said = [{"role": "user", "content": "Use uv"}, {"role": "assistant", "content": [{"type": "text", "text": "Done"}]}]
    path = cursor_store.cli_chat(home / ".cursor" / "chats" / "c" / "s" / "store.db", said * 3)
    (path.parent / "meta.json").write_text(json.dumps({"cwd": str(repo)}), encoding="utf-8")


def cursor_tabs(home: Path, repo: Path) -> None:
    old = {"version": 1, "tabs": [{"tabId": "t1", "bubbles": [{"type": "user", "id": "b1", "text": "An old chat"}]}]}
    editor = cursor_store.Editor(home / ".config" / "Cursor" / "User")
    editor.workspace("w1", repo.as_uri(), workbench__panel__aichat__view__aichat__chatdata=old)


def cursor_agents(home: Path, _: Path) -> None:
    lines = [{"role": role, "message": {"content": [{"type": "text", "text": "Hi"}]}} for role in ("user", "assistant")]
    path = home / ".cursor" / "projects" / "p" / "agent-transcripts" / "s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(map(json.dumps, lines * 5)) + "\n", encoding="utf-8")


def opencode_files(home: Path, repo: Path) -> None:
    store = opencode_store.Store("ses_files", directory=str(repo))
    for _ in range(3):
        store.say("user", opencode_store.text("Use uv"))
        store.say("assistant", opencode_store.text("Done"), opencode_store.tool("bash", {"command": "ls"}, "a"))
    store.files(home / ".local" / "share" / "opencode" / "storage")


def write_story(write: Write, home: Path, repo: Path) -> None:
    write(home, repo, "damaged", FIRST)


def gemini_whole(home: Path, _: Path) -> None:
    made = gemini_files
    path = made.chats(home / ".gemini") / "session-2026-05-01T00-00-whole.json"
    made.whole(path, *(made.prompt("Use uv"), made.reply("Done", made.call("read_file", file_path="/a/b"))) * 4)


STORES: dict[str, Callable[[Path, Path], None]] = {
    **{name: functools.partial(write_story, write) for name, write in AGENTS.items()},
    "codex-packed": packed_codex,
    "cursor-cli": cursor_cli,
    "cursor-tabs": cursor_tabs,
    "cursor-agents": cursor_agents,
    "opencode-files": opencode_files,
    "gemini-whole": gemini_whole,
}


class Nobody:
    def find_owner(self, cwd: str) -> str:
        del cwd
        return ""


def files_of(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*") if path.is_file() and ".lerim" not in path.parts)


def damaged(rng: random.Random, files: list[Path]) -> str:
    """Damages one of the files; says which and how."""
    path = rng.choice([one for one in files if one.stat().st_size] or files)
    kinds = damage.OF_DATABASES if path.suffix in (".db", ".vscdb") else damage.OF_FILES
    kind = rng.choice(damage.INSTEAD if rng.random() < 0.1 else kinds)
    kind(rng, path)
    if path.is_file() and not path.is_symlink():
        cursor_store.dated_back(path)
    return f"{kind.__name__} of {path.name}"


@contextmanager
def kept(home: Path, aside: Path) -> Iterator[Callable[[], None]]:
    """Puts the home back as it is now whenever the function given is called."""
    shutil.copytree(home, aside, symlinks=True)

    def put_back() -> None:
        for one in home.iterdir():
            if one.name != ".lerim":
                shutil.rmtree(one)
        shutil.copytree(aside, home, symlinks=True, dirs_exist_ok=True)

    yield put_back


def read_all(home: Path, lerim: Home) -> list[Problem]:
    """Takes everything that lies in the home into a catalog; the problems met."""
    stores: DiscoveredStores = discover_stores(find_platform_roots(os.environ, lerim), ["/somewhere"])
    open_databases(stores, {}, ["/somewhere"])
    problems = list(stores.problems)
    for one in stores.transcripts:
        assert isinstance(find_working_folder(one), str)
    with Catalog.open(lerim) as catalog:
        readings = ((one, read_session(one, None, brief=True)) for one in stores.transcripts)
        for done in catalog.index_transcripts(readings, Nobody()):
            problems += done.problems
    return problems


@pytest.mark.parametrize("name", STORES)
def test_a_damaged_store_is_read_as_far_as_it_can_be(repo: Path, isolated: Path, tmp_path: Path, name: str) -> None:
    STORES[name](isolated, repo)
    with kept(isolated, tmp_path / "aside") as put_back:
        for seed in range(READINGS):
            rng = random.Random(f"{name} {seed}")
            what = damaged(rng, files_of(isolated))
            problems = read_all(isolated, Home(isolated / ".lerim"))
            faults = [one.message for one in problems if one.code == ReaderError.code]
            assert faults == [], f"{name}, seed {seed}: {what}"
            put_back()


def test_a_damaged_store_keeps_no_other_agent_from_being_read(desk: Desk, repo: Path, isolated: Path) -> None:
    for seed in range(LONG * len(STORES) or 2):
        rng = random.Random(f"sync {seed}")
        name = rng.choice(list(STORES))
        STORES[name](isolated, repo)
        ours = files_of(isolated)
        others = [agent for agent in AGENTS if agent.partition("-")[0] != name.partition("-")[0]]
        for agent in others:
            AGENTS[agent](isolated, repo, f"good-{agent}", FIRST)
        what = f"{name}, seed {seed}: {damaged(rng, ours)}"
        report = desk.sync()
        assert report.state in ("done", "partial"), what
        with Catalog.open(desk.home) as catalog:
            read = {row.session_id for row in listed(catalog, desk.place.project.key)}
        assert len(read) >= len(others), f"{what}: {report.problems}"
        views = examine_agents(desk.home, os.environ, desk.place.project)
        failed = sum(one.found - one.parsed - one.waiting for one in views)
        assert not failed or report.problems, what
        for one in isolated.iterdir():
            shutil.rmtree(one)
