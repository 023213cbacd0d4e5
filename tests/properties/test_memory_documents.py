"""Positions in memory files: any text gives a document, and every value stands where the document says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lerim.memory import TextSpan, kind_of_document, parse_memory_document

MEMORY = """---
id: 20260801-money
title: "Use Decimal: for money"
created: 2026-08-01T10:20:30Z
tags: [money, 'numbers', "api"]
references:
  - src/pay.py#charge
  - src/pay.py
evidence:
  - quote: "we said: Decimal"
    turn: ab12
    who: user
supersedes: []
note: one  # a comment
---

Use Decimal.
"""
WORDS = st.sampled_from(
    [
        *("---", "\n", "\r\n", "\r", "id: x", "tags: [a, 'b'", "]", "  - src/a.py", "key:", ": ", "#", "é😀", "\ufeff"),
        *("\t", 'quote: "a\\', '"', "&a", "*a", "|\n  text\n", "!!int x", "{a: 1}", "2026-13-45", "\x00", "\u2028"),
    ]
)
TEXTS = st.one_of(
    st.text(), st.lists(WORDS).map("".join), st.lists(WORDS).map(lambda made: f"---\n{''.join(made)}\n---\n")
)


def part(text: str, span: TextSpan) -> str:
    lines = re.split(r"\r\n|\r|\n", text)
    if span.start_line == span.end_line:
        return lines[span.start_line][span.start_character : span.end_character]
    between = lines[span.start_line + 1 : span.end_line]
    return "\n".join(
        [lines[span.start_line][span.start_character :], *between, lines[span.end_line][: span.end_character]]
    )


@given(TEXTS)
@example("---\n\ufeff\ufeff0: 0\n---")
@example('---\na: !\nb: !!str x\nc: &d "e"\n---\n')
def test_any_text_gives_a_document_whose_parts_lie_inside_it(text: str) -> None:
    document = parse_memory_document(text)
    last_line = len(re.findall(r"\r\n|\r|\n", text))
    spans = [document.body, *(problem.span for problem in document.problems)]
    spans += [span for field in document.fields for span in (field.key_span, field.span)]
    spans += [value.span for field in document.fields for value in field.values]
    for span in spans:
        assert (0, 0) <= (span.start_line, span.start_character) <= (span.end_line, span.end_character)
        assert span.end_line <= last_line
    for field in document.fields:
        for value in field.values:
            found = part(text, value.span)
            if "\n" not in found and "\\" not in found and "'" not in found:
                assert found == value.text


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1)))
def test_values_in_quotes_are_found_without_their_quotes(items: list[str]) -> None:
    plain = [item.replace('"', "").replace("\\", "").replace("\ufeff", "") or "x" for item in items]
    text = "---\nrelated: [" + ", ".join(f'"{item}"' for item in plain) + "]\n---\n"
    document = parse_memory_document(text)
    if not document.problems:
        assert [part(text, value.span) for value in document.values("related")] == plain


PLAIN_VALUES = st.sampled_from(
    [
        "a b",
        '"a: b"',
        "0.5",
        "[]",
        '[a, "b, c"]',
        "\n  - src/a.py#b",
        '\n  - quote: "x # y"\n    turn: ab12',
        "it's",
        '""',
    ]
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["id", "tags", "references", "evidence", "own"]), PLAIN_VALUES),
        unique_by=lambda one: one[0],
    )
)
def test_headers_of_lerim_itself_are_read_line_by_line_as_yaml_reads_them(fields: list[tuple[str, str]]) -> None:
    head = "".join(f"{key}: {value}\n" for key, value in fields).replace(": \n", ":\n")
    quick, by_yaml = (parse_memory_document(f"---\n{head}{more}---\n") for more in ("", "# a comment\n"))
    assert quick.fields == by_yaml.fields


def test_every_key_and_value_of_a_memory_has_its_place() -> None:
    document = parse_memory_document(MEMORY)
    assert document.problems == ()
    found = [(value.key, value.text) for field in document.fields for value in field.values]
    assert [text for key, text in found if key == "tags"] == ["money", "numbers", "api"]
    assert found[-5:] == [
        ("references", "src/pay.py"),
        ("evidence.quote", "we said: Decimal"),
        ("evidence.turn", "ab12"),
        ("evidence.who", "user"),
        ("note", "one"),
    ]
    assert [field.key for field in document.fields][-2:] == ["supersedes", "note"]
    for field in document.fields:
        assert part(MEMORY, field.key_span) == field.key
        assert all(part(MEMORY, value.span) == value.text for value in field.values)
    assert document.frontmatter == TextSpan(1, 0, 14, 0)
    assert part(MEMORY, document.body) == "\nUse Decimal.\n"


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ('title: "Use Decimal', 3),
        ("title: a: b", 2),
        ("title: x\ncreated: 2026-13-45", 3),
        ("title: x\n\tcreated: y", 3),
    ],
)
def test_a_header_that_yaml_refuses_has_its_problem_at_the_line_and_keeps_its_fields(broken: str, line: int) -> None:
    text = f"---\nid: 20260801-money\n{broken}\n---\nbody\n"
    document = parse_memory_document(text)
    assert [(problem.code, problem.span.start_line) for problem in document.problems] == [("frontmatter", line)]
    assert [field.key for field in document.fields][:2] == ["id", "title"]


def test_a_header_without_an_end_still_has_its_fields() -> None:
    document = parse_memory_document("---\nid: a\nreferences:\n  - src/pay.py\n\nbody\n")
    assert [(value.key, value.text) for field in document.fields for value in field.values] == [
        ("id", "a"),
        ("references", "src/pay.py"),
    ]
    assert document.problems[0].message == "The header has no end. Write --- on a line of its own."


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/repo/.lerim/memory/decisions/a.md", "memory"),
        ("/repo/.lerim/memory/archived/learnings/a.md", "memory"),
        ("/repo/.lerim/memory/journal/2026/08/01.md", None),
        ("/repo/.lerim/review/a.md", "candidate"),
        ("/home/me/.lerim/projects/key/review/a.md", "candidate"),
        ("/home/me/.lerim/memory/learnings/a.md", "memory"),
        ("/data/home/memory/learnings/a.md", "memory"),
        ("/repo/docs/a.md", None),
        ("/repo/.lerim/memory/decisions/a.txt", None),
    ],
)
def test_the_folder_says_whether_a_file_is_a_memory_or_a_candidate(path: str, kind: str | None) -> None:
    assert kind_of_document(Path(path), Path("/data/home/memory")) == kind
