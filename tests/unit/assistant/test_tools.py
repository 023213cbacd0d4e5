"""What the explorer may look at, and all the ways out that there are not."""

from __future__ import annotations

import os
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from lerim.assistant import safe_pattern
from lerim.assistant.explorer_tools import MAX_FILE_BYTES, MAX_HITS, MAX_NAMES, MAX_READ_LINES, MORE, ExplorerTools

SECRET = "ghp_" + "a1B2c3D4" * 5


@pytest.fixture
def tools(tmp_path: Path) -> ExplorerTools:
    repo = tmp_path / "repo"
    for name, text in {
        "src/app.py": "import os\n\ndef install():\n    return 'uv'\n",
        "src/deep/other.py": "RETRIES = 5\n",
        "src/settings.py": f'TOKEN = "{SECRET}"\n',
        "README.md": "Installs go through uv.\n",
        ".git/config": "[remote]\n",
        ".env": "KEY=1\n",
        ".lerim/memory/decisions/20260801-uv.md": "---\nid: 20260801-uv\n---\n\nUse uv.\n",
        ".lerim/review/20260802-x.md": "a candidate\n",
        "keys/server.pem": "-----BEGIN\n",
        "node_modules/x/index.js": "uv\n",
    }.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "outside.txt").write_text("outside uv\n", encoding="utf-8")
    return ExplorerTools(repo, repo / ".lerim" / "memory", {3: "use uv here", 4: f"the token is {SECRET}"})


ESCAPES = [
    "repo/../outside.txt",
    "/etc/passwd",
    "repo//etc/passwd",
    "repo/.git/config",
    "repo/.env",
    "repo/.lerim/review/20260802-x.md",
    "memory/../review/20260802-x.md",
    "repo/keys/server.pem",
    "repo/src/app.py\0.md",
    "repo\\..\\outside.txt",
    "repo/C:/Windows/win.ini",
    "repo/src/app.py:stream",
    "session/../3.md",
    "session/99.md",
    "session/³.md",
    f"session/{'9' * 5_000}.md",
    "outside.txt",
    "repo",
    "",
    "repo/id_rsa",
    "repo/" + "a/" * 40 + "b",
]


@pytest.mark.parametrize("name", ESCAPES)
def test_no_name_leads_out_or_to_what_is_hidden(tools: ExplorerTools, name: str) -> None:
    for seen in (tools.read_lines(name), tools.grep("uv|KEY|remote|candidate", name)):
        assert (seen.text, seen.count) == ("", 0)
    assert tools.read_lines(name).problem
    assert tools.glob(name).text == ""


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_no_link_is_followed(tools: ExplorerTools, tmp_path: Path) -> None:
    (tools.root / "out.txt").symlink_to(tmp_path / "outside.txt")
    (tools.root / "out").symlink_to(tmp_path)
    (tools.root / "loop").symlink_to(tools.root)
    (tools.memory_dir / "decisions" / "link.md").symlink_to(tmp_path / "outside.txt")
    for name in ("repo/out.txt", "repo/out/outside.txt", "repo/loop/README.md", "memory/decisions/link.md"):
        assert tools.read_lines(name).text == ""
    assert "out" not in tools.glob("repo/**").text
    assert "outside" not in tools.grep("outside", "repo/**").text


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_folder_of_memories_that_is_a_link_is_none(tools: ExplorerTools, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "decisions").mkdir(parents=True)
    (tmp_path / "elsewhere" / "decisions" / "x.md").write_text("uv")
    linked = tools.root / ".lerim" / "linked"
    linked.symlink_to(tmp_path / "elsewhere")
    other = ExplorerTools(tools.root, linked)
    assert other.read_lines("memory/decisions/x.md").text == ""
    assert other.glob("memory/**").text == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_no_file_and_nobody_waits_for_it(tools: ExplorerTools) -> None:
    os.mkfifo(tools.root / "src" / "pipe.py")
    assert tools.read_lines("repo/src/pipe.py").problem
    assert "src/app.py" in tools.grep("uv", "repo/src/*").text


def test_names_are_found_by_their_parts(tools: ExplorerTools) -> None:
    assert tools.glob("repo/src/*.py").text.split() == ["repo/src/app.py", "repo/src/settings.py"]
    assert tools.glob("repo/**/*.py").text.split() == [
        "repo/src/app.py",
        "repo/src/deep/other.py",
        "repo/src/settings.py",
    ]
    assert tools.glob("memory/**").text.split() == ["memory/decisions/20260801-uv.md"]
    assert tools.glob("session/*").text.split() == ["session/3.md", "session/4.md"]
    assert "node_modules" not in tools.glob("repo/**").text


