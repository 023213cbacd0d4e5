"""Every module can be the first one imported: the editor, the worker and the terminal each begin elsewhere."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from lerim.sessions.readers.agents import PLATFORM_READERS

SERVER = Path(__file__).resolve().parents[2] / "server"
CODE = """
import importlib, sys
for name in sys.argv[1:]:
    for known in [one for one in sys.modules if one.startswith("lerim")]:
        del sys.modules[known]
    importlib.import_module(name)
"""


def test_each_module_of_the_sessions_can_be_imported_first() -> None:
    paths = sorted((SERVER / "lerim" / "sessions").rglob("*.py"))
    names = [".".join(path.relative_to(SERVER).with_suffix("").parts) for path in paths if path.stem != "__init__"]
    assert {reader.__name__ for reader in PLATFORM_READERS.values()} < set(names)
    done = subprocess.run([sys.executable, "-c", CODE, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


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
