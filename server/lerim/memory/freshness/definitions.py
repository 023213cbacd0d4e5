"""Finds where a symbol is defined: in Python with Python's own parser, elsewhere with a bounded scan of the lines.

An editor knows better, and our extension asks it first; if a symbol is not found, or found twice, only the file is
used.
"""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from lerim.memory.freshness.token_outline import DefinitionSpan, find_spans

MAX_PLACES = 200
MAX_LINE = 2000
MAX_PYTHON = 128 * 1024
"""Characters of Python that are parsed (about 20 ms); a longer file is scanned line by line."""
MAX_KEPT_FILES = 8
"""Python files whose definitions are kept: editors ask about the same few again and again."""
DEFINES = re.compile(
    r"(?:^|[\s(])(?:def|class|function|func|fn|type|struct|enum|interface|trait|impl|module|const|let|var|val|object|record)"
    r"[*\s]+(?:\([^()]{0,80}\)\s*)?$"
)
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""The fields of a syntax tree's nodes that hold statements, in the order of the text."""
COMMENTS = ("//", "*", "--", "<!--")
QUOTES = "\"'`"

SymbolFinder = Callable[[str], int | None]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def make_symbol_finder(path: str, text: str, lines: Sequence[str]) -> SymbolFinder:
    """Returns a function that returns the line (from 0) defining a symbol; None if no line does, or several may."""
    if path.endswith((".py", ".pyi")) and len(text) <= MAX_PYTHON:
        known = _list_python_lines(text)
        if known is not None:
            return lambda name: _single_line_of(known.get(_dotted(name), ()))
    return lambda name: find_definition_line(name, lines)


@functools.lru_cache(maxsize=MAX_KEPT_FILES)
def _list_python_lines(text: str) -> Mapping[str, Sequence[int]] | None:
    """Returns the lines (from 0) of the definitions by qualified name and by each of its ends: `Store.save`, `save`;
    None if the text does not parse."""
    tree = parse_python(text)
    if tree is None:
        return None
    lines: dict[str, list[int]] = {}
    for full, node in iterate_definitions(tree):
        name, more = full, "."
        while more:
            lines.setdefault(name, []).append(node.lineno - 1)
            _, more, name = name.partition(".")
    return lines


def parse_python(text: str) -> ast.Module | None:
    """Parses a Python text; returns None if it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # faults in the person's code are not ours to report
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def iterate_definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Yields every function and class, and every assignment of a name outside functions, by qualified name."""
    waiting: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while waiting:
        node, inside, local = waiting.pop()
        for child in _iterate_statements(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield inside + child.name, child
                waiting.append((child, f"{inside}{child.name}.", not isinstance(child, ast.ClassDef)))
            elif isinstance(child, ast.Assign | ast.AnnAssign):
                for target in child.targets if isinstance(child, ast.Assign) else [child.target]:
                    if isinstance(target, ast.Name) and not local:
                        yield inside + target.id, child
            elif hasattr(child, "body") or isinstance(child, ast.Match):
                waiting.append((child, inside, local))


def _iterate_statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the statements, handlers and cases directly in a node. Going through all of its children, expressions
    among them, would take three times as long."""
    for block in _BLOCKS:
        yield from getattr(node, block, ())


def find_definition_line(name: str, lines: Sequence[str]) -> int | None:
    """Returns the line that looks like the symbol's definition, if exactly one does; ignores comments and strings."""
    word = _dotted(name).rpartition(".")[2]
    if not word:
        return None
    found: int | None = None
    looked = 0
    for number, line in enumerate(lines):
        at = line.find(word)
        if at < 0 or len(line) > MAX_LINE:
            continue
        looked += 1
        if looked > MAX_PLACES:
            return None
        if _defines(line, at, at + len(word)):
            if found is not None:
                return None
            found = number
    return found


def _defines(line: str, start: int, end: int) -> bool:
    if end < len(line) and (line[end].isalnum() or line[end] == "_"):
        return False
    return DEFINES.search(line[max(0, start - 120) : start]) is not None and is_code(line[:start])


def is_code(before: str) -> bool:
    """Returns whether what follows `before` on its line is outside comments and strings, as far as one line shows."""
    text = before.lstrip()
    if text.startswith(COMMENTS) or (text.startswith("#") and not text.startswith("#[")):
        return False
    quote = ""
    at = 0
    while at < len(before):
        character = before[at]
        if quote:
            at += character == "\\"
            if character == quote:
                quote = ""
        elif character in QUOTES:
            quote = character
        elif before.startswith(("//", " # ", " -- "), at):
            return False
        elif before.startswith("/*", at):
            end = before.find("*/", at + 2)
            if end < 0:
                return False
            at = end + 1
        at += 1
    return not quote


def _single_line_of(lines: Sequence[int]) -> int | None:
    return lines[0] if len(lines) == 1 else None


def _dotted(name: str) -> str:
    return name.replace("::", ".")


_WITHOUT_SYMBOLS = (
    *(".adoc", ".cfg", ".conf", ".csv", ".html", ".ini", ".json", ".jsonc", ".jsonl", ".lock", ".log", ".markdown"),
    *(".md", ".mdx", ".rst", ".svg", ".toml", ".tsv", ".txt", ".xml", ".yaml", ".yml"),
)
"""Endings of text and data, in whose sentences `record` and `type` define nothing."""


def find_enclosing_symbol(path: str, text: str, first: int, last: int) -> str:
    """Returns the qualified name of the innermost symbol that contains the lines from `first` to `last` (from 0); "" if
    none does, if another has the same name, or if the file's name is not that of code. What a function defines for
    itself belongs to the function. For an editor that knows no symbols of the file's language."""
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
