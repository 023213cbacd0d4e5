"""What a model is shown of the labelled sessions: little of the file, and all that their labels rest on."""

from __future__ import annotations

import json
from pathlib import Path

from claude_lines import answer, call, encoded, prompt, reply, text, transcript
from lerim.sessions.model import Transcript
from lerim_evals.labels import ExpectedMemory, Label, read_labels
from lerim_evals.rendering import render_session, rendering_rows
from lerim_evals.sessions import find_labelled_sessions
from long import LONG


def session(folder: Path) -> Transcript:
    log = "begin\n" + "".join(f"word {number}\n" for number in range(600)) + "end\n"
    records = [
        prompt("Amounts are integer cents, never floats"),
        reply("a1", call("c1", "Bash", command="make check")),
        answer("c1", log),
        reply("a2", text("The middle of the log says nothing.")),
    ]
    path = folder / "s1.jsonl"
    path.write_bytes(encoded(*records))
    return transcript(path)


def label(*expected: ExpectedMemory) -> Label:
    return Label("s1", "claude", expected=expected)


def test_a_session_is_told_in_tokens_of_its_file_and_of_what_is_shown(tmp_path: Path) -> None:
    found = render_session(session(tmp_path), label())
    assert found.raw is not None
    assert found.shown * 4 < found.raw
    assert [row[0] for row in rendering_rows([found])] == ["s1", "all"]


def test_evidence_that_is_cut_out_is_told_as_lost(tmp_path: Path) -> None:
    one = session(tmp_path)
    native = json.loads(one.path.read_bytes().splitlines()[1])["uuid"]
    there = ExpectedMemory("learning", "It begins.", (native,), (("begin",), ("nowhere",)))
    cut = ExpectedMemory("learning", "It is noisy.", (native,), (("word 300",),))
    assert render_session(one, label(there, cut)).lost == ("It is noisy.",)


def test_the_labelled_sessions_shrink_to_a_tenth_and_lose_no_memorys_evidence(sessions_folder: Path) -> None:
    labels, problems = read_labels(Path(__file__).resolve().parents[3] / "evals" / "labels")
    assert problems == []
    files = find_labelled_sessions(sessions_folder, [(one.platform, one.session) for one in labels])
    found = [render_session(files[one.platform, one.session], one) for one in (labels if LONG else labels[1::3])]
    assert [(one.session, one.lost) for one in found if one.lost] == []
    raw = sum(one.raw for one in found if one.raw is not None)
    assert sum(one.shown for one in found if one.raw is not None) * 10 < raw
