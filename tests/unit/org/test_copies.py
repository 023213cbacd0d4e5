"""Redacted copies of sessions, which workers of any machine read."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from desk import correction
from hang import HANG
from lerim.org import LocalSessions
from lerim.org.machine.extraction import encode_candidate, extract_by_rules, make_whole_scope
from organisation import Organisation, kill
from terminal import answer, run

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def organisation(organisation: Organisation) -> Organisation:
    pytest.importorskip("fsspec", reason="the packages of lerim[org] are not installed")
    return organisation


def read_whole_copies(folder: Path) -> dict[str, bytes]:
    """The copies, after a check that each is whole."""
    copies = {file.stem: file.read_bytes() for file in folder.glob("*.jsonl")}
    assert all(hashlib.sha256(data).hexdigest() == name for name, data in copies.items())
    return copies


def test_workers_of_other_machines_find_in_copies_what_is_in_the_sessions(
    organisation: Organisation, tmp_path: Path
) -> None:
    desk, copies = organisation.desk, tmp_path / "copies"
    organisation.write_sessions(2)
    desk.session("secret", *correction(desk, "orjson", over=f"os.path with {SECRET}"))
    here = LocalSessions(desk.home, os.environ)
    project = desk.place.project
    scope = make_whole_scope(project, here.owners_for(project))
    originals = [one for transcript in here.list_transcripts() for one in extract_by_rules(transcript, scope)]
    assert any(one.references for one in originals), [one.references for one in originals]
    assert organisation.send("--copies", str(copies))["sent"] == 3
    written = read_whole_copies(copies)
    assert len(written) == 3
    everything = b"".join(written.values())
    assert SECRET.encode() not in everything and b"[redacted:" in everything
    assert organisation.send("--copies", str(copies))["sent"] == 0 and read_whole_copies(copies) == written
    nobody = tmp_path / "nobody"
    nobody.mkdir()
    elsewhere = {name: value for name, value in os.environ.items() if name != "CLAUDE_CONFIG_DIR"} | {
        "HOME": str(nobody),
        "LERIM_HOME": str(nobody / ".lerim"),
    }
    desk.repo.rename(tmp_path / "moved")  # a machine that has none of it
    desk.repo.mkdir()
    damaged = copies / f"{min(written)}.jsonl"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert organisation.start_worker("--copies", str(copies), environ=elsewhere).wait(HANG) == 0
    assert organisation.status()["states"] == {"done": 2, "failed": 1}
    damaged.write_bytes(written[damaged.stem])
    assert run("org", "retry").stdout == "1 session sent again.\n"
    assert organisation.start_worker("--copies", str(copies), environ=elsewhere).wait(HANG) == 0
    found = [json.dumps(one, sort_keys=True) for (one,) in organisation.rows("SELECT candidate FROM candidates")]
    assert sorted(found) == sorted(json.dumps(json.loads(encode_candidate(one)), sort_keys=True) for one in originals)


def test_a_backfill_that_is_killed_leaves_no_half_copy_to_a_worker(organisation: Organisation, tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    organisation.write_sessions(20)
    command = [sys.executable, "-m", "lerim", "org", "backfill", "--copies", str(copies)]
    for number in (1, 7, 15):
        backfill = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        end = time.monotonic() + HANG
        while backfill.poll() is None and len(list(copies.glob("*.jsonl"))) < number:
            assert time.monotonic() < end
        kill(backfill)
    (half,) = list(copies.glob("*.jsonl"))[:1]
    half.write_bytes(half.read_bytes()[:100])  # as a kill within the write leaves it
    organisation.rows("DELETE FROM extractions RETURNING key")
    organisation.rows("DELETE FROM procrastinate_jobs RETURNING id")
    assert organisation.send("--copies", str(copies))["sent"] == 20
    assert len(read_whole_copies(copies)) == 20


def test_a_path_for_copies_that_cannot_be_used_is_told_plainly(organisation: Organisation, tmp_path: Path) -> None:
    organisation.write_sessions(1)
    missing = run("org", "backfill", "--copies", "s3://bucket/folder")
    assert missing.exit_code == 1 and "'fsspec[s3]'" in missing.stderr
    unknown = run("org", "worker", "--copies", "nothing://user:word@host/folder", "--until-done")
    assert unknown.exit_code == 1 and "cannot be used for copies" in unknown.stderr and "word" not in unknown.stderr
    (tmp_path / "file").write_text("")
    refused = run("org", "backfill", "--copies", str(tmp_path / "file" / "below"))
    assert refused.exit_code == 1 and "cannot be read or written" in refused.stderr
    assert organisation.status()["states"] == {}
    in_memory = answer("org", "backfill", "--copies", "memory://copies")
    assert in_memory["sent"] == 1


def test_copies_take_over_what_waits_on_its_machine_and_mend_what_was_damaged(
    organisation: Organisation, tmp_path: Path
) -> None:
    copies = tmp_path / "copies"
    elsewhere = {name: value for name, value in os.environ.items() if name != "CLAUDE_CONFIG_DIR"} | {
        "HOME": str(tmp_path / "nobody"),
        "LERIM_HOME": str(tmp_path / "nobody" / ".lerim"),
    }
    (tmp_path / "nobody").mkdir()
    organisation.write_sessions(3)
    assert organisation.send()["sent"] == 3
    assert organisation.send("--copies", str(copies), "--dry-run")["plan"]["new"] == 3
    assert organisation.send("--copies", str(copies))["sent"] == 3
    whole = read_whole_copies(copies)
    assert organisation.send("--copies", str(copies))["sent"] == 0 == organisation.send()["sent"]
    damaged = copies / f"{min(whole)}.jsonl"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b" ")  # of the right size
    assert organisation.start_worker("--copies", str(copies), environ=elsewhere).wait(HANG) == 0
    assert organisation.status()["states"] == {"done": 2, "failed": 1}
    assert organisation.send()["sent"] == 0
    assert organisation.send("--copies", str(copies))["sent"] == 1 and read_whole_copies(copies) == whole
    assert organisation.start_worker("--copies", str(copies), environ=elsewhere).wait(HANG) == 0
    assert organisation.status()["states"] == {"done": 3} and organisation.candidates()
    assert organisation.rows("SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'") == [(0,)]


def test_a_backfill_that_is_stopped_says_what_it_has_sent(organisation: Organisation) -> None:
    from fsspec import register_implementation
    from fsspec.implementations.memory import MemoryFileSystem

    class StoppedAtFirst(MemoryFileSystem):
        """A place of copies, at which the person presses Ctrl-C while the first one is written."""

        protocol = "stopped"

        def pipe_file(self, path: str, value: bytes, **more: object) -> None:
            super().pipe_file(path, value, **more)
            signal.raise_signal(signal.SIGINT)

    register_implementation("stopped", StoppedAtFirst, clobber=True)
    organisation.write_sessions(3)
    stopped = answer("org", "backfill", "--copies", "stopped://copies", code=3)
    assert (stopped["sent"], stopped["plan"]["new"]) == (1, 3)
    assert organisation.status()["states"] == {"waiting": 1}
    assert run("org", "backfill", "--copies", "stopped://copies").stdout.endswith("1 session sent.\n")
