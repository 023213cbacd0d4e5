"""Fingerprints of symbols and files that reformatting does not change: what references are compared by.

A symbol's fingerprint is exact: every token of its definition but its own name, comments and white space. A file's is a
sketch: some of its lines, chosen by their hash, so that additions do not count and removals do.
"""

from __future__ import annotations

import ast
import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from lerim.memory.freshness import token_outline
from lerim.memory.freshness.definitions import iterate_definitions, parse_python
from lerim.memory.freshness.token_outline import OWN_NAME, TokenLister

SKETCH_LINES = 48
"""Lines of a file that its sketch contains."""
MIN_SHARE_KEPT = 0.5
"""The share of these lines that a file must still contain to count as unchanged."""
MAX_PAGE_LINES = 24
"""A page with at most this many lines must still contain all of them, because each says something. Code and large files
change with every commit and stay what they are."""
_PAGES = frozenset((".cfg", ".conf", ".env", ".ini", ".json", ".jsonc", ".md", ".mdx", ".properties", ".rst"))
_PAGES |= {".toml", ".txt", ".yaml", ".yml"}
"""Endings of settings and documents; a file without an ending (`Makefile`) is a page, too."""
MIN_WORDS = 3
"""Words a definition must have to be recognised under another name or in another file: a bare `pass` is everywhere."""
_HASH_BYTES = 8
MAX_IDENTICAL_SYMBOLS = 20
"""How many symbols with the same fingerprint are recorded; if there are more, none is recognised under another name."""
TOO_MANY_IDENTICAL = "*"
KIND = "a"
MAX_PYTHON = 512 * 1024
"""Characters of Python that are parsed; a longer file is read by tokens (`token_outline.py`)."""
_CLOSE_MARK = ")"
_IGNORED_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


@dataclass(frozen=True, slots=True)
class SymbolFingerprint:
    """A symbol's fingerprint: how its definition was found, the number of its tokens and their hash. `word_count` is
    the number of words by which it can be recognised."""

    digest: str
    word_count: int


class FileOutline:
    """The definitions of a file, with their fingerprints. `definitions` are by qualified name (`Store.save`)."""

    def __init__(self, kind: str, definitions: Mapping[str, Sequence[TokenLister]]) -> None:
        self.kind = kind
        self._definitions = definitions
        self._fingerprints: dict[str, list[SymbolFingerprint]] = {}
        self._names_by_length: dict[str, list[str]] = {}

    @property
    def names(self) -> Sequence[str]:
        """Every defined name, qualified."""
        return list(self._definitions)

    def fingerprints(self, name: str) -> list[SymbolFingerprint]:
        """Returns the fingerprint of each definition that `name` names, as a whole or by its last parts."""
        return [one for full in self.matching_names(name) for one in self._own_fingerprints(full)]

    def is_redefined(self, name: str, digest: str) -> bool:
        """Returns whether the symbol with this fingerprint has another, different definition under the same name. Only
        in Python, where the last one counts; elsewhere it is an overload."""
        if self.kind != KIND:
            return False
        own = [{one.digest for one in self._own_fingerprints(full)} for full in self.matching_names(name)]
        return all(len(digests) > 1 for digests in own if digest in digests)

    def find_renamed(self, name: str, known: SymbolFingerprint, identical_symbols: Iterable[str]) -> str:
        """Returns the one symbol that is now what `name` was; "" if there is none, or several.

        `identical_symbols` had the same fingerprint before, so none of them counts.
        """
        before = set(identical_symbols)
        if TOO_MANY_IDENTICAL in before:
            return ""
        is_distinctive = known.word_count >= MIN_WORDS
        candidates = [
            full
            for full in self._same_symbols(name, known)
            if full not in before and (is_distinctive or _last(full) == _last(name))
        ]
        return candidates[0] if len(candidates) == 1 else ""

    def find_identical_symbols(self, name: str, known: SymbolFingerprint) -> list[str]:
        """Returns the other symbols with the same fingerprint; only `TOO_MANY_IDENTICAL` if there are more than
        `MAX_IDENTICAL_SYMBOLS`."""
        own = set(self.matching_names(name))
        same = [full for full in self._same_symbols(name, known) if full not in own]
        return same if len(same) <= MAX_IDENTICAL_SYMBOLS else [TOO_MANY_IDENTICAL]

    def matching_names(self, name: str) -> list[str]:
        """Returns the qualified names that `name` may mean: itself, else those that end with it."""
        dotted = name.replace("::", ".")
        if dotted in self._definitions:
            return [dotted]
        return [full for full in self._definitions if full.endswith(f".{dotted}")]

    def _same_symbols(self, name: str, known: SymbolFingerprint) -> list[str]:
        """Returns the symbols that are now what `name` was. A renamed symbol may still contain its old name for another
        thing (`json.load` in `load`), or its new name in a call to itself: so both names are also replaced to compare
        it."""
        length = known.digest.partition("-")[0]
        alike = self._symbols_by_length().get(length, ())
        return [
            full
            for full in alike
            if any(one.digest == known.digest for one in self._own_fingerprints(full))
            or any(one.digest == known.digest for one in self._compute_fingerprints(full, _last(full), _last(name)))
        ]

    def _symbols_by_length(self) -> Mapping[str, Sequence[str]]:
        if not self._names_by_length:
            for full in self._definitions:
                for length in {one.digest.partition("-")[0] for one in self._own_fingerprints(full)}:
                    self._names_by_length.setdefault(length, []).append(full)
        return self._names_by_length

    def _own_fingerprints(self, full: str) -> list[SymbolFingerprint]:
        if full not in self._fingerprints:
            self._fingerprints[full] = self._compute_fingerprints(full, _last(full))
        return self._fingerprints[full]

    def _compute_fingerprints(self, full: str, *own: str) -> list[SymbolFingerprint]:
        names = frozenset(own)
        return [_fingerprint_tokens(self.kind, list(tokens(names))) for tokens in self._definitions.get(full, ())]


