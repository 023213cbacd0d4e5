"""Labels by independent readers (what a session should yield; one TOML file each), and their verdicts on proposals."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from lerim.errors import Problem, SettingsError
from lerim.extraction.facts.wording import squeeze_spaces
from lerim.sessions.model import Platform

MAX_BYTES = 256_000


class ExpectedMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One memory that a reader would keep.

    `turns` has the native ids of records in whose turns it is said or shown, the best first. `terms` are groups of
    words; a memory that says the same contains at least one word of each group. With `weight` "maybe" the memory does
    not have to be found, but counts as right if it is proposed.
    """

    primitive: Literal["decision", "learning", "question"]
    claim: str
    turns: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]
    kind: str = ""
    who: str = ""
    weight: Literal["must", "maybe"] = "must"
    reason: str = ""


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one session should yield.

    `until` is the native id of the last record that counts ("" for the whole session). `nothing` is the reason why
    nothing has to be found in it, "" if something has to. `held` keeps the session out of tuning.
    """

    session: str
    platform: Platform
    about: str = ""
    until: str = ""
    nothing: str = ""
    held: bool = False
    expected: tuple[ExpectedMemory, ...] = ()


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An independent reader's verdict on one proposal: whether it is true of the session and worth keeping."""

    session: str
    turn: str
    title: str
    right: bool
    reason: str = ""


class _VerdictFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    verdicts: tuple[Verdict, ...] = ()


def read_labels(folder: Path) -> tuple[list[Label], list[Problem]]:
    """Reads all labels in a folder, in the order of their file names. A file that is not a label becomes a Problem.

    Raises SettingsError if the folder has no label at all.
    """
    labels: list[Label] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            if path.stat().st_size > MAX_BYTES:
                raise ValueError(f"it is larger than {MAX_BYTES // 1000} kB")
            labels.append(msgspec.toml.decode(path.read_bytes(), type=Label))
        except (ValueError, OSError) as error:
            problems.append(Problem("label", str(path), f"This label cannot be read: {error}. Correct it."))
    if not labels:
        raise SettingsError(
            "There is no label in this folder.", where=str(folder), todo="Name the folder of labels with --labels."
        )
    return labels, problems


def read_verdicts(path: Path) -> dict[tuple[str, str, str], Verdict]:
    """Reads a file of verdicts into a map by `verdict_key`. The map is empty if there is no such file.

    Raises SettingsError if the file cannot be read or has the wrong format.
    """
    if not path.exists():
        return {}
    try:
        found = msgspec.toml.decode(path.read_bytes(), type=_VerdictFile)
    except (ValueError, OSError) as error:
        raise SettingsError(
            f"The verdicts cannot be read: {error}.", where=str(path), todo="Correct the file."
        ) from error
    return {verdict_key(one.session, one.turn, one.title): one for one in found.verdicts}


def verdict_key(session: str, turn: str, title: str) -> tuple[str, str, str]:
    """The key of a verdict. Case and white space of the title do not matter."""
    return session, turn, squeeze_spaces(title).lower()
