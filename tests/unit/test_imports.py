"""A package is imported through its door: with the contract that nothing imports in a circle (pyproject.toml), every
module can be the first one imported."""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server"
IMPORT = re.compile(r"\s*(?:from|import) (lerim\.[\w.]+)")


def test_a_package_is_imported_through_its_door_alone() -> None:
    assert [*past_a_door()] == []


def past_a_door() -> Iterator[str]:
    """The imports of our server that name a module inside a package from outside of it."""
    for path in sorted((SERVER / "lerim").rglob("*.py")):
        own = path.relative_to(SERVER).parent.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if found := IMPORT.match(line):
                parts = tuple(found[1].split("."))
                same = takewhile(lambda pair: pair[0] == pair[1], zip(own, parts, strict=False))
                shared = len([*same])
                if len(parts) > shared + 1:
                    yield f"{path.relative_to(SERVER)}:{number} imports {'.'.join(parts)}"


def test_no_two_public_classes_have_the_same_name() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted((SERVER / "lerim").rglob("*.py")):
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            places.setdefault(name, []).append(path.relative_to(SERVER).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
