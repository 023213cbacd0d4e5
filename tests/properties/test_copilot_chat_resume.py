"""Damage costs what it touches, reading in pieces gives what reading at once gives, no bytes raise out of a reader."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import copilot_chats as chats
from gemini_files import long_ago
from lerim.errors import TranscriptError
from reading_laws import SETTINGS, appends_give_the_same, told, with_byte

words = st.sampled_from(["use uv, not pip", "ok", " ", "ünï \u2028 code", '{"kind":2,"k":["requests"]', "a\\b"])
parts = st.one_of(
    words.map(chats.markdown),
    words.map(chats.thinking),
    st.builds(chats.terminal, words, st.sampled_from([None, 0, 1]), complete=st.booleans()),
    st.sampled_from(["copilot_readFile", "copilot_createFile", "mcp_x"]).map(chats.tool),
    st.just({"kind": "textEditGroup", "uri": {"path": "/a/b.py"}, "edits": [[{"text": "x"}]]}),
)
calls = st.builds(lambda name: chats.metadata(chats.asked(name)), st.sampled_from(["read_file", "apply_patch", "x"]))
requests = st.builds(
    lambda said, shown, made, state: chats.request(said, *shown, calls=made, state=state),
    words,
    st.lists(parts, max_size=4),
    st.one_of(st.none(), calls),
    st.sampled_from([0, 1, 2]),
)


def named(made: list[Any]) -> list[Any]:
    """The requests under ids of which no two are one byte apart."""
    digests = [hashlib.sha256(str(at).encode()).hexdigest() for at in range(len(made))]
    ids = [{"requestId": digest[:32], "responseId": digest[32:]} for digest in digests]
    return [one | own for one, own in zip(made, ids, strict=True)]


def entries(made: list[Any]) -> list[Any]:
    """A log that grew as a chat does: each request, then its answer part by part, then how it ended."""
    found: list[Any] = [chats.initial()]
    for at, one in enumerate(made):
        found.append(chats.push("requests", v=[one | {"response": [], "modelState": {"value": 0}}]))
        found += [chats.push("requests", at, "response", v=[shown]) for shown in one["response"]]
        found.append(chats.put("requests", at, "modelState", v=one["modelState"]))
    return found


def lines(found: list[Any]) -> list[bytes]:
    return [json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for one in found]


@SETTINGS
@given(data=st.data(), made=st.lists(requests, max_size=6))
def test_reading_at_once_equals_reading_any_appends_at_any_byte(tmp_path: Path, data: st.DataObject, made: list[Any]):
    written = b"".join(lines(entries(named(made))))
    cuts = data.draw(st.lists(st.integers(0, len(written)), max_size=4))
    expected = appends_give_the_same(chats.reading, tmp_path / "one.jsonl", written, cuts)
    assert told(expected) == told(chats.reading(chats.whole(tmp_path / "flat.json", *named(made)))[0])


@SETTINGS
@given(data=st.data(), made=st.lists(requests, min_size=1, max_size=6))
def test_a_byte_changed_in_what_a_line_tells_costs_that_request(tmp_path: Path, data: st.DataObject, made: list[Any]):
    made = named(made)
    found = entries(made)
    parts = lines(found)
    path = tmp_path / "one.jsonl"
    path.write_bytes(b"".join(parts))
    before = told(chats.reading(path)[0])
    hit = data.draw(st.integers(1, len(parts) - 1))
    at = data.draw(st.integers(parts[hit].index(b'"v":') + 4, len(parts[hit]) - 2))
    byte = data.draw(st.integers(0, 255))
    path.write_bytes(with_byte(parts, hit, at, byte))
    keys = found[hit]["k"]
    of = keys[1] if len(keys) > 1 else sum(one["k"] == ["requests"] for one in found[1:hit])
    own = {one[0] for one in told(chats.reading(chats.whole(tmp_path / "own.json", made[of]))[0])}
    after = told(chats.reading(path)[0])
    assert [one for one in before if one[0] not in own] == [one for one in after if one in before and one[0] not in own]


@SETTINGS
@given(data=st.data(), made=st.lists(requests, min_size=1, max_size=5))
def test_a_line_cut_short_by_a_crash_costs_no_line_that_was_written_behind_it(
    tmp_path: Path, data: st.DataObject, made: list[Any]
):
    parts = lines([chats.initial(), *(chats.push("requests", v=[one]) for one in named(made))])
    path = tmp_path / "one.jsonl"
    path.write_bytes(b"".join(parts))
    expected = told(chats.reading(path)[0])
    cut = data.draw(st.integers(0, len(parts[-1]) - 2))
    path.write_bytes(b"".join([*parts[:-1], parts[-1][:cut], chats_title()]))
    turns, done = chats.reading(path)
    known = told(turns)
    assert known == expected[: len(known)]
    assert len(known) >= len(told(chats.reading(chats.whole(tmp_path / "before.json", *named(made)[:-1]))[0]))
    assert done.session.title == "A title"


def chats_title() -> bytes:
    return lines([chats.put("customTitle", v="A title")])[0]


@SETTINGS
@given(data=st.data(), made=st.lists(requests, min_size=1, max_size=5))
def test_a_whole_file_cut_or_changed_anywhere_gives_what_is_whole_in_it(
    tmp_path: Path, data: st.DataObject, made: list[Any]
):
    made = named(made)
    path = chats.whole(tmp_path / "one.json", *made)
    written = path.read_bytes()
    at = data.draw(st.integers(written.index(b'"requests"') + 14, len(written) - 1))
    cut = data.draw(st.booleans())
    path.write_bytes(written[:at] if cut else written[:at] + b'"' + written[at + 1 :])
    long_ago(path)
    try:
        turns = chats.reading(path)[0]
    except TranscriptError:
        turns = []
    untouched = [one for one in made if not _holds(written, one, at) and (not cut or _ends(written, one) <= at)]
    left = {turn.id for turn in chats.reading(chats.whole(tmp_path / "left.json", *untouched))[0]}
    assert left <= {turn.id for turn in turns}


def _ends(written: bytes, one: Any) -> int:
    encoded = json.dumps(one).encode()
    return written.index(encoded) + len(encoded)


def _holds(written: bytes, one: Any, at: int) -> bool:
    return _ends(written, one) - len(json.dumps(one).encode()) <= at < _ends(written, one)


@SETTINGS
@given(data=st.data(), made=st.lists(requests, max_size=4))
def test_lines_in_any_order_from_two_chats_and_any_bytes_leave_the_reader_standing(
    tmp_path: Path, data: st.DataObject, made: list[Any]
):
    odd = [b"[]\n", b'{"kind":0,"v":3}\n', b'{"kind":1,"k":[],"v":3}\n', data.draw(st.binary(max_size=60)) + b"\n"]
    path = tmp_path / "one.jsonl"
    parts = [*lines(entries(named(made))), *lines(entries(made)), *odd]
    path.write_bytes(b"".join(data.draw(st.permutations(parts))))
    other = chats.whole(tmp_path / "other.json", chats.request("untouched"))
    turns, done = chats.reading(path)
    assert [turn.ordinal for turn in turns] == list(range(len(turns)))
    assert done.session.turns == len(turns)
    assert [turn.text for turn in chats.reading(other)[0]] == ["untouched"]
