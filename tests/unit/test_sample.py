"""The sample of examples/, synced by the real pipeline: what must come out does, and nothing else that must not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from isolation import isolate
from lerim.jobs.report import SyncReport
from lerim.paths import Home
from lerim.review.views import CandidateView
from lerim.sessions.discovery import discover_stores
from lerim.sessions.platforms import find_platform_roots
from lerim.sessions.readers.platform_readers import PLATFORM_READERS
from sample import CLONE, EXAMPLES, Sample, load_script, make_sample

AGENTS = {"claude": 7, "codex": 1, "copilot": 1, "gemini": 1, "opencode": 1}
"""How many sessions of each the sample has."""
EXPECTED = json.loads((EXAMPLES / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return make_sample(tmp_path / "sample")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> SyncReport:
    """What the first sync of the sample reports."""
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, tmp_path_factory.mktemp("home"))
        return make_sample(tmp_path_factory.mktemp("first") / "sample").sync()


def matches(candidate: CandidateView, wanted: dict[str, Any]) -> bool:
    text = "\n".join([candidate.body, *(quote.quote for quote in candidate.evidence)])
    return (
        candidate.session == wanted["session"]
        and candidate.signal == wanted["signal"]
        and (candidate.kind or candidate.primitive) in wanted["kinds"]
        and candidate.title == wanted["title"]
        and all(said in text for said in wanted["also"])
        and wanted.get("reference") in (None, *(reference.partition("#")[0] for reference in candidate.references))
    )


def test_every_expected_memory_is_proposed(report: SyncReport):
    proposed = report.candidates
    missing = [wanted for wanted in EXPECTED["expected"] if not any(matches(c, wanted) for c in proposed)]
    assert missing == [], [
        (c.session[:8], c.signal, c.primitive, c.kind, c.title, c.body, c.references) for c in proposed
    ]


def test_hardly_more_is_proposed_than_what_is_expected_and_nothing_of_what_was_refuted(report: SyncReport):
    assert len(report.candidates) <= len(EXPECTED["expected"]) + 4
    for candidate in report.candidates:
        assert candidate.session not in EXPECTED["nothing_from"]
        assert not [word for word in EXPECTED["never"] if word.lower() in candidate.title.lower()]
    assert report.dropped["below-the-cut"]
    assert sum(report.dropped.values()) == len(report.dropped_items)


def test_every_quote_stands_in_its_session(report: SyncReport):
    for candidate in report.candidates:
        strings = "\n".join(strings_of(written(candidate.session)))
        assert candidate.evidence
        for quote in candidate.evidence:
            assert quote.quote.strip("…") in strings, (candidate.title, quote)


def written(session: str) -> list[Any]:
    """What the file of a session in examples/ holds, whichever agent wrote it."""
    files = (path for path in sorted((EXAMPLES / "sessions").rglob("*.json*")))
    [text] = [text for text in (path.read_text(encoding="utf-8") for path in files) if f'"{session}"' in text]
    lines = [text] if text.startswith('{"info"') else text.splitlines()
    return [json.loads(line) for line in lines]


def strings_of(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings_of(item)]
    return [text for item in value for text in strings_of(item)] if isinstance(value, list) else []


def test_every_session_of_the_sample_is_read_without_a_problem(sample: Sample):
    stores = discover_stores(
        find_platform_roots(sample.environ, Home(sample.folder / "lerim")), [sample.repo.as_posix()]
    )
    assert stores.problems == []
    assert Counter(transcript.platform for transcript in stores.transcripts) == AGENTS
    for transcript in stores.transcripts:
        reading = PLATFORM_READERS[transcript.platform].open_session(transcript)
        turns = list(reading)
        assert reading.problems == []
        assert {turn.cwd for turn in turns} == {sample.repo.as_posix()}
        assert reading.session.title
        assert reading.session.tokens


def test_the_samples_own_lerim_looks_for_sessions_in_the_sample_alone(sample: Sample):
    """Also once its examples were replaced, and where its home was deleted."""
    run, home = load_script("run"), Home(sample.folder / "lerim")
    for spoil in (sample.folder / "examples.sha256", home.root / "platforms.json"):
        spoil.unlink()
        run.copy_sample(sample.folder, EXAMPLES)
        roots = [root for places in find_platform_roots(sample.environ, home).values() for root in places]
        assert len(roots) == len(PLATFORM_READERS)
        assert all(root.is_relative_to(sample.folder) for root in roots)


def test_the_copied_project_is_what_its_sessions_left(sample: Sample):
    """A file the sessions wrote or edited ends as the sample's project has it."""
    last: dict[str, str] = {}
    for path in sorted((EXAMPLES / "sessions" / "claude").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            result = json.loads(line).get("toolUseResult")
            if isinstance(result, dict) and result.get("type") == "create":
                last[result["filePath"]] = result["content"]
    assert last
    for name, content in last.items():
        assert (sample.repo / Path(name).relative_to("/home/robin/tally")).read_text(encoding="utf-8") == content


def test_copying_again_keeps_what_is_there_and_new_examples_replace_it(sample: Sample, tmp_path: Path):
    run = load_script("run")
    kept = sample.repo / "kept.txt"
    kept.write_text("mine", encoding="utf-8")
    run.copy_sample(sample.folder, EXAMPLES)
    assert kept.exists()
    (sample.folder / "examples.sha256").write_text("other", encoding="utf-8")
    run.copy_sample(sample.folder, EXAMPLES)
    assert not kept.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the lines it prints are run by sh here")
def test_make_run_in_a_fresh_clone_works_and_so_do_the_lines_it_says_to_go_on_with(tmp_path: Path, isolated: Path):
    """From the clone's own folder, as `make run` is: the sample and its home lie inside the clone's repository."""
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    shutil.copy(CLONE / "scripts" / "run.py", clone / "scripts")
    shutil.copytree(EXAMPLES, clone / "examples")
    subprocess.run(["git", "init", "-q"], cwd=clone, check=True)
    environ = {name: value for name, value in os.environ.items() if name not in ("REPO", "LERIM_HOME")}
    command = [sys.executable, str(clone / "scripts" / "run.py")]
    done = subprocess.run(
        command, cwd=clone, env=environ, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("reads ") < done.stdout.index("11 sessions: 11 new")
    for part in ("Proposed", "Use Decimal for money", "too low to be proposed", "sessions list --repo"):
        assert part in done.stdout
    assert "install   code --install-extension" in done.stdout or "`make package`" in done.stdout
    lines = done.stdout.partition("in a terminal:\n")[2]
    typed = [line.strip() for line in lines.splitlines() if not line.strip().startswith("(")]
    shown = subprocess.run(
        ["sh", "-e"], input="\n".join(typed), cwd=clone, env=environ, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert "Use Decimal for money instead of float" in shown.stdout
