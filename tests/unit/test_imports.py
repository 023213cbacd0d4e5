"""A package is imported through its door: with the contract that nothing imports in a circle (pyproject.toml), every
module can be the first one imported."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server"
FLOORS = 12
"""The most packages that a chain of imports may have."""
IMPORT = re.compile(r"\s*(?:from|import) (lerim\.[\w.]+)")
IMPORTS = re.compile(r"^\s*(?:(?:from|import) lerim\.(\w+)|from lerim import (.+))", re.MULTILINE)
"""A package that is imported from, or names that are imported from `lerim` itself."""


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


def test_no_chain_of_imports_goes_through_more_than_twelve_packages() -> None:
    imported = imported_packages()

    @cache
    def chain(package: str) -> tuple[str, ...]:
        below = (chain(one) for one in sorted(imported[package]))
        return (package, *max(below, key=len, default=()))

    longest = max(map(chain, imported), key=len)
    assert len(longest) <= FLOORS, " > ".join(longest)


def imported_packages() -> dict[str, set[str]]:
    """Which top-level packages and modules of our server each of them imports, at its start or later."""
    places = [path for path in (SERVER / "lerim").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    found: dict[str, set[str]] = {path.stem: set() for path in places}
    for path in (SERVER / "lerim").rglob("*.py"):
        own = path.relative_to(SERVER / "lerim").parts[0].removesuffix(".py")
        for module, names in IMPORTS.findall(path.read_text(encoding="utf-8")):
            ours = {module, *re.findall(r"\w+", names)}
            found[own] |= (ours & found.keys()) - {own}
    return found
