"""Finds the definitions of a Python file with Python's own parser: layout, comments and quotes make no difference."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from lerim.memory.freshness.definitions import Definition, iterate_definitions, parse_python

KIND = "a"
MAX_PYTHON = 512 * 1024
"""Characters of Python that are parsed; a longer file is read by tokens (`token_outline.py`)."""
OWN_NAME = "\1"
"""The placeholder for a definition's own name."""
_CLOSE_MARK = ")"
_IGNORED_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


class PythonOutline:
    """Every function and class, and every name assigned outside functions."""

    kind = KIND

    def __init__(self, found: dict[str, list[Definition]]) -> None:
        self._definitions = found

    @property
    def names(self) -> Sequence[str]:
        return list(self._definitions)

    def defines(self, name: str) -> bool:
        return name in self._definitions

    def tokens(self, name: str, own: frozenset[str]) -> list[list[str]]:
        return [list(_syntax_tokens(node, own)) for node in self._definitions.get(name, ())]


def outline_python(text: str) -> PythonOutline | None:
    """Returns the definitions of a Python text; None if it does not parse or is too long."""
    if len(text) > MAX_PYTHON:
        return None
    tree = parse_python(text)
    if tree is None:
        return None
    found: dict[str, list[Definition]] = {}
    for name, node in iterate_definitions(tree):
        found.setdefault(name, []).append(node)
    return PythonOutline(found)


def _syntax_tokens(node: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """Yields a syntax tree as words, the same for every version of Python: empty fields are left out. Not recursive."""
    waiting: list[tuple[str, object]] = [("", node)]
    while waiting:
        field, item = waiting.pop()
        if field == _CLOSE_MARK:
            yield str(item)
        elif isinstance(item, ast.Constant):
            yield repr(item.value)
        elif isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str):
            yield repr(" ".join(item.value.value.split()))  # a docstring: formatters re-indent its lines
        elif isinstance(item, ast.AST):
            yield f"({type(item).__name__}"
            waiting.append((_CLOSE_MARK, ")"))
            parts = [(name, getattr(item, name, None)) for name in item._fields if name not in _IGNORED_FIELDS]
            waiting += [(name, part) for name, part in reversed(parts) if part is not None and part != []]
        elif isinstance(item, list):
            yield f"[{field}"
            waiting.append((_CLOSE_MARK, "]"))
            waiting += [(field, part) for part in reversed(item)]
        elif isinstance(item, str) and field in ("id", "attr", "name") and item in own:
            yield OWN_NAME
        else:
            yield repr(item)
