from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lerim.memory.uses import Uses
from terminal import answer, run


def add(repo: Path, title: str, *more: str) -> Any:
    return answer("memory", "add", "--title", title, *more, "--repo", str(repo))


def test_a_memory_written_by_hand_is_a_file_and_says_so(repo: Path):
    added = add(
        repo,
        "Load configuration once",
        *("--body", "Because it is slow.", "--kind", "insight"),
        *("--tag", "config", "--tag", "speed", "--reference", "src\\app.py#load", "--reference", "./README.md"),
    )
    text = Path(added["path"]).read_text(encoding="utf-8")
    assert "source: manual" in text
    assert added["tags"] == ["config", "speed"]
    assert added["references"] == ["src/app.py#load", "README.md"]
    assert (added["primitive"], added["kind"], added["session"]) == ("learning", "insight", "")
    assert Path(added["path"]).parent == repo / ".lerim" / "memory" / "learnings"
    shown = run("memory", "show", added["id"], "--repo", str(repo)).stdout
    assert "Because it is slow." in shown and added["path"] in shown and "written by hand" in shown
    del added["message"], added["action"]
    more = {"ended": "", "why": "", "drifted_since": "", "drift_detail": "", "problems": []}
    assert answer("memory", "show", added["id"], "--repo", str(repo)) == {**added, **more}


def test_two_memories_of_one_title_are_two_files_unless_they_say_the_same(repo: Path):
    first = add(repo, "Use uv", "--body", "It is fast.")
    assert add(repo, "Use uv")["id"] != first["id"]
    assert len(answer("memory", "list", "--repo", str(repo))["memories"]) == 2
    message = f"It exists already: Use uv ({first['id']})"
    again = add(repo, "use  UV", "--body", "It is\nfast.", "--tag", "x")
    assert again == {**first, "message": message, "action": None}
    said = run("memory", "add", "--title", "Use uv", "--body", "It is fast.", "--repo", str(repo))
    assert said.stdout.startswith("It exists already: Use uv") and first["id"] in said.stdout
    assert add(repo, "Use uv", "--kind", "theme", "--body", "It is fast.")["primitive"] == "theme"
    answer("memory", "archive", first["id"], "--repo", str(repo))
    assert add(repo, "Use uv", "--body", "It is fast.")["id"] != first["id"]


def test_a_reference_outside_the_repository_and_an_empty_title_are_refused(repo: Path):
    for reference in ("/etc/passwd", "../other/file.py", "C:\\x\\y.py", "", "#load"):
        error = answer("memory", "add", "--title", "x", "--reference", reference, "--repo", str(repo), code=1)["error"]
        assert error["where"] == "--reference"
    assert answer("memory", "add", "--title", "  ", "--repo", str(repo), code=1)["error"]["todo"]
    assert not (repo / ".lerim").exists()


def test_a_secret_in_a_memory_is_cut_out_before_it_is_written(repo: Path):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = run("memory", "add", "--title", "Deploy key", "--body", f"It is {secret}.", "--repo", str(repo))
    assert result.exit_code == 0
    assert "1 secret was removed" in result.stderr
    [path] = (repo / ".lerim" / "memory").glob("*/*.md")
    assert secret not in path.read_text(encoding="utf-8")


def test_a_secret_written_into_a_file_by_hand_is_not_printed(repo: Path):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    added = add(repo, "Deploy key")
    path = Path(added["path"])
    path.write_text(path.read_text(encoding="utf-8") + f"It is {secret}.\n", encoding="utf-8")
    for arguments in (["list"], ["search", "deploy"], ["show", added["id"]]):
        shown = run("memory", *arguments, "--repo", str(repo), "--json").stdout
        assert "Deploy key" in shown
        assert secret not in shown


def test_the_list_is_filtered_and_a_search_finds_by_words_and_takes_any_text(repo: Path):
    add(repo, "Load configuration once", "--body", "Reading settings.toml is slow.", "--tag", "a", "--tag", "b")
    add(repo, "Use uv, not pip", "--body", "It is locked.", "--kind", "learning", "--tag", "a")
    titles = lambda *more: [m["title"] for m in answer("memory", "list", *more, "--repo", str(repo))["memories"]]  # noqa: E731
    assert titles("--kind", "learning") == ["Use uv, not pip"]
    assert titles("--tag", "a", "--tag", "b") == ["Load configuration once"]
    find = lambda *words: [m["title"] for m in answer("memory", "search", *words, "--repo", str(repo))["memories"]]  # noqa: E731
    assert find("settings.toml") == ["Load configuration once"]
    assert find("uv", "pip") == ["Use uv, not pip"]
    for word, known in (("kind:odd", "pitfall"), ("is:odd", "archived"), ("since:odd", "14d")):
        error = answer("memory", "search", "uv", word, "--repo", str(repo), code=2)["error"]
        assert error["where"] == word and known in error["message"]
    assert find('"AND (* NEAR') == []
    assert find("zebra") == []
    assert "No memories." in run("memory", "search", "zebra", "--repo", str(repo)).stdout


def test_what_a_person_opens_counts_as_used_and_what_only_searches_does_not(repo: Path, isolated: Path):
    name = add(repo, "Port 8443 is taken", "--kind", "learning")["id"]
    [private] = (isolated / ".lerim" / "projects").iterdir()

    def used() -> int:
        return Uses(private).of_memories([name])[name].count

    before = used()
    for told in (("list",), ("search", "port")):
        assert len(answer("memory", *told, "--repo", str(repo))["memories"]) == 1
    assert used() == before
    answer("memory", "show", name[:-2], "--repo", str(repo))
    assert used() == before + 1


def test_status_counts_and_creates_nothing(repo: Path):
    before = answer("status", "--repo", str(repo))
    assert before["memories"] == {}
    assert (before["candidates"], before["sessions"]) == (0, 0)
    assert not (repo / ".lerim").exists()
    assert not Path(os.environ["LERIM_HOME"]).exists()
    add(repo, "One")
    assert answer("status", "--repo", str(repo))["memories"] == {"decision": 1}
    assert "1 decision" in run("status", "--repo", str(repo)).stdout


def test_a_file_a_person_named_is_found_by_its_name(repo: Path):
    path = repo / ".lerim" / "memory" / "decisions" / "byhand.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ntitle: By hand\n---\n\nYes.\n", encoding="utf-8")
    [listed] = answer("memory", "list", "--repo", str(repo))["memories"]
    assert answer("memory", "show", listed["id"], "--repo", str(repo))["title"] == "By hand"
    assert answer("memory", "archive", listed["id"], "--repo", str(repo))["results"][0]["ok"]
    other = path.with_name("my-own-name.md")
    other.write_text("---\nid: 20260801-other\ntitle: Other\n---\n\nYes.\n", encoding="utf-8")
    assert "which is used" in run("memory", "list", "--repo", str(repo)).stderr
