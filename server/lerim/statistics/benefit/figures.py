"""The figures of `lerim benefit`."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem

Outcome = Literal["followed", "contradicted", "corrected", "not_seen", "unknown"]
"""The outcome of a memory in one session after it was served there."""


class BenefitFigures(msgspec.Struct, frozen=True):
    """How often one memory was served, and its outcomes in the sessions in which it was served.

    `sessions` counts those that are known by their id or by the time. Each of them counts once below, under the
    first outcome that applies: `corrected`: the person said the same again afterwards; `contradicted`: what the
    memory gives up was used afterwards; `followed`: what it asks for was done, and nothing against it; `not_seen`:
    nothing of it came up; `unknown`: code cannot determine it. `missed` counts sessions since the first serving in
    which the person said the same although the memory had not been served there before. `title` is "" if the memory
    is no longer active. `last` is the time of the last serving.
    """

    id: str
    title: str
    kind: str
    served: int = 0
    mcp: int = 0
    hook: int = 0
    editor: int = 0
    sessions: int = 0
    followed: int = 0
    contradicted: int = 0
    corrected: int = 0
    not_seen: int = 0
    unknown: int = 0
    missed: int = 0
    last: str = ""


class UnknownSessions(msgspec.Struct, frozen=True):
    """The reasons why outcomes are unknown. `no_session`: servings whose session is not known. The others count each
    memory in each session: `not_read`: the transcript is gone or cannot be read; `older`: the session is older than
    those examined; `nothing_to_see`: the memory asks for nothing that code could recognize, or is no longer active."""

    no_session: int = 0
    not_read: int = 0
    older: int = 0
    nothing_to_see: int = 0


class Benefit(msgspec.Struct, frozen=True):
    """The figures of all memories that were ever served, the most often served first, and their sums; `servings` and
    `sessions` count each serving and each session once, however many memories it had."""

    memories: list[BenefitFigures]
    total: BenefitFigures
    servings: int
    unknown: UnknownSessions
    problems: list[Problem]
