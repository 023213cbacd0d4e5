"""What is true of every memory file as text: edits change nothing but their values, and any place can be asked."""

from __future__ import annotations

from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from lerim.lsp.boundary import split_lines
from lerim.lsp.features.language.completion import find_completion_place
from lerim.lsp.features.language.edits import replace_values
from lerim.lsp.features.language.memory_texts import MemoryText
from lerim.lsp.features.language.symbols import outline
from lerim.lsp.features.language.targets import find_target_at, find_targets
from lerim.memory import Store, parse_memory_document, split_header

OLD = "20260101-old"
NAMES = st.text("ab0-_. ’é😀#:'\"", min_size=1, max_size=12).map(lambda name: f"x{name}y")
FORMS = ("{}", "'{}'", '"{}"', "{}   # a comment", "'{}'  ")
OTHERS = (
    "title: 😀 é",
    "# a comment: [20260101-old]",
    "tags: [a, 20260101-old]",
    "own: >-\n  20260101-old\n  x",
    "n: 1.10",
)


@st.composite
def headers(draw: st.DrawFn) -> str:
    """A frontmatter with links in each form in which YAML lets people write them."""
    form = st.sampled_from(FORMS)
    items = "".join(f"  - {draw(form).format(OLD)}\n" for _ in range(draw(st.integers(1, 3))))
    lists = {
        "related": draw(st.sampled_from((f"related:\n{items}", f"related: [{OLD}, 'b']\n", f"related: {OLD}, b\n"))),
        "superseded_by": f"superseded_by: {draw(form).format(OLD)}\n",
    }
    lines = [f"{other}\n" for other in draw(st.lists(st.sampled_from(OTHERS), unique=True))] + list(lists.values())
    newline = draw(st.sampled_from(("\n", "\r\n")))
    return ("---\n" + "".join(draw(st.permutations(lines))) + f"---\n\n{OLD} stays.\n").replace("\n", newline)


def apply_edits(text: MemoryText, new: str) -> str:
    """The whole text after the edits that rename `OLD`, as an editor that counts in UTF-16 makes them."""

    def change(key: str, value: str) -> str:
        return new if key in ("related", "superseded_by") and value == OLD else value

    lines = [line.encode("utf-16-le") for line in text.lines]
    for edit in sorted(replace_values(text, change), key=lambda one: one.range.start, reverse=True):
        start, end = edit.range.start, edit.range.end
        assert start.line == end.line
        row = lines[start.line]
        lines[start.line] = row[: start.character * 2] + edit.new_text.encode("utf-16-le") + row[end.character * 2 :]
    return b"".join(lines).decode("utf-16-le")


def memory_text(written: str) -> MemoryText:
    """A memory file that an editor has open."""
    path = Path("/repo/.lerim/memory/decisions/a.md")
    store = Store(path.parents[1], path.parent)
    return MemoryText(
        path, path.as_uri(), 1, "utf-16", split_lines(written), parse_memory_document(written), None, store
    )


def header_of(text: str) -> dict[str, object]:
    """The frontmatter as YAML reads it."""
    parts = split_header(text)
    assert parts is not None
    found = yaml.safe_load(text[parts.start : parts.end])
    assert isinstance(found, dict)
    return found


@given(headers(), NAMES)
def test_a_rename_changes_the_links_and_nothing_else(written: str, new: str) -> None:
    text = memory_text(written)
    changed = apply_edits(text, new)
    before, after = (header_of(one) for one in (written, changed))

    def renamed(value: object) -> object:
        if isinstance(value, str):
            return ", ".join(new if part == OLD else part for part in value.split(", "))
        return [new if item == OLD else item for item in value] if isinstance(value, list) else value

    assert after == {
        key: renamed(value) if key in ("related", "superseded_by") else value for key, value in before.items()
    }
    keys = ("related", "superseded_by", "  - ")
    kept = [[line for line in one.splitlines(keepends=True) if not line.startswith(keys)] for one in (written, changed)]
    assert kept[0] == kept[1]


FRAGMENTS = st.sampled_from(
    (
        *("---", "id:", "related:", "  - ", "[", "]", "a, b", "src/app.py#load", "'", '"', "😀", "#", "# H", "```"),
        *("\n", "\r\n", "\r"),
    )
)


@given(st.lists(FRAGMENTS, max_size=40).map("".join), st.integers(0, 40), st.integers(0, 40))
def test_any_text_has_an_outline_and_any_place_can_be_completed(written: str, line: int, column: int) -> None:
    text = memory_text(written)
    index = text.index(types.Position(line, column))
    for target in find_targets(text):
        place = text.range(target.span)
        assert place.start <= place.end
    find_target_at(text, line, index)
    completion = find_completion_place(text, line, index)
    if completion is not None:
        assert completion.start <= index <= completion.end
        assert text.line(line)[completion.start : index] == completion.typed
    for symbol in outline(text):
        assert symbol.range.start <= symbol.selection_range.start
        assert symbol.selection_range.end <= symbol.range.end
        assert symbol.name.strip()