def test_secrets_are_neither_shown_nor_found(tools: ExplorerTools) -> None:
    assert "[redacted:" in tools.read_lines("repo/src/settings.py").text
    assert SECRET not in tools.read_lines("repo/src/settings.py").text + tools.read_lines("session/4.md").text
    for part in (SECRET, SECRET[:12], "ghp_a"):
        assert tools.grep(part, "repo/**").count == 0
        assert tools.grep(part, "session/*").count == 0


def test_of_a_huge_file_the_beginning_is_there(tools: ExplorerTools) -> None:
    huge = tools.root / "src" / "huge.txt"
    with huge.open("wb") as file:
        file.write(b"first uv\n")
        file.truncate(50_000_000_000)  # with a hole: nothing is written
    assert tools.read_lines("repo/src/huge.txt").text == ""  # zeros are no text
    huge.write_bytes(b"first uv\n" + b"line\n" * MAX_FILE_BYTES)
    seen = tools.read_lines("repo/src/huge.txt")
    assert (seen.count, "too large" in seen.problem) == (MAX_READ_LINES, True)
    assert len(seen.text) < 10_000


def test_many_names_and_many_hits_are_bounded_and_told(tools: ExplorerTools) -> None:
    folder = tools.root / "many"
    folder.mkdir()
    for number in range(MAX_NAMES + 20):
        (folder / f"{number:04}.txt").write_text("uv\n")
    names, hits = tools.glob("repo/many/*"), tools.grep("uv", "repo/many/*")
    assert (names.count, names.problem) == (MAX_NAMES, "20 more")
    assert (hits.count, hits.problem) == (MAX_HITS, MORE)
    (folder / "0000.txt").write_text("uv\n" * (MAX_HITS + 1))
    hits = tools.grep("uv", "repo/many/0000.txt")
    assert (hits.count, hits.problem) == (MAX_HITS, MORE)


def test_a_call_ends_in_time_and_when_the_person_cancels(tools: ExplorerTools) -> None:
    ticks = count()
    slow = ExplorerTools(tools.root, tools.memory_dir, {}, clock=lambda: float(next(ticks)), seconds=2)
    assert MORE in slow.grep("zebra", "repo/**").problem
    gone = ExplorerTools(tools.root, tools.memory_dir, {}, cancelled=lambda: True)
    assert gone.glob("repo/**").text == ""


@pytest.mark.parametrize(
    "wanted",
    [
        "(a+)+b",
        "a**",
        "\\1",
        "x{5}{5}",
        "a*b*c*",
        "",
        "a" * 201,
        "[",
    ],
)
def test_patterns_that_could_take_for_ever_are_refused(tools: ExplorerTools, wanted: str) -> None:
    assert tools.grep(wanted, "repo/**").problem
    with pytest.raises(ValueError, match=r"\w"):
        safe_pattern.compile_pattern(wanted)


@pytest.mark.parametrize("wanted", [".*.*", "a*a*$", "[ab]*[ab]*c|[ab]*[ab]*d", "\\w*\\w*!", "x{0,999}x{0,999}y"])
def test_the_worst_pattern_that_is_taken_is_quick(wanted: str) -> None:
    made = safe_pattern.compile_pattern(wanted)
    began = time.process_time()
    for line in ("a" * 100_000, "ab" * 50_000, "x" * 100_000):
        safe_pattern.matches(made, line)
    assert time.process_time() - began < 20  # a pattern that explodes takes years


@pytest.mark.parametrize(
    ("wanted", "line", "stands"),
    [
        ("uv|pip", "use PIP here", True),
        ("def \\w+\\(", "def install():", True),
        ("a.*c", "abbbc", True),
        ("^import os$", "import os", True),
        ("[^a-z]5", "x 5", True),
        ("\\bpip\\b", "pipe", False),
        ("to{2}ls", "tools", True),
        ("colou?r", "color", True),
        ("a.c", "ac", False),
    ],
)
def test_plain_patterns_mean_what_they_mean(wanted: str, line: str, stands: bool) -> None:
    assert safe_pattern.matches(safe_pattern.compile_pattern(wanted), line) is stands
