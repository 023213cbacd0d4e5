"""What a symbol or a file is, as far as a memory of it can hold: fingerprints that no reformatting changes.

A symbol's is exact: every token of its definition but its own name, comments and white space. A file's is a sketch:
some of its lines, chosen by their hash, so that what was added does not count and what went does.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lerim.memory import code, pythoncode

SKETCH = 48
"""Lines of a file that are remembered."""
HELD = 0.5
"""The share of them that must still be there for the file to be what it was."""
TELLING = 3
"""Words a definition must have to be known again under another name: a bare `pass` is everywhere."""
_BYTES = 8


@dataclass(frozen=True, slots=True)
class Print:
    """A symbol's fingerprint; `words` tells how much there is to know it by."""

    digest: str
    words: int


class Outline(Protocol):
    """The definitions of one file."""

    kind: str

    @property
    def names(self) -> Sequence[str]:
        """Every name that is defined, qualified (`Store.save`)."""
        ...

    def tokens(self, name: str, own: frozenset[str]) -> list[list[str]]:
        """The tokens of each definition of that name, the names in `own` told by a placeholder."""
        ...


def outline(path: str, text: str, kind: str = "") -> Outline | None:
    """The definitions in a file's text; None where it does not parse. `kind` asks for the same way as before."""
    if path.endswith((".py", ".pyi")) and kind != code.KIND:
        found = pythoncode.outline(text)
        if found is not None or kind:
            return found
    return code.outline(path, text)


def prints(found: Outline, name: str) -> list[Print]:
    """The fingerprint of each definition that `name` names, whole or by its last parts."""
    return [one for full in matching(found, name) for one in _each(found, full, "")]


def matching(found: Outline, name: str) -> list[str]:
    """The qualified names that `name` may mean: itself, else those that end with it."""
    dotted = name.replace("::", ".")
    whole = [full for full in found.names if full == dotted]
    return whole or [full for full in found.names if full.endswith(f".{dotted}")]


def renamed(found: Outline, name: str, known: Print, twins: Iterable[str]) -> str:
    """The one symbol that is what `name` was; "" where none is, or several are.

    `twins` were like it before, so that none of them is it now.
    """
    last, before = name.rpartition(".")[2], set(twins)
    same = [
        full
        for full in found.names
        if full not in before
        and (known.words >= TELLING or full.rpartition(".")[2] == last)
        and any(one.digest == known.digest for one in _each(found, full, last))
    ]
    return same[0] if len(same) == 1 else ""


def twins(found: Outline, name: str, known: Print) -> list[str]:
    """The other symbols that have the same fingerprint as this one."""
    own = set(matching(found, name))
    last = name.rpartition(".")[2]
    return [
        full
        for full in found.names
        if full not in own and any(one.digest == known.digest for one in _each(found, full, last))
    ]


def sketch(text: str) -> bytes:
    """Some of a file's lines: the `SKETCH` smallest of their hashes, 8 bytes each."""
    return b"".join(heapq.nsmallest(SKETCH, _lines(text)))


def held(kept: bytes, text: str) -> float:
    """The share of a sketch that a text still has; 1 where the sketch is empty."""
    wanted = {kept[at : at + _BYTES] for at in range(0, len(kept), _BYTES)}
    return len(wanted & _lines(text)) / len(wanted) if wanted else 1.0


def _each(found: Outline, full: str, also: str) -> list[Print]:
    """The fingerprint of each definition of a qualified name; `also`, which it may have had before, is told like it."""
    own = frozenset({full.rpartition(".")[2], also} - {""})
    return [_print(found.kind, tokens) for tokens in found.tokens(full, own)]


def _print(kind: str, tokens: Sequence[str]) -> Print:
    whole = hashlib.blake2b("\0".join(tokens).encode("utf-8", "surrogatepass"), digest_size=10)
    return Print(f"{kind}{whole.hexdigest()}", sum(one[:1].isalnum() or one[:1] in "_'\"" for one in tokens))


def _lines(text: str) -> set[bytes]:
    """The hashes of the lines that say something: those of brackets alone are everywhere."""
    said = {" ".join(line.split()) for line in text.splitlines()}
    return {
        hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
        for line in said
        if any(map(str.isalnum, line))
    }
