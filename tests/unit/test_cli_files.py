"""Files are named as a person sees them: from where they stand, from the root, by the end of a path or by a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from terminal import answer


@pytest.fixture
def three(repo: Path) -> Path:
    for title, reference in (
        ("Load once", "src/app.py#load"),
        ("Test all", "tests/test_app.py"),
        ("Old ground", "lib/deep/gone.py"),
    ):
        answer("memory", "add", "--title", title, "--reference", reference, "--repo", str(repo))
    return repo


def found(command: str, file: str, *more: str) -> set[str]:
    listed = answer("memory", command, *(("--file", file) if file else ()), *more)["memories"]
    return {one["title"] for one in listed}


NAMED: tuple[tuple[str, str, set[str]], ...] = (
    (".", "app.py", {"Load once"}),
    (".", "APP.py", {"Load once"}),
    (".", "deep/gone.py", {"Old ground"}),
    (".", "deep", {"Old ground"}),
    (".", "app.py#load", {"Load once"}),
    (".", "src", {"Load once"}),
    (".", "p.py", set()),
    ("src", "app.py", {"Load once"}),
    ("src", ".", {"Load once"}),
    ("src", "../tests", {"Test all"}),
    ("tests", "src/app.py", {"Load once"}),
    ("tests", "./test_app.py", {"Test all"}),
)
"""From which folder, what is typed, and the memories that it names."""


def test_a_file_is_named_from_where_one_stands_by_its_end_or_by_its_name(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stands, file, titles in NAMED:
        monkeypatch.chdir(three / stands)
        assert found("list", file) == found("search", file) == titles, (stands, file)
        exists = (Path.cwd() / file.partition("#")[0]).exists()
        assert found("list", str(Path.cwd() / file)) == (titles if exists else set()), (stands, file)


def test_a_name_that_two_files_have_finds_both(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(three)
    answer("memory", "add", "--title", "Other", "--reference", "other/app.py")
    assert found("search", "app.py") == found("search", "", "file:app.py") == {"Load once", "Other"}


def test_what_leads_out_of_the_repository_is_wrong_usage(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(three / "src")
    answer("memory", "list", "--file", "../../x.py", code=2)
    assert (
        answer("memory", "add", "--title", "x", "--reference", "../../x.py", code=1)["error"]["where"] == "--reference"
    )


def test_a_reference_is_taken_from_where_one_stands(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(three / "src")
    added = answer(
        *("memory", "add", "--title", "Both", "--reference", "app.py#load", "--reference", "../tests/test_app.py"),
        *("--reference", "README.md"),
    )
    assert added["references"] == ["src/app.py#load", "tests/test_app.py", "README.md"]
    answer("memory", "edit", added["id"], "--reference", "./app.py")
    assert answer("memory", "show", added["id"])["references"] == ["src/app.py"]