def outline_file(path: str, text: str, kind: str = "") -> FileOutline | None:
    """Returns the definitions in a file's text; None if it does not parse. `kind` asks for the parser used before."""
    text = text.replace("\r\n", "\n")  # git may check files out with other line ends, also those within literals
    if path.endswith((".py", ".pyi")) and kind != token_outline.KIND:
        found = _list_python_definitions(text)
        if found is not None or kind:
            return FileOutline(KIND, found) if found is not None else None
    return FileOutline(token_outline.KIND, token_outline.find_definitions(path, text))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def fingerprint_kind(digest: str) -> str:
    """Returns the parser that made a fingerprint, as `outline_file` takes it."""
    return digest[:1]


def sketch_text(text: str) -> bytes:
    """Returns the sketch of a file's lines: the `SKETCH_LINES` smallest of their hashes, 8 bytes each."""
    return b"".join(heapq.nsmallest(SKETCH_LINES, _hash_lines(text)))


def kept_share(sketch: bytes, text: str) -> float:
    """Returns the share of a sketch that a text still contains; 1 if the sketch is empty."""
    wanted = {sketch[at : at + _HASH_BYTES] for at in range(0, len(sketch), _HASH_BYTES)}
    return len(wanted & _hash_lines(text)) / len(wanted) if wanted else 1.0


def matches_sketch(path: str, sketch: bytes, text: str) -> bool:
    """Returns whether a file still matches its sketch: a small page needs every line, other files `MIN_SHARE_KEPT` of
    them."""
    ending = PurePosixPath(path).suffix.lower()
    page = len(sketch) <= MAX_PAGE_LINES * _HASH_BYTES and (not ending or ending in _PAGES)
    return kept_share(sketch, text) >= (1 if page else MIN_SHARE_KEPT)


def _fingerprint_tokens(kind: str, tokens: Sequence[str]) -> SymbolFingerprint:
    whole = hashlib.blake2b("\0".join(tokens).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
    words = sum(one[:1].isalnum() or one[:1] in "_'\"" for one in tokens)
    return SymbolFingerprint(f"{kind}{len(tokens):x}-{whole}", words)


def _hash_lines(text: str) -> set[bytes]:
    """Returns the hashes of the lines that have a letter or digit: lines of brackets alone are everywhere."""
    said = {" ".join(line.split()) for line in text.splitlines()}
    return {
        hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()
        for line in said
        if any(map(str.isalnum, line))
    }


def _list_python_definitions(text: str) -> dict[str, list[TokenLister]] | None:
    tree = parse_python(text) if len(text) <= MAX_PYTHON else None
    if tree is None:
        return None
    found: dict[str, list[TokenLister]] = {}
    for name, node in iterate_definitions(tree):
        found.setdefault(name, []).append(partial(_syntax_tokens, node))
    return found


def _constant_text(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer of more digits than Python prints in decimal
        return hex(value) if isinstance(value, int) else ""


def _syntax_tokens(node: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """Yields a syntax tree as words, the same for every version of Python: empty fields are left out. Not recursive."""
    waiting: list[tuple[str, object]] = [("", node)]
    while waiting:
        field, item = waiting.pop()
        if field == _CLOSE_MARK:
            yield str(item)
        elif isinstance(item, ast.Constant):
            yield _constant_text(item.value)
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
