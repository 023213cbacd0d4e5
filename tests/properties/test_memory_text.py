"""What a memory file says survives every way of writing, reading and changing it."""

from datetime import UTC, datetime
from pathlib import Path

import frontmatter
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lerim.memory import header
from lerim.memory.record import (
    Evidence,
    MemoryRecord,
    examine_record,
    header_values,
    parse_record,
    render_record,
    update_record_text,
)
from lerim.memory.reference import parse_reference

WORDS_OF_YAML = "--- ' \" \\ # yes 1.0 { *a &a !!python/object:os.system % @ ` 2026-01-01 null ~ [a] x:"
SPACED = ("\n---\n", "a: b", "- x", " # x", "\u2028", "\x85", "\r\n", "\ufeff", "\0", "\t")
ODD = st.sampled_from([*WORDS_OF_YAML.split(), *SPACED])
TEXT = st.lists(st.one_of(ODD, st.text(max_size=12)), max_size=5).map("".join)
LINE = TEXT.filter(lambda text: text.strip() != "")
WORDS = st.lists(LINE, max_size=3).map(tuple)
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
RECORDS = st.builds(
    MemoryRecord,
    id=st.just("20260801-x"),
    primitive=st.just("decision"),
    title=LINE,
    created=TIMES,
    updated=TIMES,
    source=LINE,
    confidence=st.integers(0, 10_000).map(lambda number: number / 10_000),
    tags=WORDS,
    body=TEXT,
    kind=st.sampled_from([None, "pitfall", "preference"]),
    references=WORDS,
    evidence=st.lists(st.builds(Evidence, TEXT, LINE, st.sampled_from(["user", "tool"])), max_size=3).map(tuple),
    verified=TEXT,
    supersedes=WORDS,
    superseded_by=TEXT,
).filter(lambda record: "[redacted:" not in render_record(record))  # a secret is not written as it is
PATH = Path("/r/.lerim/memory/decisions/20260801-x.md")


@given(RECORDS)
def test_what_is_written_is_read_again_by_us_by_yaml_and_by_others_and_no_change_changes_no_byte(
    record: MemoryRecord,
) -> None:
    text = render_record(record)
    found, problems = examine_record(text, PATH)
    assert found == record
    senseless = record.kind is not None and record.primitive != "learning"
    assert len(problems) == sum(parse_reference(text) is None for text in record.references) + senseless
    post = frontmatter.loads(text)
    assert (post.metadata["title"], post.metadata["tags"]) == (record.title, list(record.tags))
    assert update_record_text(text, header_values(record), body=record.body) == text
    parts = header.split_header(text)
    assert parts is not None
    head = text[parts.start : parts.end]
    assert header.load_plain_header(head) == yaml.safe_load(head)


BY_HAND = st.one_of(TEXT, TEXT.map('"{}"'.format), TEXT.map('[x, "{}"]'.format))


@given(st.lists(st.tuples(st.sampled_from(["a", "tags", "title"]), BY_HAND), max_size=4))
def test_where_the_quick_reader_reads_at_all_it_reads_what_yaml_reads(entries: list[tuple[str, str]]) -> None:
    head = "".join(f"{key}: {text}\n" for key, text in entries)
    quick = header.load_plain_header(head)
    if quick is not None:
        assert quick == (yaml.safe_load(head) or {})


HAND_EDITED = """---\r
# my own note\r
mine:   {a: 1,  b: [x, 'y']}   # keep\r
title: 'Use uv'\r
id: 20260801-x\r
tags:\r
  # packaging only\r
  - "one"\r
confidence: .8   # a guess\r
note: >-\r
  folded\r
  text # no comment\r
\r
created: 2026-08-01\r
evidence: [{quote: "a\u2028b", turn: t, who: user}]\r
---\r
Body with ---\r
---\r
and no end"""


@given(
    st.fixed_dictionaries(
        {}, optional={"title": LINE, "confidence": st.just(0.3), "tags": WORDS, "references": WORDS, "updated": TIMES}
    ),
    st.booleans(),
)
def test_a_change_touches_only_the_lines_of_its_keys(changes: dict[str, object], windows: bool) -> None:
    text = HAND_EDITED if windows else HAND_EDITED.replace("\r\n", "\n")
    changed = update_record_text(text, changes)  # type: ignore[arg-type]
    before, after = examine_record(text, PATH)[0], examine_record(changed, PATH)[0]
    for key, value in changes.items():
        assert getattr(after, key) == value
    for key in set(header_values(before)) - set(changes) - {"updated"}:
        assert getattr(after, key) == getattr(before, key)
    kept = [
        line for line in text.splitlines(keepends=True) if not line.startswith(tuple(changes)) and "one" not in line
    ]
    position = 0
    for line in kept:
        position = changed.index(line, position) + len(line)
    assert changed.endswith(text[text.index("Body with") :])


@given(RECORDS, RECORDS)
def test_a_record_can_be_changed_into_any_other(one: MemoryRecord, other: MemoryRecord) -> None:
    missing = dict.fromkeys(header_values(one).keys() - header_values(other).keys())
    text = update_record_text(render_record(one), {**header_values(other), **missing}, body=other.body)
    assert parse_record(text, PATH) == other
    assert text == render_record(other)


def test_changing_nothing_changes_not_a_byte_of_what_a_person_edited() -> None:
    assert (
        update_record_text(
            HAND_EDITED, header_values(parse_record(HAND_EDITED, PATH)) | {"updated": None, "source": None}
        )
        == HAND_EDITED
    )
