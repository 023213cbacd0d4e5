"""`lerim check` in a repository: what is wrong with the memories, where, and how it is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lerim.check.findings import RULES, Finding
from lerim.check.header_rules import check_header
from lerim.memory import TextSpan, parse_memory_document
from lerim.memory.freshness.verifying import verify_record
from lerim.memory.record import render_record
from lerim.paths import Home
from lerim.project import locate_project, tracked
from lerim.review import ReviewPaths, queue
from reviews import START, made_candidate
from terminal import answer, run
from window import RECORD, write_memory

Git = Callable[..., str]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HEAD = "title: T\ncreated: 2026-08-01\nupdated: 2026-08-01\nsource: manual\nconfidence: 0.9\ntags: []\n"


def put(repo: Path, name: str, header: str, body: str = "Text.", folder: str = "decisions") -> Path:
    path = repo / ".lerim" / "memory" / folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = HEAD.replace("title: T", f"title: {name}")
    path.write_text(f"---\nid: {name}\n{head}{header}---\n\n{body}\n", encoding="utf-8")
    return path


def found(*options: str, code: int = 1) -> list[tuple[str, str, int]]:
    """The code, file name and line of every finding."""
    findings = answer("check", *options, code=code)["findings"]
    return [(one["code"], one["path"].rpartition("/")[2], one["line"]) for one in findings]


def test_every_kind_of_finding_stands_at_its_line(repo: Path, isolated: Path, monkeypatch) -> None:
    monkeypatch.chdir(repo)
    (repo / "AGENTS.md").write_text("# Rules\n\n- Never mock the database in tests.\n")
    (repo / "lib").mkdir()
    (repo / "lib" / "twice.py").write_text("class A:\n    def run(self): ...\n\nclass B:\n    def run(self): ...\n")
    write_memory(repo)
    put(
        repo,
        "a-references",
        "references:\n  - src/app.py#lod\n  - src/gone.py\n  - lib/twice.py#run\n  - src/app.py#load\n",
    )
    put(repo, "b-links", "supersedes: [c-links]\nrelated:\n  - nowhere\n")
    put(repo, "c-links", "supersedes: [b-links]\n")
    put(repo, "d-kind", "kind: pitfal\nreferences: []\ntags: [a]\ntag: [b]\n", folder="learnings")
    put(repo, "e-secret", "", f"The token is {SECRET}.")
    put(repo, "f-twice", "")
    put(repo, "f-twice", "", folder="learnings")
    put(repo, "g-broken", 'verified: "x\n')
    put(repo, "h-rules", "", "Mock the database in tests.")
    put(repo, "i-conflict", "", "<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs")
    put(repo, "k-indent", "references:\n  - src/app.py#load\n    - src/gone.py\n")
    put(repo, "j-old", "references:\n  - src/gone.py\n", folder="archived/decisions")
    (repo / ".lerim" / "memory" / "stray.md").write_text("x")
    assert sorted(found()) == [
        ("contradiction", "h-rules.md", 3),
        ("link-circle", "b-links.md", 9),
        ("link-circle", "c-links.md", 9),
        ("memory-conflict", "i-conflict.md", 11),
        ("memory-misplaced", "stray.md", 1),
        ("memory-twice", "f-twice.md", 2),
        ("memory-twice", "f-twice.md", 2),
        ("memory-unreadable", "g-broken.md", 10),
        ("memory-value", "k-indent.md", 11),
        ("reference-ambiguous", "a-references.md", 12),
        ("reference-gone", "a-references.md", 10),
        ("reference-gone", "a-references.md", 11),
        ("repeated-key", "d-kind.md", 11),
        ("secret", "e-secret.md", 11),
        ("unknown-key", "d-kind.md", 12),
        ("unknown-kind", "d-kind.md", 9),
        ("unknown-memory", "b-links.md", 11),
    ]
    text = run("check").output
    assert "a-references.md:10:5: error: lod was not found in src/app.py. Did you mean src/app.py#load?" in text
    assert "Lerim does not know the key `tag`, and keeps it. Did you mean `tags`?" in text
    assert "AGENTS.md, line 3, says the opposite: “Never mock the database in tests.”" in text
    assert SECRET not in text and text.endswith("Checked 13 memories: 10 errors, 6 warnings.\n")


def test_memories_of_one_kind_that_say_the_same_are_hinted_at_their_titles(repo: Path, isolated: Path) -> None:
    texts = {"20260801-one": "Text.", "20260802-two": "*text*", "20260803-other": "Another text."}
    for name, body in texts.items():
        path = put(repo, name, "", body)
        path.write_text(path.read_text().replace(f"title: {name}", "title: Use uv"))
    learning = put(repo, "20260804-learning", "kind: insight\n", folder="learnings")
    learning.write_text(learning.read_text().replace("title: 20260804-learning", "title: Use uv"))
    old = put(repo, "20260805-old", "superseded_by: 20260801-one\n")
    old.write_text(old.read_text().replace("title: 20260805-old", "title: Use uv"))
    options = ("--repo", str(repo))
    same = [one for one in answer("check", *options)["findings"] if one["code"] == "same-memory"]
    assert [(one["path"].rpartition("/")[2], one["severity"], one["line"], one["column"]) for one in same] == [
        ("20260801-one.md", "hint", 3, 8),
        ("20260802-two.md", "hint", 3, 8),
    ]
    assert same[0]["message"] == (
        "20260802-two says the same. Merge them with `lerim memory merge 20260801-one`, or archive one."
    )


def test_memories_that_the_person_did_not_want_to_merge_are_not_hinted_at(repo: Path, isolated: Path) -> None:
    for name in ("20260801-one", "20260802-two"):
        path = put(repo, name, "", "We use uv: it is fast.")
        path.write_text(path.read_text().replace(f"title: {name}", "title: Use uv"))
    options = ("--repo", str(repo))

    def hints() -> list[str]:
        return [one["path"] for one in answer("check", *options)["findings"] if one["code"] == "same-memory"]

    assert len(hints()) == 2
    [merge] = answer("maintain", *options)["proposals"]
    assert merge["action"] == "merge"
    answer("review", "reject", merge["id"], *options)
    assert hints() == []
    answer("review", "undo", *options)
    assert len(hints()) == 2


@pytest.mark.parametrize(("header", "line"), [("primitive: decison\n", 8), ("", 0)])
def test_a_candidate_of_an_unknown_kind_is_not_told_to_move_its_file(header: str, line: int, tmp_path: Path) -> None:
    document = parse_memory_document(f"---\nid: a\n{HEAD}{header}---\n\nText.\n")
    [finding] = check_header(document, tmp_path / ".lerim" / "review" / "a.md", "candidate")
    message = "The candidate's primitive is not one of decision, learning, question, theme, summary."
    assert (finding.message, finding.span.start_line) == (message, line)


def test_each_wrong_value_has_its_own_message_place_and_fixes(tmp_path: Path) -> None:
    header = "kind: insigth\nreferences:\n  - src/app.py\n  - file: cmd/x.go\n"
    document = parse_memory_document(f"---\nid: a\n{HEAD}{header}---\n\nText.\n")
    found = check_header(document, tmp_path / ".lerim" / "memory" / "learnings" / "a.md", "memory")
    kind, references = sorted(found, key=lambda one: one.span.start_line)
    assert (kind.code, kind.span.start_line, kind.replacements[0]) == ("unknown-kind", 8, "insight")
    assert kind.message.startswith("The kind 'insigth' is not one of insight, ")
    assert references == Finding(
        "memory-value",
        "`references` must be a list of paths, such as `- src/prices.py#total`.",
        references.path,
        TextSpan(11, 10, 11, 18),
    )


def test_a_wrong_reference_is_marked_where_it_is_however_long_and_however_the_list_is_written(tmp_path: Path) -> None:
    path = tmp_path / ".lerim" / "memory" / "decisions" / "a.md"
    long = f"/{'x' * 90}"
    for header, place in (
        (f"references:\n  - {long}/a.py\n  - {long}/b.py\n", [(9, 4), (10, 4)]),
        ("references: src/app.py, ../out.py\n", [(8, 24)]),
    ):
        document = parse_memory_document(f"---\nid: a\n{HEAD}{header}---\n\nText.\n")
        found = check_header(document, path, "memory")
        assert [(one.span.start_line, one.span.start_character) for one in found] == place


def write_verified_memory(repo: Path, user_home: Path) -> Path:
    """Writes the memory as it is after somebody has verified it against the code; returns its file."""
    home = Home(user_home / ".lerim")
    project = locate_project(repo, home)
    assert project is not None
    path = write_memory(repo)
    path.write_text(render_record(verify_record(project, home, RECORD, START)), encoding="utf-8")
    return path


def test_a_project_in_order_passes_and_candidates_are_only_mentioned(repo: Path, isolated: Path, git: Git) -> None:
    write_memory(repo)
    assert found("--repo", str(repo), code=0) == []
    assert run("check", "--repo", str(repo)).output.endswith("Checked 1 memory: 0 errors, 0 warnings.\n")
    home = Home(isolated / ".lerim")
    project = locate_project(repo, home)
    assert project is not None
    queue.propose_candidate(ReviewPaths(project, home), made_candidate("It waits for review"))
    assert [code for code, _, _ in found("--repo", str(repo), code=0)] == ["unreviewed"]


def test_a_clone_that_cannot_be_compared_says_so_and_does_not_pass_a_check_for_drift(
    repo: Path, isolated: Path, tmp_path: Path, git: Git
) -> None:
    path = write_verified_memory(repo, isolated)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Remember")
    app = repo / "src" / "app.py"
    app.write_text(app.read_text().replace("open(path).read()", "1"))
    git(repo, "commit", "-q", "-a", "-m", "Change")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", repo.as_uri(), str(clone))
    [one] = answer("check", "--repo", str(clone), code=0)["findings"]
    assert (one["code"], one["severity"], one["path"]) == ("not-compared", "warning", str(path.relative_to(repo)))
    assert "fetch depth of 0" in one["message"]
    assert found("--repo", str(clone), "--fail-on", "drifted", code=1)
    assert found("--repo", str(clone), "--fail-on", "secret", code=0)


def test_drift_is_a_warning_that_only_strict_fails_on_and_a_rename_names_the_new_place(
    repo: Path, isolated: Path, git: Git
) -> None:
    write_verified_memory(repo, isolated)
    app = repo / "src" / "app.py"
    app.write_text(app.read_text().replace("open(path).read()", "1"))
    assert [code for code, _, _ in found("--repo", str(repo), code=0)] == ["drifted"]
    assert found("--repo", str(repo), "--strict")
    git(repo, "checkout", "-q", "--", ".")
    git(repo, "mv", "src/app.py", "src/main.py")
    git(repo, "commit", "-q", "-m", "Move")
    findings = answer("check", "--repo", str(repo), code=1)["findings"]
    assert [(one["code"], one["replacements"]) for one in findings] == [("reference-gone", ["src/main.py#load"])]


def test_a_file_that_git_knows_as_renamed_is_named_also_where_nothing_was_ever_compared(
    repo: Path, isolated: Path, git: Git
) -> None:
    put(repo, "a-hand", "references: [src/app.py#load, src/app.py]\n")
    git(repo, "mv", "src/app.py", "src/main.py")
    git(repo, "commit", "-q", "-m", "Rename")
    symbol, file = answer("check", "--repo", str(repo), code=1)["findings"]
    assert symbol["message"] == "src/app.py was not found. It was renamed to src/main.py#load."
    assert (file["message"], file["replacements"]) == (
        "src/app.py was not found. It was renamed to src/main.py.",
        ["src/main.py"],
    )


def test_a_symbol_that_was_moved_to_another_file_is_suggested_there_before_similar_names(
    repo: Path, isolated: Path, git: Git
) -> None:
    app = repo / "src" / "app.py"
    app.write_text("def load_rates():\n    return 1\n\n\ndef load_prices():\n    return 2\n")
    put(repo, "a-moved", "references: [src/app.py#load_rates]\n")
    git(repo, "add", "-A")
    (repo / "src" / "rates.py").write_text("def load_rates():\n    return 1\n")
    app.write_text("def load_prices():\n    return 2\n")
    [one] = answer("check", "--repo", str(repo), code=1)["findings"]
    assert one["replacements"] == ["src/rates.py#load_rates", "src/app.py#load_prices"]
    assert "Did you mean src/rates.py#load_rates?" in one["message"]
    (repo / "c#").mkdir()
    (repo / "src" / "rates.py").rename(repo / "c#" / "app.py")
    put(repo, "a-moved", "references: [src/app.py#load_rates, gone/app.py]\n")
    git(repo, "add", "-A")
    symbol, file = answer("check", "--repo", str(repo), code=1)["findings"]
    assert symbol["replacements"] == ["src/app.py#load_prices"], "`c#/app.py` would be read as a symbol of `c`"
    assert file["replacements"] == ["src/app.py"]


def test_sarif_names_rules_levels_and_places_relative_to_the_repository(repo: Path, isolated: Path) -> None:
    put(repo, "a b", "references:\n  - src/gone.py\nown: 1\n")
    result = run("check", "--repo", str(repo), "--format", "sarif")
    assert result.exit_code == 1
    log = json.loads(result.stdout)
    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    [one] = log["runs"]
    driver = one["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == list(RULES)
    assert {rule["defaultConfiguration"]["level"] for rule in driver["rules"]} == {"error", "warning", "note"}
    assert (
        all(rule["shortDescription"]["text"] for rule in driver["rules"]) and one["columnKind"] == "unicodeCodePoints"
    )
    gone, own = one["results"]
    assert (gone["ruleId"], gone["level"], own["ruleId"], own["level"]) == (
        "reference-gone",
        "error",
        "unknown-key",
        "note",
    )
    assert driver["rules"][gone["ruleIndex"]]["id"] == "reference-gone"
    assert gone["message"]["text"] == "src/gone.py was not found."
    assert gone["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": ".lerim/memory/decisions/a%20b.md", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 10, "startColumn": 5, "endLine": 10, "endColumn": 16},
            }
        }
    ]


def test_the_index_of_git_is_read_once_however_many_references_are_gone(
    repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []
    read = tracked.read_tracked_paths
    monkeypatch.setattr(tracked, "read_tracked_paths", lambda root, common: reads.append(root) or read(root, common))
    put(repo, "a-gone", "references: [lib/app.py, main/app.py, test/app.py, docs/app.py]\n")
    findings = answer("check", "--repo", str(repo), code=1)["findings"]
    assert [one["replacements"] for one in findings] == [["src/app.py"]] * 4
    assert len(reads) <= 2, "once by the comparison with the code"


def test_lists_that_are_written_as_one_text_are_checked_item_by_item(
    repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    (repo / "src" / "1,2.py").write_text("A = 1\n")
    put(repo, "a-old", "")
    put(repo, "b-old", "")
    put(repo, "c-new", "references: src/app.py#load, src/1,2.py, src/gone.py\nsupersedes: a-old,b-old, nowhere\n")
    found = answer("check", code=1)["findings"]
    assert [(one["code"], one["line"], one["column"], one["end_column"]) for one in found] == [
        ("reference-gone", 9, 42, 53),
        ("unknown-memory", 10, 26, 33),
    ]
