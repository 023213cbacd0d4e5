"""The figures of a replay by channel and project, and their tables."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from lerim_evals.replay.channels import CHANNELS
from lerim_evals.replay.remembered import VARIANTS, Variant
from lerim_evals.replay.replay import ProjectReplay

JUDGED = Path(__file__).parents[2] / "replay" / "judged.tsv"
SPLIT = Path(__file__).parents[2] / "replay" / "split.toml"
GROUPS: Mapping[str, tuple[str, ...]] = {
    **{channel: (channel,) for channel in CHANNELS},
    "hooks": ("start", "prompt", "read", "failure"),
    "any": tuple(CHANNELS),
}
"""What is counted together: each channel, all hooks, and everything."""
HEADS = (
    "",
    "repeats (labelled)",
    "remembered",
    "prevented",
    "late",
    "given",
    "needed",
    "judged right",
    "a session",
    "tokens a session",
)


class Split(msgspec.Struct, frozen=True):
    """Which projects are for tuning, and which for measuring."""

    tuning: tuple[str, ...]
    measuring: tuple[str, ...]


class ChannelFigures(msgspec.Struct, frozen=True):
    """The figures of one channel, in one project or in all.

    Of `repeats`, `labelled` were found by reading, the others by code. A memory was there of `remembered`; the channel
    gave it before (`prevented`), or only with the repeat itself (`late`). `given` counts each memory once a session;
    `needed` came up there as far as code can see; of those that a reader judged (`judged`), `right` were about what was
    asked.
    """

    project: str
    variant: Variant
    channel: str
    sessions: int
    repeats: int
    labelled: int
    remembered: int
    prevented: int
    late: int
    given: int
    needed: int
    judged: int
    right: int
    tokens: int


def load_split() -> Split:
    """Loads which projects are for tuning and which for measuring."""
    return msgspec.toml.decode(SPLIT.read_bytes(), type=Split)


def load_judgments() -> dict[tuple[str, str], bool]:
    """Loads what a reader said of memories given for prompts, by turn and title."""
    with JUDGED.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["turn"], row["memory"]): row["right"] == "yes" for row in rows}


def compute_figures(
    replays: Sequence[ProjectReplay], judgments: Mapping[tuple[str, str], bool]
) -> list[ChannelFigures]:
    """Computes the figures of each project, then those of all together, which have no project."""
    found: list[ChannelFigures] = []
    for variant in VARIANTS:
        some = [one for one in replays if one.variant == variant]
        for group in GROUPS:
            each = [_count(one, group, judgments) for one in some]
            found += [*each, *([_add(each)] if each else [])]
    return found


def _count(replay: ProjectReplay, group: str, judgments: Mapping[tuple[str, str], bool]) -> ChannelFigures:
    channels = set(GROUPS[group])
    served = [one for one in replay.servings if one.serving.channel in channels]
    given = {(one.serving.session, one.serving.memory): one.was_needed for one in served}
    judged = [
        judgments[key]
        for one in served
        if one.serving.channel == "prompt" and (key := (one.serving.turn, one.title[:200])) in judgments
    ]
    in_time = [one for one in replay.repeats if one.in_time & channels]
    late = [one for one in replay.repeats if one.late & channels and not one.in_time & channels]
    return ChannelFigures(
        replay.project,
        replay.variant,
        group,
        replay.sessions,
        len(replay.repeats),
        sum(one.repeat.kind == "labelled" for one in replay.repeats),
        sum(one.is_remembered for one in replay.repeats),
        len(in_time),
        len(late),
        len(given),
        sum(given.values()),
        len(judged),
        sum(judged),
        sum(one.serving.tokens for one in served),
    )


def _add(some: Sequence[ChannelFigures]) -> ChannelFigures:
    names = ChannelFigures.__struct_fields__[3:]
    sums = {name: sum(getattr(one, name) for one in some) for name in names}
    return ChannelFigures("", some[0].variant, some[0].channel, **sums)


def channel_rows(figures: Iterable[ChannelFigures], variant: Variant) -> Iterator[tuple[str, ...]]:
    """Yields a row for each channel, over all projects."""
    return (_row(one.channel, one) for one in figures if one.variant == variant and not one.project)


def project_rows(figures: Iterable[ChannelFigures], variant: Variant) -> Iterator[tuple[str, ...]]:
    """Yields a row for each project and group of channels that a person would choose between."""
    shown = ("rules", "hooks", "recall")
    for one in sorted(figures, key=lambda one: one.project):
        if one.variant == variant and one.project and one.channel in shown:
            yield _row(f"{one.project}: {one.channel}", one)


def _row(name: str, one: ChannelFigures) -> tuple[str, ...]:
    return (
        name,
        f"{one.repeats} ({one.labelled})",
        str(one.remembered),
        _share(one.prevented, one.repeats),
        str(one.late),
        str(one.given),
        _share(one.needed, one.given),
        f"{one.right} of {one.judged}" if one.judged else "",
        f"{one.given / one.sessions:.1f}" if one.sessions else "",
        f"{one.tokens / one.sessions:.0f}" if one.sessions else "",
    )


def _share(some: int, all_of_them: int) -> str:
    return f"{some} ({100 * some / all_of_them:.0f} %)" if all_of_them else str(some)
