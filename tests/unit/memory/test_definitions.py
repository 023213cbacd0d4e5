"""Where symbols are defined: exactly one place, or none."""

from __future__ import annotations

import pytest

from lerim.memory.freshness.definitions import (
    MAX_PYTHON,
    find_definition_line,
    find_enclosing_symbol,
    make_symbol_finder,
    parse_python,
)


def find(name: str, text: str, path: str = "src/a.ts") -> int | None:
    return make_symbol_finder(path, text, text.splitlines(keepends=True))(name)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("export async function load() {", "load"),
        ("func (s *Server) Run() {", "Server.Run"),
        ("#[derive(Debug)] pub struct Store {", "Store"),
        ("/* public */ class Store {", "Store"),
        ('let a = "x"; function load() {', "load"),
        ("fn load() {} // the function loads", "load"),
    ],
)
def test_a_line_that_defines_a_symbol_is_found(line: str, name: str) -> None:
    assert find_definition_line(name, ["x\n", line]) == 1


@pytest.mark.parametrize(
    "line",
    [
        "// the function load is gone",
        " * a function load() of old",
        "/* function load() */",
        "# def load(): was here",
        "-- function load",
        "<!-- function load -->",
        "x = 1 // function load",
        "x = 1 /* function load() {",
        "log('a function load() {')",
        'log("it\'s a function load")',
        "log('\\' function load')",
        "reload()",
        "function loader() {",
    ],
)
def test_a_symbol_only_in_a_comment_or_a_string_is_not_defined(line: str) -> None:
    assert find_definition_line("load", [line]) is None


def test_an_ambiguous_symbol_falls_back_to_the_file_and_the_search_is_bounded() -> None:
    assert find_definition_line("save", ["class A { function save() {", "class B { function save() {"]) is None
    assert find_definition_line("load", ["load load load\n"] * 5000 + ["function load():\n"]) is None
    assert find_definition_line("load", ["x" * 3000 + " function load() {"]) is None


PYTHON = '''
"""A docstring with def load(): in it."""

LIMIT: int = 3
HOOK = lambda: None  # def hook

class A:
    size = 1
    # def save(self)
    @property
    def save(self):
        if size:
            text = "def load(): ..."

class B:
    async def save(self):
        def inner():
            pass

if True:
    def load():
        pass
'''


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("load", 20),
        ("LIMIT", 3),
        ("HOOK", 4),
        ("A", 6),
        ("A.save", 10),
        ("A.size", 7),
        ("B::save", 15),
        ("save", None),
        ("text", None),
        ("C.save", None),
        ("", None),
    ],
)
def test_in_python_the_parser_decides(name: str, line: int | None) -> None:
    assert find(name, PYTHON, "src/a.py") == line


def test_python_that_does_not_parse_or_is_very_long_is_looked_at_line_by_line() -> None:
    assert find("load", "def load(:\n", "a.py") == 0
    assert parse_python("(" * 100_000) is None
    assert parse_python("\0") is None
    assert find("load", "#" * MAX_PYTHON + "\ndef load():\n", "a.py") == 1


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        (
            "a.py",
            "import os\n\nclass Store:\n    @cached\n    def save(self):\n        text = 1\n\n    size = 2\n",
            ["", "", "Store", "Store.save", "Store.save", "Store.save", "Store", "Store.size"],
        ),
        (
            "a.go",
            "package a\n\ntype Store struct {\n\tn int\n}\n\nfunc (s *Store) Save() {\n\tvar a = 1\n}\n",
            ["", "", "Store", "Store", "Store", "", "Store.Save", "Store.Save", "Store.Save"],
        ),
        (
            "a.rs",
            "impl Store {\n    fn save(&self) {\n        let a = 1;\n    }\n}\n",
            ["Store", *["Store.save"] * 3, "Store"],
        ),
        ("a.rb", "class Store\n  def save\n    1\n  end\nend\n", ["Store", *["Store.save"] * 3, "Store"]),
        ("a.sh", "deploy() {\n  echo 1\n}\necho 2\n", [*["deploy"] * 3, ""]),
        ("a.ts", "function f() {\n  1;\n}\nfunction f() {\n  2;\n}\n", [""] * 6),
        ("notes.txt", "Please record the changes.\n", [""]),
        ("ci.YML", "- name: please record the run\n", [""]),
        ("docs/LICENSE", "class actions are\n", [""]),
    ],
)
def test_the_symbol_around_a_line_is_the_innermost_that_a_reference_can_name(
    path: str, text: str, names: list[str]
) -> None:
    assert [find_enclosing_symbol(path, text, line, line) for line in range(len(names))] == names
    last = len(names) - 1
    assert find_enclosing_symbol(path, text, 0, last) == (names[0] if names[0] == names[last] else "")
