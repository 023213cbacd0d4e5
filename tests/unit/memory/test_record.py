"""Files as people and strangers leave them."""

from pathlib import Path

import pytest

from lerim.errors import MemoryError_
from lerim.memory.record import examine_record, parse_record, primitive_of, update_record_text
from lerim.memory.store import StoredMemory
from lerim.memory.views import memory_view

PATH = Path("/r/.lerim/memory/learnings/20260801-x.md")
GOOD = """---
id: 20260801-x
title: Use uv
created: 2026-08-01
updated: 2026-08-02T10:00:00+02:00
source: manual
confidence: 0.8
tags:
---
Body
"""


def messages(text: str) -> list[str]:
    return [problem.message for problem in examine_record(text, PATH)[1]]


@pytest.mark.parametrize(
    ("line", "other", "said"),
    [
        ("confidence: 0.8", "confidence: high", "confidence is not a number"),
        ("confidence: 0.8", "confidence: .nan", "confidence is not a number"),
        ("confidence: 0.8", "confidence: 7", "confidence is not a number"),
        ("tags:", "tags: [{a: b}]", "`tags` must be a list of texts"),
        ("tags:", "tags:\nkind: banana", "kind 'banana' is not one of insight"),
        ("created: 2026-08-01", "created: soon", "created is not a date"),
        ("id: 20260801-x", "id: other", "id 'other' is not the file's name"),
        ("title: Use uv", "title:", "no title"),
        ("tags:", "tags:\nevidence: [a, {quote: b, turn: c, who: god}]", "evidence entry"),
    ],
)
def test_a_value_that_makes_no_sense_is_told_and_the_memory_read(line: str, other: str, said: str) -> None:
    text = GOOD.replace(line, other)
    assert said in "".join(messages(text)).lower()
    assert parse_record(text, PATH).body == "Body"


def test_a_kind_is_of_learnings_alone_and_is_told_elsewhere() -> None:
    text, decision = GOOD.replace("tags:", "tags:\nkind: pitfall"), PATH.parent.parent / "decisions" / PATH.name
    assert parse_record(text, PATH).kind == "pitfall" and messages(text) == []
    record, [problem] = examine_record(text, decision)
    assert (record.primitive, memory_view(StoredMemory(record, decision, (0, 0, 0), "", "active")).kind) == (
        "decision",
        None,
    )
    assert "A decision has no kind" in problem.message


@pytest.mark.parametrize("kind", ["decision", "decison"])
def test_a_decision_with_an_unknown_kind_is_told_once_that_it_has_none(kind: str) -> None:
    text, decision = GOOD.replace("tags:", f"tags:\nkind: {kind}"), PATH.parent.parent / "decisions" / PATH.name
    _, problems = examine_record(text, decision)
    assert [problem.message for problem in problems] == ["A decision has no kind; only a learning has one. Remove it."]


@pytest.mark.parametrize(
    "header",
    [
        "title: [",
        "a: &a [x]\nb: *a",
        "<<<<<<< ours\ntitle: a",
        "- a",
        "created: 2026-13-45",
        "a: " + "[" * 2_000,
        "a: " + "- " * 2_000 + "x",
        "a: !!python/object/apply:os.system ['true']",
        "a: " + "1" * 20_000,
        "a: " + "x" * 70_000,
    ],
)
def test_a_header_that_is_none_or_a_bomb_is_refused_with_its_file(header: str) -> None:
    with pytest.raises(MemoryError_) as error:
        parse_record(f"---\n{header}\n---\n", PATH)
    assert error.value.where.startswith(str(PATH)) and error.value.todo


def test_text_without_a_header_is_no_memory() -> None:
    for text in ("", "# Notes", "---\ntitle: x\n", "--- \nno end"):
        with pytest.raises(MemoryError_, match="no header"):
            parse_record(text, PATH)


def test_a_header_on_one_line_is_read_and_never_rewritten() -> None:
    text = "---\n{id: 20260801-x, title: One, confidence: 0.5}\n---\nBody\n"
    assert parse_record(text, PATH).title == "One"
    with pytest.raises(MemoryError_, match="line by line"):
        update_record_text(text, {"title": "Two"})


def test_a_body_is_read_without_the_line_ends_of_windows_and_written_with_those_of_its_file() -> None:
    text = GOOD.replace("\n", "\r\n")
    changed = update_record_text(text, {}, "One\n\ntwo\r\nthree")
    assert changed == text.replace("Body", "One\r\n\r\ntwo\r\nthree")
    assert parse_record(changed, PATH).body == "One\n\ntwo\nthree"
    assert update_record_text(changed, {}, "One\n\ntwo\nthree") == changed


def test_comments_inside_a_changed_list_stay() -> None:
    text = GOOD.replace("tags:", "references:\n  # why\n  - a.py\n  - b.py # both\ntags: [x] # mine")
    changed = update_record_text(text, {"references": ("c.py",), "tags": ("z",)})
    assert "references:\n  - c.py\n  # why\ntags: [z] # mine\n" in changed


def test_what_would_turn_a_line_around_is_an_escape_in_the_header() -> None:
    said = "claude:x\u202egnp\u2066#0123456789ab"
    changed = update_record_text(GOOD, {"source": said})
    assert r'source: "claude:x\u202egnp\u2066#0123456789ab"' in changed
    assert parse_record(changed, PATH).source == said


def test_values_a_person_wrote_bare_are_the_words_they_wrote() -> None:
    text = "---\ntitle: Yes\nsource: 1.10\ntags: [on, 3.10, 2026-08-01, plain]\nrelated:\n  - No\n---\n\nBody\n"
    memory = parse_record(text, Path("decisions/20260801-x.md"))
    assert (memory.title, memory.source) == ("Yes", "1.10")
    assert (memory.tags, memory.related) == (("on", "3.10", "2026-08-01", "plain"), ("No",))
    assert parse_record("---\ntitle: 1.10\n---\n", Path("decisions/20260801-x.md")).title == "1.10"


def test_a_file_beside_the_folders_of_memories_is_none_whatever_the_repository_is_called() -> None:
    assert primitive_of(Path("/srv/questions/.lerim/memory/README.md")) is None
    assert primitive_of(Path("/srv/questions/.lerim/memory/decisions/20260101-a.md")) == "decision"


@pytest.mark.parametrize(
    ("written", "references"),
    [
        ("src/a.py, src/b.py#load ,docs/c d.md,", ("src/a.py", "src/b.py#load", "docs/c d.md")),
        ("src/a.py , src/b.py,", ("src/a.py", "src/b.py")),
        ("data/1,2.csv, RCS/app.py,v", ("data/1,2.csv", "RCS/app.py,v")),
        (" , ,, ", ()),
    ],
)
def test_references_written_as_one_text_are_separated_by_commas_beside_spaces(
    written: str, references: tuple[str, ...]
) -> None:
    header = f'tags: a,b , c\nreferences: "{written}"\n'
    record = parse_record(GOOD.replace("tags:\n", header), PATH)
    assert (record.tags, record.references) == (("a", "b", "c"), references)
