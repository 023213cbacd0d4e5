"""What `lerim check` says about a change: the memories it touches, and what the team chose to fail on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs

import pytest
import yaml

from lerim.check import CheckReport, Finding, TouchedMemory, render_report
from lerim.memory import TextSpan
from terminal import answer, run
from warm_python import warm_python
from window import write_memory

Git = Callable[..., str]
ROOT = Path(__file__).resolve().parents[3]
APP = "def load(path):\n    return path\n\n\ndef save(path):\n    return path\n"


@pytest.fixture
def change(repo: Path, git: Git, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose branch changes one of two functions, a comment, and a file."""
    monkeypatch.chdir(repo)
    (repo / "src" / "app.py").write_text(APP, encoding="utf-8")
    (repo / "docs").mkdir()
    (repo / "docs" / "a.md").write_text("A\n", encoding="utf-8")
    for name, references in {
        "a-load": ("src/app.py#load",),
        "b-save": ("src/app.py#save",),
        "c-file": ("src/app.py", "docs"),
        "d-other": ("src/none.py",),
    }.items():
        write_memory(repo, id=f"20260801-{name}", title=f"About `{name}` @everyone [x](y)", references=references)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "base")
    git(repo, "branch", "base")
    changed = APP.replace("    return path\n", "    return path.strip()\n", 1).replace("def save", "# saves\ndef save")
    (repo / "src" / "app.py").write_text(changed, encoding="utf-8")
    git(repo, "commit", "-q", "-a", "-m", "change")
    return repo


def test_only_memories_whose_code_differs_are_touched(change: Path, git: Git) -> None:
    touched = answer("check", "--since", "base", code=1)["touched"]
    assert [(one["id"], one["references"]) for one in touched] == [
        ("20260801-a-load", ["src/app.py#load"]),
        ("20260801-c-file", ["src/app.py"]),
    ]
    assert answer("check", code=1)["touched"] is None
    (change / "docs" / "a.md").unlink()
    git(change, "commit", "-q", "-a", "-m", "more")
    touched = answer("check", "--since", "base", code=1)["touched"]
    assert [one["references"] for one in touched] == [["src/app.py#load"], ["src/app.py", "docs"]]
    assert answer("check", "--since", "HEAD", code=1)["touched"] == []
    assert "touches code that 2 memories are about" in run("check", "--since", "base").output
    assert "No memory is about the code of this change." in run("check", "--since", "HEAD").output
    for wrong in ("nowhere", "--output=x", "base; rm -rf ."):
        assert answer("check", f"--since={wrong}", code=2)["error"]["where"] == wrong


def test_the_team_chooses_what_fails(change: Path) -> None:
    assert run("check", "--fail-on", "secret", "--fail-on", "contradiction").exit_code == 0
    assert run("check", "--fail-on", "reference-gone").exit_code == 1
    assert answer("check", "--fail-on", "drift", code=2)["error"]["where"] == "drift"


def test_a_comment_has_every_text_of_a_memory_as_code(change: Path) -> None:
    text = run("check", "--format", "markdown", "--since", "base", "--fail-on", "reference-gone").output
    assert "- Decision `About 'a-load' @everyone [x](y)` about `src/app.py#load`" in text
    assert text.index("a-load") < text.index("### Must be fixed") < text.index("src/none.py")
    assert "No memory is about the code" in run("check", "--format", "markdown", "--since", "HEAD").output
    assert "this change" not in run("check", "--format", "markdown").output, "no change was named"


def test_a_comment_is_never_longer_than_a_code_host_takes(tmp_path: Path) -> None:
    path = str(tmp_path / "memory" / f"{'long-name-' * 25}.md")
    long = [Finding("drifted", f"{number} " + "said " * 80, path, TextSpan(0, 0, 0, 3)) for number in range(90)]
    touched = [TouchedMemory(f"m{at}", path, "decision", "Title " * 50, ("src/deep/" * 30,) * 5) for at in range(60)]
    text = render_report(CheckReport(str(tmp_path), tuple(long), 90, 0), touched, long[:45])
    assert len(text) <= 65_536
    listed = sum(line.startswith("- Warning in ") for line in text.splitlines())
    assert 45 < listed < 90 and "### Also found" in text
    memories, *findings = map(int, re.findall(r"^- … and (\d+) more$", text, re.MULTILINE))
    assert memories and sum(findings) == 90 - listed


def run_script(script: str, folder: Path, environ: Mapping[str, str], shell: str) -> subprocess.CompletedProcess[str]:
    """Runs a step of a template as the runner does, with this tree's `lerim`."""
    program = folder / "bin" / "lerim"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{warm_python()}" -P -m lerim "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    command = [shell, *(["--noprofile", "--norc", "-eo", "pipefail"] if shell == "bash" else ["-e"]), "-c", script]
    return subprocess.run(
        command, env={**os.environ, **environ, "PATH": path}, text=True, capture_output=True, check=False
    )


