"""`lerim memory edit` and its siblings: what they do, print and take back."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from lerim.cli.app import make_app
from terminal import answer, run

CLONE = Path(__file__).resolve().parents[2]


@pytest.fixture
def memory(repo: Path) -> str:
    added = answer("memory", "add", "--title", "Use uv", "--body", "It is fast.", "--tag", "ci", "--repo", str(repo))
    return str(added["id"])


def act(repo: Path, *arguments: str, code: int = 0, typed: str | bytes | None = None) -> Any:
    return answer("memory", *arguments, "--repo", str(repo), code=code, typed=typed)


def shown(repo: Path, memory: str) -> Any:
    return answer("memory", "show", memory, "--repo", str(repo))


def test_an_edit_leaves_what_no_option_names(repo: Path, memory: str) -> None:
    [result] = act(repo, "edit", memory, "--body", "-", "--reference", "src\\app.py", typed="Very fast.\n")["results"]
    assert (result["ok"], result["code"]) == (True, "change") and result["action"]
    view = shown(repo, memory)
    assert (view["title"], view["body"], view["tags"]) == ("Use uv", "Very fast.", ["ci"])
    assert view["references"] == ["src/app.py"]
    answer("review", "undo", result["action"], "--repo", str(repo))
    assert shown(repo, memory)["body"] == "It is fast."
    assert "There is nothing to change" in act(repo, "edit", memory, code=2)["error"]["message"]


def test_the_beginning_of_an_id_names_a_memory_if_no_other_begins_so(repo: Path, memory: str) -> None:
    other = answer("memory", "add", "--title", "Use ruff", "--repo", str(repo))["id"]
    day = memory[:9]
    for name in (memory[:-1], memory):
        assert shown(repo, name)["id"] == memory
    assert act(repo, "feedback", f"{day}use-u", "useful")["results"][0]["id"] == memory
    assert act(repo, "edit", f"{day}use-u", "--tag", "x")["results"][0]["ok"]
    assert act(repo, "archive", f"{day}use-u")["results"][0]["id"] == memory
    assert shown(repo, f"{day}use-u")["status"] == "archived"
    assert act(repo, "restore", f"{day}use-u")["results"][0]["id"] == memory
    several = act(repo, "show", f"{day}use", code=2)["error"]["message"]
    assert memory in several and other in several
    for typo in (f"{day}use-vu", "use-uv", f"{day}use-uv-not"):
        assert memory in act(repo, "show", typo, code=1)["error"]["todo"]
    assert "lerim memory list" in act(repo, "show", "zzz", code=1)["error"]["todo"]
    results = act(repo, "archive", f"{day}use", memory, code=3)["results"]
    assert [one["ok"] for one in results] == [False, True] and other in results[0]["message"]
    assert shown(repo, memory)["status"] == "archived"


def test_a_question_is_answered(repo: Path) -> None:
    asked = answer("memory", "add", "--title", "Which installer?", "--kind", "question", "--repo", str(repo))["id"]
    assert "Say what was decided" in act(repo, "promote", asked, code=2)["error"]["message"]
    path = act(repo, "promote", asked, "--title", "Use uv", "--body", "Fast.")["results"][0]["path"]
    assert (shown(repo, asked)["status"], shown(repo, Path(path).stem)["primitive"]) == ("resolved", "decision")


def test_a_text_that_would_be_empty_or_cannot_be_read_is_refused(repo: Path, memory: str) -> None:
    assert "empty" in act(repo, "edit", memory, "--body", "", code=2)["error"]["message"]
    assert "empty" in act(repo, "edit", memory, "--body", "-", code=2, typed=" \n")["error"]["message"]
    assert "empty" in act(repo, "add", "--title", "Use ruff", "--body", "", code=2)["error"]["message"]
    assert "not UTF-8" in act(repo, "edit", memory, "--body", "-", code=2, typed=b"caf\xe9")["error"]["message"]
    assert shown(repo, memory)["body"] == "It is fast."
    assert len(answer("memory", "list", "--repo", str(repo))["memories"]) == 1


def test_what_is_said_to_be_still_true_of_a_file_that_is_not_there_is_told(repo: Path, memory: str) -> None:
    act(repo, "edit", memory, "--reference", "src/nope.py")
    refused = run("memory", "verify", memory, "--repo", str(repo))
    assert refused.exit_code != 0 and "src/nope.py was not found" in refused.output


def test_what_was_added_is_named_and_can_be_taken_back(repo: Path) -> None:
    said = run("memory", "add", "--title", "Use ruff", "--body", "-", "--repo", str(repo), typed="It is fast.").output
    [added] = answer("memory", "list", "--repo", str(repo))["memories"]
    assert added["body"] == "It is fast."
    assert f"Written: {added['id']}\n" in said
    run(*re.findall(r"undo: lerim (.*)", said)[0].split(), "--repo", str(repo))
    assert answer("memory", "list", "--repo", str(repo))["memories"] == []


def test_a_kind_a_theme_a_word_and_a_check(repo: Path, memory: str) -> None:
    assert act(repo, "kind", memory, "--kind", "pitfall")["results"][0]["ok"]
    assert (shown(repo, memory)["primitive"], shown(repo, memory)["kind"]) == ("learning", "pitfall")
    assert act(repo, "kind", memory, "--kind", "theme")["results"][0]["ok"]
    assert act(repo, "verify", memory)["results"][0]["code"] == "verify"
    assert act(repo, "feedback", memory, "wrong")["results"][0]["ok"]
    assert shown(repo, memory)["confidence"] == pytest.approx(0.19)
    assert act(repo, "delete", memory)["results"][0]["ok"]
    assert act(repo, "delete", memory, code=1)["error"]["code"] == "not-found"


def test_ones_own_are_acted_on_from_anywhere(repo: Path, memory: str, tmp_path: Path) -> None:
    assert act(repo, "globalize", memory)["results"][0]["ok"]
    elsewhere = ("--global", "--repo", str(tmp_path))
    [view] = answer("memory", "list", *elsewhere)["memories"]
    assert (view["id"], view["scope"]) == (memory, "global")
    said = run("memory", "archive", memory, *elsewhere).output
    [undo] = re.findall(r"undo: lerim (.*)", said)
    assert undo.endswith(" --global")
    assert answer("memory", "list", *elsewhere)["memories"] == []
    run(*undo.split())
    assert answer("memory", "show", memory, *elsewhere)["status"] == "active"
    act(repo, "archive", memory)
    assert [view["status"] for view in answer("memory", "list", *elsewhere)["memories"]] == ["active"]
    Path(shown(repo, memory)["path"]).unlink()
    assert shown(repo, memory)["scope"] == "global", "one's own is shown without being asked for"
    assert "--global" in act(repo, "archive", memory, code=1)["error"]["todo"]


def test_a_merge_is_shown_before_it_is_done(repo: Path, memory: str) -> None:
    path = Path(shown(repo, memory)["path"])
    text = path.read_text()
    path.write_text(text.replace("It is fast.", "<<<<<<< a\nIt is fast.\n=======\nCaches lie in `/ci`.\n>>>>>>> b"))
    conflicted = path.read_text()
    listed = answer("memory", "list", "--repo", str(repo))
    assert [problem["code"] for problem in listed["problems"]] == ["memory-conflict"]
    assert "memory-conflict" in [one["code"] for one in answer("status", "--repo", str(repo))["problems"]]
    look = act(repo, "merge", memory)
    assert look["result"] is None and "Caches lie" in look["diff"] and path.read_text() == conflicted
    assert "nothing was written" in run("memory", "merge", memory, "--repo", str(repo)).output
    assert act(repo, "merge", memory, "--yes")["result"]["code"] == "join"
    assert shown(repo, memory)["body"] == "It is fast.\n\nCaches lie in `/ci`."
    assert "Only one file" in act(repo, "merge", memory, "--yes", code=1)["error"]["message"]


def test_a_sync_puts_links_right(repo: Path, memory: str) -> None:
    newer = answer("memory", "add", "--title", "Use pip", "--repo", str(repo))
    path = Path(newer["path"])
    path.write_text(path.read_text().replace("tags:", f"supersedes: [{memory}]\ntags:"))
    answer("sync", "--repo", str(repo))
    assert shown(repo, memory)["status"] == "superseded"
    assert [view["id"] for view in answer("memory", "list", "--repo", str(repo))["memories"]] == [newer["id"]]


def test_what_every_command_of_memories_prints_as_json_is_documented() -> None:
    page = (CLONE / "docs" / "PROTOCOL.md").read_text(encoding="utf-8")
    told = set(re.findall(r"lerim memory ([a-z]+)", page.split("## 3. Command line")[1]))
    assert told == set(get_command(make_app()).commands["memory"].commands)  # type: ignore[attr-defined]


class Typing(io.StringIO):
    """What a person types, who saves the memory's file in an editor before they end."""

    def __init__(self, typed: str, saved: Path) -> None:
        super().__init__(typed)
        self.saved = saved

    def read(self, size: int | None = -1, /) -> str:
        text = self.saved.read_text(encoding="utf-8")
        self.saved.write_text(text.replace("Use uv", "Use uv by hand"), encoding="utf-8")
        return super().read(size)


def test_what_a_person_saves_while_a_memory_is_edited_is_not_lost(
    repo: Path, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Typing("Very fast.", Path(shown(repo, memory)["path"])))
    edit = ["memory", "edit", memory, "--body", "-", "--tag", "new", "--repo", str(repo)]
    get_command(make_app())(edit, standalone_mode=False)
    view = shown(repo, memory)
    assert (view["title"], view["body"], view["tags"]) == ("Use uv by hand", "Very fast.", ["new"])
