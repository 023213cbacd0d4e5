"""What independent readers say a session should yield, one TOML file a session, and their verdicts on proposals."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from lerim.errors import Problem, SettingsError
from lerim.extraction.facts.wording import squeeze_spaces
from lerim.sessions.model import Platform

MAX_BYTES = 256_000


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One memory a reader would keep. `turns` are native record ids in whose turns it is said or shown, the best first.

    `terms` are groups of words: a memory that says this holds at least one of each group. `weight` "maybe" is not asked
    for, but right where it is proposed.
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
    """What one session should yield. `until` is the native id of the last record that counts ("" is the whole session);
    `nothing` says why it should yield nothing that must come; `held` sets it aside for the final figures."""

    session: str
    platform: Platform
    about: str = ""
    until: str = ""
    nothing: str = ""
    held: bool = False
    expected: tuple[Expected, ...] = ()


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An independent reader's word on one proposal: whether it is true of the session and worth keeping."""

    session: str
    turn: str
    title: str
    right: bool
    reason: str = ""


class _Verdicts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    verdicts: tuple[Verdict, ...] = ()


def read_labels(folder: Path) -> tuple[list[Label], list[Problem]]:
    """Every label of a folder, by session; a file that is none is a Problem.

    Raises SettingsError if the folder holds no label at all.
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
    """The verdicts of a file by session, turn and title; none where there is no file.

    Raises SettingsError where the file cannot be read as verdicts.
    """
    if not path.exists():
        return {}
    try:
        found = msgspec.toml.decode(path.read_bytes(), type=_Verdicts)
    except (ValueError, OSError) as error:
        raise SettingsError(
            f"The verdicts cannot be read: {error}.", where=str(path), todo="Correct the file."
        ) from error
    return {key(one.session, one.turn, one.title): one for one in found.verdicts}


def key(session: str, turn: str, title: str) -> tuple[str, str, str]:
    """By what a verdict is found again: the words of the title count, not how they are set."""
    return session, turn, squeeze_spaces(title).lower()
