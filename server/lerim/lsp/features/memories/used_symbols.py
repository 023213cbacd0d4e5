"""Finds the symbol of another file that a word in a source file uses, without a language server of our own.

The rule would rather find nothing than something else. A word means a symbol of another file only if memories refer to
exactly one symbol of that name, in a file of the same language that this one imports; the import names the symbol or
what is before the dot (`load`, `store.load`). A Go or Java file of the same package needs no import, and no dot.
For a member (`Store.save`) its owner's name is in this file, and a dot precedes the word. Words in comments and
strings, and those defined here, mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lerim.lsp.boundary import Document
from lerim.lsp.window import FileLocation
from lerim.memory import Reference, definitions

MIN_NAME = 4
"""Shorter names are found by chance too often."""
MAX_IMPORT_LINES = 2000
MAX_LINE = 1000
MAX_STATEMENT_LINES = 60
LANGUAGES = (
    ("py", "pyi"),
    ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"),
    ("java", "kt", "kts", "scala", "groovy"),
    ("c", "h", "cc", "cpp", "cxx", "hh", "hpp", "m", "mm"),
)
"""Endings of files that can import each other; any other language only imports files with its own ending."""
FOLDER_MODULES = ("__init__", "index", "mod", "lib", "main")
"""Files that are imported by the name of their folder."""
IMPORT = re.compile(r"\s*(?:#\s*)?(?:import|from|use|using|require|include|export)\b|.{0,200}\brequire(?:_relative)?\b")
PACKAGE = re.compile(r"\s*package\s+[\w.]+")
IMPORTS_ALL = re.compile(r"\*|\s*#\s*(?:include|import)\b")
BEFORE_MEMBER = re.compile(r"(\w*)\s*(?:\.|->|::)\s*\Z")


def find_used_symbol(
    document: Document, number: int, index: int, word: str, location: FileLocation
) -> Reference | None:
    """Returns the symbol of another file that `word`, at `index` in line `number`, uses; None if that is not
    certain."""
    if len(word) < MIN_NAME:
        return None
    named = location.repo.references.symbols_named(word)
    if len(named) != 1 or named[0].path == location.path or not _same_language(named[0].path, location.path):
        return None
    [symbol] = named
    line = document.line(number)
    start = _find_start(line, index, word)
    if start is None or not definitions.is_code(line[:start]):
        return None
    owner = symbol.symbol.rpartition(".")[0].rpartition(".")[2]
    is_near = _shares_package(document.lines, location.path, symbol.path)
    imported = (owner or word) if is_near else _module_name(symbol.path)
    imports = "".join(_import_statements(document.lines, imported))
    if bool(imports) == is_near:  # not imported, or a name of this package is imported from another
        return None
    if definitions.find_definition_line(word, document.lines) is not None:
        return None
    member = BEFORE_MEMBER.search(line[max(0, start - MIN_NAME * 50) : start])
    if owner:
        is_used = member is not None and any(owner in one and _contains_word(one, owner) for one in document.lines)
    elif member is not None:
        is_used = bool(member.group(1)) and _contains_word(imports, member.group(1))
    else:
        is_used = is_near or _contains_word(imports, word) or IMPORTS_ALL.search(imports) is not None
    return symbol if is_used else None


def _find_start(line: str, index: int, word: str) -> int | None:
    start = line.rfind(word, 0, index + len(word))
    return start if start >= 0 and start <= index <= start + len(word) else None


def _same_language(one: str, other: str) -> bool:
    endings = {path.rpartition("/")[2].rpartition(".")[2].lower() for path in (one, other)}
    return len(endings) == 1 or any(endings.issubset(language) for language in LANGUAGES)


def _shares_package(lines: Sequence[str], path: str, other: str) -> bool:
    """Returns whether two files are surely of one Go or Java package, by their folder and this file's `package`
    line. In Go, a test's names mean nothing elsewhere, and a test or a file left out of the build may be a package
    of its own."""
    ending = path.rpartition(".")[2]
    same_folder = path.rpartition("/")[0] == other.rpartition("/")[0]
    if not same_folder or ending not in ("go", "java") or not other.endswith(f".{ending}"):
        return False
    top = [line[:MAX_LINE] for line in lines[:MAX_IMPORT_LINES]]
    at = next((number for number, line in enumerate(top) if PACKAGE.match(line)), None)
    if at is None or ending == "java":
        return at is not None
    is_apart = top[at].split()[1].endswith("_test") or any("build ignore" in line for line in top[:at])
    return not is_apart and not other.endswith("_test.go")


def _module_name(path: str) -> str:
    """Returns the name by which a file is imported: its own without the ending, or that of its folder."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem in FOLDER_MODULES else stem


def _import_statements(lines: Sequence[str], module: str) -> Iterator[str]:
    """Yields the imports near the top of a file that name a module, each with the lines until its brackets are
    closed."""
    top = [line for line in lines[:MAX_IMPORT_LINES] if len(line) <= MAX_LINE]
    at = 0
    while at < len(top):
        begin = at
        at += 1
        if not IMPORT.match(top[begin]):
            continue
        while at < min(len(top), begin + MAX_STATEMENT_LINES) and _is_open("".join(top[begin:at])):
            at += 1
        statement = "".join(top[begin:at])
        if module and _contains_word(statement, module):
            yield statement


def _is_open(statement: str) -> bool:
    return any(statement.count(left) > statement.count(right) for left, right in ("()", "{}"))


def _contains_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
