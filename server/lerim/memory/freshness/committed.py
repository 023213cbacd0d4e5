"""Takes the baselines of memories that were verified elsewhere from git, at the verified commit.

A memory may name a symbol by a name that it got later, because it was updated after a rename. Then the first version
that has this name is found: there, the symbol must be the same as another one at the verified commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lerim.memory.freshness.baselines import Baseline
from lerim.memory.freshness.fingerprint import FileOutline, outline_file, sketch_text
from lerim.memory.freshness.moved_files import MovedFiles
from lerim.memory.freshness.sources import SourceReader, make_baseline
from lerim.memory.reference import Reference

if TYPE_CHECKING:
    from lerim.project import Git

WantedBaseline = tuple[str, Reference, str]
"""A memory's id, one of its references, and the commit it was verified at."""


def committed_baselines(
    git: Git, reader: SourceReader, where: MovedFiles, head: str, wanted: Sequence[WantedBaseline]
) -> dict[tuple[str, Reference], Baseline]:
    """Returns the baseline of each of these references whose file git has at its commit, by memory and reference;
    `head` is the commit checked out."""
    asked = [(commit, reference.path) for _, reference, commit in wanted]
    texts = git.read_texts(asked)
    missing = {
        (commit, path): where.find_old_path(path, commit) for commit, path in asked if (commit, path) not in texts
    }
    texts |= git.read_texts([(commit, old) for (commit, _), old in missing.items() if old])
    found: dict[tuple[str, Reference], Baseline] = {}
    for memory, reference, commit in wanted:
        pair = (commit, reference.path)
        text = texts.get((commit, missing.get(pair, "")) if pair in missing else pair)
        if text is None:
            continue
        then = outline_file(reference.path, text) if reference.symbol else None
        renamed_outline = (
            _outline_after_rename(git, reader, head, reference, commit, then) if then is not None else None
        )
        found[memory, reference] = make_baseline(reference, text, sketch_text(text), renamed_outline or then)
    return found


def _outline_after_rename(
    git: Git, reader: SourceReader, head: str, reference: Reference, commit: str, then: FileOutline
) -> FileOutline | None:
    """Returns the outline of the first version of the file that has the symbol under its new name; None if the commit
    already had the symbol, if no version has it, or if it was not a rename."""
    source = reader.source(reference.path) if not then.fingerprints(reference.symbol) else None
    now = _outline_defining(reference, source.text) if source is not None and source.text is not None else None
    if now is None:
        return None
    versions = git.list_changing_commits(reference.path, commit, head)
    low, high = 0, len(versions)
    while low < high:
        middle = (low + high) // 2
        text = git.read_texts([(versions[middle], reference.path)]).get((versions[middle], reference.path), "")
        found = _outline_defining(reference, text)
        low, high, now = (low, middle, found) if found is not None else (middle + 1, high, now)
    prints = now.fingerprints(reference.symbol)
    return now if len(prints) == 1 and then.find_renamed(reference.symbol, prints[0], ()) else None


def _outline_defining(reference: Reference, text: str) -> FileOutline | None:
    """Returns the outline of a text if it defines the symbol, else None."""
    found = outline_file(reference.path, text)
    return found if found is not None and found.fingerprints(reference.symbol) else None