@pytest.mark.skipif(os.name == "nt", reason="the templates run in a POSIX shell")
def test_the_github_action_writes_the_report_and_fails_on_what_was_chosen(change: Path, tmp_path: Path) -> None:
    steps = {step.get("name"): step for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]}
    summary, report = tmp_path / "summary.md", tmp_path / "lerim.md"
    environ = {"SINCE": "base", "REPORT": str(report), "GITHUB_STEP_SUMMARY": str(summary)}
    done = run_script(steps["Check"]["run"], tmp_path, {**environ, "FAIL_ON": "secret drifted"}, "bash")
    assert done.returncode == 0, done.stderr
    assert "about `src/app.py#load`" in summary.read_text() == report.read_text()
    assert run_script(steps["Check"]["run"], tmp_path, {**environ, "FAIL_ON": "reference-gone"}, "bash").returncode == 1
    # what comes from outside reaches the scripts only as variables, so that it cannot become a command
    assert not any("${{" in step.get("run", "") for step in steps.values())


def make_program(folder: Path, name: str, text: str) -> None:
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / name).write_text(f"#!{sys.executable} -I\n{text}", encoding="utf-8")
    (folder / "bin" / name).chmod(0o755)


GH = """
import json, os, pathlib, sys
folder = pathlib.Path(os.environ["REPORT"]).parent
if sys.argv[1:3] == ["pr", "view"]:
    print((folder / "comments.json").read_text())
else:
    with (folder / "called").open("a") as file:
        print(json.dumps(sys.argv[1:]), file=file)
"""


@pytest.mark.skipif(os.name == "nt", reason="the templates run in a POSIX shell")
@pytest.mark.parametrize(
    ("report", "comments", "called"),
    [
        ("No memory is about the code of this change.\n", [], []),
        ("No memory is about the code of this change.\n\n### Also found\n", [], []),
        ("This change touches code that memories are about.\n", [], ["pr", "comment", "5", "--body-file"]),
        ("### Must be fixed\n", [("of another action", True), ("## Lerim\nforged", False)], ["pr", "comment"]),
        ("No memory\n", [("## Lerim\nold", True), ("of another action", True)], ["api", "graphql", "id=0"]),
    ],
)
def test_the_github_action_comments_where_it_matters_and_changes_only_its_own_comment(
    tmp_path: Path, report: str, comments: list[tuple[str, bool]], called: list[str]
) -> None:
    steps = {step.get("name"): step for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]}
    (tmp_path / "lerim.md").write_text(f"## Lerim\n\n{report}", encoding="utf-8")
    listed = [{"id": str(at), "body": body, "viewerDidAuthor": own} for at, (body, own) in enumerate(comments)]
    (tmp_path / "comments.json").write_text(json.dumps({"comments": listed}), encoding="utf-8")
    make_program(tmp_path, "gh", GH)
    done = run_script(steps["Comment"]["run"], tmp_path, {"NUMBER": "5", "REPORT": str(tmp_path / "lerim.md")}, "bash")
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "called").read_text().splitlines() if called else []
    assert bool(calls) == (tmp_path / "called").exists() and all(set(called) <= set(json.loads(one)) for one in calls)


@pytest.mark.skipif(os.name == "nt", reason="the templates run in a POSIX shell")
@pytest.mark.parametrize(
    ("since", "fails_on", "notes", "request_line"),
    [
        ("base", "reference-gone", [], "POST /merge_requests/3/notes"),
        ("base", "secret", [(8, 1, "## Lerim\nforged"), (9, 2, "hello")], "POST /merge_requests/3/notes"),
        ("HEAD", "secret", [(8, 1, "## Lerim\nforged"), (9, 2, "## Lerim\nold")], "PUT /merge_requests/3/notes/9"),
        ("HEAD", "secret", [(8, 1, "## Lerim\nforged")], ""),
    ],
)
def test_the_gitlab_template_comments_where_it_matters_changes_only_its_own_comment_and_fails_on_what_was_chosen(
    change: Path, tmp_path: Path, since: str, fails_on: str, notes: list[tuple[int, int, str]], request_line: str
) -> None:
    script = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())["lerim-check"]["script"][1]
    requests: list[str] = []
    bodies: list[str] = []

    class Host(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            listed = [{"id": at, "author": {"id": author}, "body": body} for at, author, body in notes]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"id": 2} if self.path.endswith("/user") else listed).encode())

        def do_POST(self) -> None:
            bodies.append(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["body"][0])
            requests.append(f"{self.command} {self.path.removeprefix('/api/v4/projects/7')}")
            self.send_response(200)
            self.end_headers()

        def do_PUT(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Host) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        environ = {
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": since,
            "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api/v4",
            "CI_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "3",
            "LERIM_GITLAB_TOKEN": "t",
            "LERIM_FAIL_ON": fails_on,
        }
        done = run_script(script, tmp_path, environ, "sh")
        server.shutdown()
    assert done.returncode == (fails_on == "reference-gone"), done.stderr
    assert ("### Must be fixed" in "".join(bodies)) == (fails_on == "reference-gone")
    assert ("about `src/app.py#load`" in "".join(bodies)) == (since == "base")
    assert requests == ([request_line] if request_line else [])


@pytest.mark.skipif(os.name == "nt", reason="the templates run in a POSIX shell")
def test_a_gitlab_that_takes_no_comment_does_not_hide_the_result(change: Path, tmp_path: Path) -> None:
    script = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())["lerim-check"]["script"][1]
    environ = {
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "base",
        "CI_API_V4_URL": "http://127.0.0.1:9/api/v4",
        "CI_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_IID": "3",
        "LERIM_GITLAB_TOKEN": "t",
    }
    done = run_script(script, tmp_path, environ | {"LERIM_FAIL_ON": "secret"}, "sh")
    assert done.returncode == 0 and "The comment could not be written." in done.stdout, done.stderr
