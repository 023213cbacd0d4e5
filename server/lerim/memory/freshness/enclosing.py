"""Finds the symbol that contains some lines of a file, for an editor that knows no symbols of its language."""

from __future__ import annotations

from collections import Counter

from lerim.memory.freshness.definitions import MAX_PYTHON, iterate_definitions, parse_python
from lerim.memory.freshness.token_outline import DefinitionSpan, find_spans

_WITHOUT_SYMBOLS = (
    *(".adoc", ".cfg", ".conf", ".csv", ".html", ".ini", ".json", ".jsonc", ".jsonl", ".lock", ".log", ".markdown"),
    *(".md", ".mdx", ".rst", ".svg", ".toml", ".tsv", ".txt", ".xml", ".yaml", ".yml"),
)
"""Endings of text and data, in whose sentences `record` and `type` define nothing."""


def find_enclosing_symbol(path: str, text: str, first: int, last: int) -> str:
    """Returns the qualified name of the innermost symbol that contains the lines from `first` to `last` (from 0); "" if
    none does, if another has the same name, or if the file's name is not that of code. What a function defines for
    itself belongs to the function."""
    file_name = path.rpartition("/")[2].lower()
    if "." not in file_name or file_name.endswith(_WITHOUT_SYMBOLS):
        return ""
    spans = _list_spans(path, text.replace("\r\n", "\n"))
    containing = sorted(
        (span for span in spans if span.first <= first and last <= span.last), key=lambda span: span.first - span.last
    )
    name = ""
    for span in containing:
        if name and not span.name.startswith(f"{name}."):
            break
        name = span.name
    return name if Counter(span.name for span in spans)[name] == 1 else ""


def _list_spans(path: str, text: str) -> list[DefinitionSpan]:
    tree = parse_python(text) if path.endswith((".py", ".pyi")) and len(text) <= MAX_PYTHON else None
    if tree is None:
        return find_spans(path, text)
    return [
        DefinitionSpan(
            name, min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]) - 1, end - 1
        )
        for name, node in iterate_definitions(tree)
        if (end := node.end_lineno) is not None
    ]
