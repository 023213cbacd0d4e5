"""The command line tells what became of the files that memories speak of, without a maintaining."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import terminal

LOAD = "def load(path):\n    return path\n\n\ndef save(path):\n    return path\n"


def run(repo: Path, *arguments: str) -> Result:
    result = terminal.run(*arguments, "--repo", str(repo))
    assert result.exit_code == 0, result.output
    return result


def answer(repo: Path, *arguments: str) -> Any:
    return terminal.answer(*arguments, "--repo", str(repo))


@pytest.fixture
def app_file(repo: Path) -> Path:
    path = repo / "src" / "app.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(LOAD, encoding="utf-8")
    return path


def add(repo: Path, title: str, *references: str) -> str:
    named = [word for reference in references for word in ("--reference", reference)]
    return str(answer(repo, "memory", "add", "--title", title, *named)["id"])


def drifts(repo: Path, *arguments: str) -> dict[str, str]:
    return {one["title"]: one["drift"] for one in answer(repo, "memory", *arguments)["memories"]}


def test_what_changed_and_what_is_gone_is_told_wherever_a_memory_is_shown(repo: Path, app_file: Path) -> None:
    loads = add(repo, "Load once", "src/app.py#load")
    add(repo, "Save twice", "src/app.py#save")
    other = repo / "src" / "other.py"
    other.write_text("".join(f"value_{number} = {number}\n" for number in range(60)), encoding="utf-8")
    add(repo, "Values once", "src/other.py")
    assert set(drifts(repo, "list").values()) == {""}
    assert answer(repo, "status")["drift"] == {}
    app_file.write_text(LOAD.replace("return path", "return open(path)", 1), encoding="utf-8")
    other.unlink()
    told = {"Load once": "drifted", "Save twice": "", "Values once": "gone"}
    assert answer(repo, "memory", "show", loads)["drift"] == "drifted"
    assert drifts(repo, "search") == told
    assert drifts(repo, "list") == told
    assert drifts(repo, "search", "is:drifted") == {"Load once": "drifted"}
    assert answer(repo, "status")["drift"] == {"drifted": 1, "gone": 1}
    assert "1 drifted, 1 not found" in run(repo, "status").stdout
    assert "drifted" in run(repo, "memory", "list").stdout
    assert "`load` changed" in run(repo, "memory", "show", loads).stdout
    run(repo, "memory", "verify", loads)
    assert drifts(repo, "list") == told | {"Load once": ""}
    run(repo, "memory", "archive", loads)
    assert answer(repo, "status")["drift"] == {"gone": 1}


def test_new_references_are_compared_with_now_and_the_old_ones_with_what_they_were(repo: Path, app_file: Path) -> None:
    name = add(repo, "Load once", "src/app.py#load")
    app_file.write_text(LOAD.replace("return path", "return open(path)"), encoding="utf-8")
    run(repo, "memory", "edit", name, "--reference", "src/app.py#save")
    assert "verified:" in Path(answer(repo, "memory", "show", name)["path"]).read_text(encoding="utf-8")
    assert drifts(repo, "list") == {"Load once": ""}
    app_file.write_text(LOAD, encoding="utf-8")
    run(repo, "memory", "edit", name, "--reference", "src/app.py#save", "--reference", "src/app.py#load")
    assert drifts(repo, "list") == {"Load once": "drifted"}
    app_file.write_text(LOAD.replace("return path", "return open(path)"), encoding="utf-8")
    assert answer(repo, "memory", "show", name)["drift"] == "drifted"
    run(repo, "review", "undo")
    assert drifts(repo, "list") == {"Load once": ""}


def test_a_reference_that_is_not_there_is_told_and_written_all_the_same(repo: Path, app_file: Path) -> None:
    named = ("--reference", "src/nope.py", "--reference", "src/app.py#nothing", "--reference", "src/app.py#load")
    added = run(repo, "memory", "add", "--title", "Load once", *named)
    assert "src/nope.py was not found" in added.stderr
    assert "nothing was not found in src/app.py" in added.stderr
    assert "load was not" not in added.stderr
    [shown] = answer(repo, "memory", "list")["memories"]
    assert shown["references"] == ["src/nope.py", "src/app.py#nothing", "src/app.py#load"]
    edited = run(repo, "memory", "edit", shown["id"], "--reference", "src/gone.py")
    assert "src/gone.py was not found" in edited.stderr


def test_a_look_makes_nothing_in_a_clone_where_nothing_was_kept(repo: Path) -> None:
    path = repo / ".lerim" / "memory" / "decisions" / "20260801-use-uv.md"
    path.parent.mkdir(parents=True)
    path.write_text(
        "---\nid: 20260801-use-uv\ntitle: Use uv\nreferences: [src/app.py]\n---\n\nYes.\n", encoding="utf-8"
    )
    assert drifts(repo, "list") == {"Use uv": ""}
    assert answer(repo, "status")["drift"] == {}
    assert answer(repo, "memory", "show", "20260801-use-uv")["drift"] == ""
    assert not list(Path(os.environ["LERIM_HOME"]).glob("projects/*/freshness.sqlite3"))


def came_with_git(repo: Path) -> None:
    """A memory that was verified elsewhere, at the commit that is checked out."""
    subprocess.run(["git", "-C", str(repo), "commit", "-qam", "load"], check=True, capture_output=True)
    head = subprocess.run(["git", "-C", str(repo), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    path = repo / ".lerim" / "memory" / "decisions" / "20260801-load-once.md"
    path.parent.mkdir(parents=True)
    path.write_text(
        "---\nid: 20260801-load-once\ntitle: Load once\ncreated: 2026-08-01\nupdated: 2026-08-01\n"
        "source: manual\nconfidence: 0.9\ntags: []\nreferences: [src/app.py#load]\n"
        f"verified: 2026-08-01@{head.stdout[:10]}\n---\n\nYes.\n",
        encoding="utf-8",
    )


def test_what_nobody_compared_with_the_code_here_is_said_to_be_so(repo: Path, app_file: Path) -> None:
    def told(*words: str) -> list[str]:
        found = answer(repo, *words)["problems"]
        return [one["message"] for one in found if one["code"] == "not-compared"]

    came_with_git(repo)
    app_file.unlink()
    assert drifts(repo, "list") == drifts(repo, "search") == {"Load once": "gone"}
    assert answer(repo, "status")["drift"] == {"gone": 1}
    app_file.write_text(LOAD.replace("return path", "return open(path)", 1), encoding="utf-8")
    assert drifts(repo, "list") == {"Load once": ""}
    looks = (
        ("memory", "list"),
        ("memory", "search"),
        ("memory", "search", "is:drifted"),
        ("memory", "search", "is:unknown"),
        ("status",),
    )
    for words in looks:
        assert ["20260801-load-once was not yet compared" in one for one in told(*words)] == [True]
    assert "not yet compared" in run(repo, "memory", "show", "20260801-load-once").stderr
    other = add(repo, "Save twice", "src/app.py#save")
    for words in looks:
        assert ["20260801-load-once was not yet compared" in one for one in told(*words)] == [True]
    assert "not compared" not in run(repo, "memory", "show", other).stderr
    run(repo, "maintain")
    assert [told(*words) for words in looks] == [[]] * len(looks)
    assert drifts(repo, "search") == {"Load once": "drifted", "Save twice": ""}


def test_an_answer_says_what_nobody_compared_with_the_code_here(repo: Path, app_file: Path) -> None:
    def said() -> str:
        return str(answer(repo, "ask", "load once?", "--model", "none")["message"])

    came_with_git(repo)
    assert "One memory about it was not compared with the code here yet" in said()
    run(repo, "maintain")
    assert "compared" not in said()


def test_a_search_looks_at_what_came_with_git(repo: Path, app_file: Path) -> None:
    add(repo, "Save twice", "src/app.py#save")
    path = repo / ".lerim" / "memory" / "decisions" / "20260801-load-once.md"
    path.write_text(
        "---\nid: 20260801-load-once\ntitle: Load once\nreferences: [src/app.py#load]\n---\n\nYes.\n", encoding="utf-8"
    )
    assert drifts(repo, "search", "load") == {"Load once": ""}
    app_file.write_text(LOAD.replace("return path", "return open(path)", 1), encoding="utf-8")
    assert drifts(repo, "search", "load") == {"Load once": "drifted"}


def test_the_filters_of_the_editor_count_among_the_words_of_a_search(repo: Path) -> None:
    run(repo, "memory", "add", "--title", "Plan the work", "--tag", "plan")
    run(repo, "memory", "add", "--title", "Plan falls apart", "--kind", "pitfall")
    find = lambda *words: set(drifts(repo, "search", *words))  # noqa: E731
    assert find("plan") == {"Plan the work", "Plan falls apart"}
    assert find("kind:pitfall", "plan") == {"Plan falls apart"}
    assert find("tag:plan") == {"Plan the work"}
    assert find("kind:pitfall", "--kind", "decision") == {"Plan the work", "Plan falls apart"}
    run(repo, "memory", "archive", answer(repo, "memory", "search", "tag:plan")["memories"][0]["id"])
    assert find("plan") == {"Plan falls apart"}
    assert find("plan", "is:archived") == {"Plan the work"}
    assert find("plan", "is:archived", "--archived") == {"Plan the work", "Plan falls apart"}
