"""Checks references before a person relies on them: whether the file exists and its symbol is in it, only once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lerim.memory.freshness.sources import SourceReader
from lerim.memory.reference import Reference, can_be_written, parse_reference, reference_text
from lerim.project import find_named_files, find_word, open_git

MAX_PLACES = 3
"""How many likely places are named for one reference."""
_MAX_SEARCHED_FILES = 12
_WORD = re.compile(r"[^\W\d]\w*\Z")


@dataclass(frozen=True, slots=True)
class ReferenceProblem:
    """A reference that does not name one place. `likely` are the references it may mean, as written in a memory."""

    reference: str
    state: Literal["not-found", "ambiguous"]
    likely: tuple[str, ...]

    @property
    def summary(self) -> str:
        """What is wrong, as a sentence without a full stop."""
        path, _, symbol = self.reference.partition("#")
        if self.state == "ambiguous":
            return f"{symbol} is in {path} more than once"
        return describe_missing(Reference(path, symbol))

    @property
    def message(self) -> str:
        """What is wrong and where the likely places are, as a sentence without a full stop."""
        return f"{self.summary}; it may be {' or '.join(self.likely)}" if self.likely else self.summary


def describe_missing(reference: Reference) -> str:
    """Says that a reference was not found, as a sentence without a full stop."""
    path, symbol = reference.path, reference.symbol
    return f"{symbol} was not found in {path}" if symbol else f"{path} was not found"


def summarize_problems(problems: Sequence[ReferenceProblem]) -> str:
    """Says in one short sentence what is wrong, without the likely places; "" if nothing is."""
    if len(problems) < 2:
        return "".join(f"{problem.summary}." for problem in problems)
    is_ambiguous = any(problem.state == "ambiguous" for problem in problems)
    return f"{len(problems)} references were not found{' or are ambiguous' if is_ambiguous else ''}."


def check_references(root: Path, references: Iterable[str]) -> list[ReferenceProblem]:
    """Returns a problem for each reference that is not found in the worktree at `root`, or is ambiguous.

    Reads the referenced files. Likely places are found with git, within a limited time; without git there are none.
    """
    reader = SourceReader(root)
    problems: list[ReferenceProblem] = []
    for reference in dict.fromkeys(filter(None, map(parse_reference, references))):
        names = [] if is_missing(reader, reference) else list_meanings(reader, reference)
        if len(names) > 1:
            likely = [reference_text(Reference(reference.path, name)) for name in names[:MAX_PLACES]]
            problems.append(ReferenceProblem(reference_text(reference), "ambiguous", tuple(likely)))
        elif is_missing(reader, reference):
            likely = _find_likely_places(reader, reference)
            problems.append(ReferenceProblem(reference_text(reference), "not-found", tuple(likely)))
    return problems


def is_missing(reader: SourceReader, reference: Reference) -> bool:
    """Returns whether the referenced file does not exist, or its text does not contain the symbol's name at all.

    A name that is only used in the file counts as found: not every definition is recognised, and a module may pass on
    what another one defines.
    """
    if not reader.stamp(reference.path):
        return True
    text = reader.text(reference.path)
    return text is not None and not contains_symbol(text, reference)


def contains_symbol(text: str, reference: Reference) -> bool:
    """Returns whether a text contains the last part of the symbol's name as a whole word; True without a symbol."""
    word = reference.symbol.rpartition(".")[2].strip()
    if not word:
        return True
    at = text.find(word)
    while at >= 0:
        if not _continues(text, at - 1, word[0]) and not _continues(text, at + len(word), word[-1]):
            return True
        at = text.find(word, at + 1)
    return False


def list_meanings(reader: SourceReader, reference: Reference) -> Sequence[str]:
    """Returns the qualified names in the file that the reference's symbol may mean; overloads of one name are one."""
    outline = reader.outline_now(reference.path) if reference.symbol else None
    return sorted(set(outline.matching_names(reference.symbol))) if outline is not None else []


def _continues(text: str, at: int, neighbour: str) -> bool:
    if not 0 <= at < len(text):
        return False
    return (text[at].isalnum() or text[at] == "_") and (neighbour.isalnum() or neighbour == "_")


def _find_likely_places(reader: SourceReader, reference: Reference) -> list[str]:
    """Returns where a missing reference may be now: in the file under its new name, at the symbol's definition in
    another file, else in a file of the same name."""
    is_gone = not reader.stamp(reference.path)
    git = open_git(reader.root, os.environ) if is_gone else None
    renamed = Reference(git.find_renamed_file(reference.path), reference.symbol) if git is not None else reference
    if is_gone and renamed.path and can_be_written(renamed) and not is_missing(reader, renamed):
        return [reference_text(renamed)]
    if word := searched_word(reference):
        found = find_defining_places(reader, reference, find_word(reader.root, word, os.environ))
        if found:
            return found
    if not is_gone:
        return []
    name = reference.path.rpartition("/")[2]
    named = map(Reference, find_named_files(reader.root, name, os.environ))
    return [reference_text(one) for one in named if can_be_written(one)][:MAX_PLACES]


def searched_word(reference: Reference) -> str:
    """Returns the word that files defining the reference's symbol contain; "" if none can be searched for."""
    word = reference.symbol.rpartition(".")[2]
    return word if _WORD.match(word) else ""


def find_defining_places(reader: SourceReader, reference: Reference, paths: Sequence[str]) -> list[str]:
    """Returns the places in the first of these files that define the reference's symbol, written as references of a
    memory."""
    last = reference.symbol.rpartition(".")[2]
    found: list[str] = []
    for path in paths[:_MAX_SEARCHED_FILES]:
        names = list_meanings(reader, Reference(path, reference.symbol)) or list_meanings(reader, Reference(path, last))
        places = (Reference(path, name) for name in names)
        found += (reference_text(one) for one in places if can_be_written(one))
    return found[:MAX_PLACES]
