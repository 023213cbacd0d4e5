"""Lines and columns as the editor counts them."""

from __future__ import annotations

import pytest
from lsprotocol import types

from lerim.lsp.boundary import documents
from lerim.lsp.boundary.documents import MAX_BYTES, Document, Documents, find_column, split_lines


def document(text: str, encoding: str = "utf-16") -> Document:
    return Document("file:///a.py", source=text, version=1, encoding=encoding)


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(types.Range(types.Position(*start), types.Position(*end)), text)


def test_only_line_feeds_and_carriage_returns_end_a_line() -> None:
    assert split_lines("a\x0cb\u2028c\nd\r\ne\rf\x85") == ["a\x0cb\u2028c\n", "d\r\n", "e\r", "f\x85"]
    assert split_lines("a\nb\n") == ["a\n", "b\n"]
    assert split_lines("") == []


def test_columns_are_counted_in_the_editors_units() -> None:
    for line, character, encoding, expected in (
        ("abc", 2, "utf-16", 2),
        ("abc\n", 99, "utf-16", 3),
        ("😀 load", 3, "utf-16", 2),
        ("😀 load", 5, "utf-8", 2),
        ("😀 load", 2, "utf-32", 2),
        ("日本 x", 3, "utf-16", 3),
        ("😀", 1, "utf-16", 1),
        ("\ud800x", 1, "utf-16", 1),
    ):
        assert find_column(line, character, encoding) == expected


def test_edits_land_where_the_editor_made_them_after_wide_and_exotic_characters() -> None:
    opened = document("a\x0cb\n😀 load\nend")
    opened.apply_change(edit((1, 3), (1, 7), "save"))
    opened.apply_change(edit((2, 3), (2, 3), "ing"))
    opened.apply_change(edit((3, 0), (3, 0), "!"))
    assert opened.source == "a\x0cb\n😀 save\nending!"
    assert opened.line(1) == "😀 save"
    assert opened.line(9) == ""
    opened.apply_change(edit((0, 3), (1, 0), " "))
    assert opened.lines == ["a\x0cb 😀 save\n", "ending!"]
    opened.apply_change(types.TextDocumentContentChangeWholeDocument("y\nz"))
    assert opened.lines == ["y\n", "z"]
    opened.apply_change(edit((0, 0), (0, 0), "y" * MAX_BYTES))
    assert opened.oversize, "it grew too large, and is let go"


def test_lines_that_another_thread_splits_while_the_person_types_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = document("a\nb")

    def split(text: str) -> list[str]:
        if opened.source == text == "a\nb":
            opened.apply_change(types.TextDocumentContentChangeWholeDocument("c\nd"))
        return split_lines(text)

    monkeypatch.setattr(documents, "split_lines", split)
    assert opened.lines == ["a\n", "b"]
    assert opened.lines == ["c\n", "d"]


@pytest.mark.parametrize("text", ["x" * (MAX_BYTES + 1), "日" * (MAX_BYTES // 3 + 1)])
def test_a_large_document_keeps_no_text_and_ignores_edits(text: str) -> None:
    opened = document(text)
    opened.apply_change(edit((0, 0), (0, 0), "y"))
    assert opened.oversize
    assert opened.source == ""


def test_a_file_that_is_not_open_is_not_read_from_disk() -> None:
    held = Documents(None)
    held.put_text_document(types.TextDocumentItem("untitled:Untitled-1", "python", 1, "text"))
    assert held.find_open_document("file:///etc/hostname") is None
    assert held.find_open_document("untitled:Untitled-1") is not None
