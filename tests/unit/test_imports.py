"""A package is imported through its door: with the contract that nothing imports in a circle (pyproject.toml), every
module can be the first one imported."""

import ast
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server"


def test_a_package_is_imported_through_its_door_alone() -> None:
    assert [*past_a_door()] == []


def past_a_door() -> Iterator[str]:
    """The imports of our server that name a module inside a package from outside of it."""
    for path in sorted((SERVER / "lerim").rglob("*.py")):
        own = path.relative_to(SERVER).parent.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            named += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            for parts in (tuple(name.split(".")) for name in named if name.startswith("lerim.")):
                same = takewhile(lambda pair: pair[0] == pair[1], zip(own, parts, strict=False))
                shared = len([*same])
                if len(parts) > shared + 1:
                    yield f"{path.relative_to(SERVER)}:{node.lineno} imports {'.'.join(parts)}"
