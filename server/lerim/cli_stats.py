"""`lerim stats`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from lerim import output
from lerim.cli_place import Json, guarded, home, there, when
from lerim.errors import Problem
from lerim.paths import Home
from lerim.project import listed, locate
from lerim.review.judgments import count, ledgers
from lerim.review.signal_outcomes import COUNTS, SignalOutcome, by_signal, together

if TYPE_CHECKING:
    from lerim.project import Project
    from lerim.sessions.analytics import By, Figures, Statistics

Groups = Literal["day", "agent", "model", "repo", "signal"]


class SignalStatistics(msgspec.Struct, frozen=True):
    """What `stats --by signal --json` prints. `learned_from` is how many decisions move the ranking, in all
    repositories; `problems` are ledgers that could not be read."""

    by: Literal["signal"]
    groups: list[SignalOutcome]
    total: SignalOutcome
    learned_from: int
    problems: list[Problem]


@guarded
def stats_command(
    by: Annotated[Groups, typer.Option(help="What the figures are grouped by.")] = "day",
    since: Annotated[str, typer.Option(metavar="WHEN", help="Only what was said since then: 14d, 2026-07-01.")] = "",
    until: Annotated[str, typer.Option(metavar="WHEN", help="Only what was said before then.")] = "",
    repo: Annotated[
        Path | None,
        typer.Option("--repo", metavar="PATH", help="Only the repository of this folder.", show_default="all"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how much was said, run and spent with every agent, as far as their stores tell; by signal, what was proposed
    from where, and what you made of it."""
    if by == "signal":
        _show_signals(since, until, repo, as_json=as_json)
        return
    shown = _statistics(by, since, until, repo)
    if as_json:
        output.show_json(shown)
        return
    if not shown.groups:
        output.say("Nothing was read yet, or nothing lies between these times; `lerim sync` reads the sessions.")
        return
    output.show_table(
        (by, "sessions", "prompts", "calls", "failed", "in", "out", "cached", "stored", "hours", "USD"),
        (_cells(one) for one in (*shown.groups, msgspec.structs.replace(shown.total, key="total"))),
    )
    if shown.total.untold:
        output.say(f"{output.counted(shown.total.untold, 'session')} without numbers of tokens in their stores.")
    if shown.total.unpriced:
        output.say(f"The cost leaves out {output.counted(shown.total.unpriced, 'session')} of unknown price or tokens.")


def _statistics(by: By, since: str, until: str, repo: Path | None) -> Statistics:
    from lerim.sessions.analytics import NOTHING, Statistics, statistics
    from lerim.sessions.catalog import Catalog

    mine = home()
    project = _project(repo, mine)
    low, high = when(since, "--since"), when(until, "--until")
    if not mine.catalog.exists():
        return Statistics(by, [], NOTHING)
    with Catalog.open(mine) as catalog:
        found = statistics(catalog, by, project.key if project else None, low, high)
    if by != "repo":
        return found
    roots = {known.key: str(known.main or known.root) for known in listed(mine)[0]}
    named = [msgspec.structs.replace(one, key=roots.get(one.key or "", one.key)) for one in found.groups]
    return msgspec.structs.replace(found, groups=named)


def _project(repo: Path | None, mine: Home) -> Project | None:
    project = locate(there(repo), mine) if repo else None
    if repo and project is None:
        raise typer.BadParameter("This folder is in no git repository.", param_hint="--repo")
    return project


def _show_signals(since: str, until: str, repo: Path | None, *, as_json: bool) -> None:
    mine = home()
    project = _project(repo, mine)
    own = mine.project(project.key) if project else None
    books = [path for path in ledgers(mine) if own is None or path.parent == own]
    groups, problems = by_signal(books, when(since, "--since"), when(until, "--until"))
    shown = SignalStatistics("signal", groups, together(groups), count(mine), problems)
    if as_json:
        output.show_json(shown)
        return
    output.warn(problems)
    if not groups:
        output.say("Nothing was proposed yet, or nothing lies between these times; `lerim sync` reads the sessions.")
        return
    output.show_table(
        ("signal", "proposed", "accepted", "edited", "rejected", "left out", "proposed anyway"),
        ((one.name, *(f"{getattr(one, name):,}" for name in COUNTS)) for one in (*groups, shown.total)),
    )
    if shown.learned_from:
        moved = output.counted(shown.learned_from, "decision")
        output.say(f"The ranking has learned from {moved} of yours; `lerim review forget` forgets them.")


def _cells(one: Figures) -> tuple[str, ...]:
    return (
        one.key or "unknown",
        *(f"{number:,}" for number in (one.sessions, one.prompts, one.tool_calls, one.errors)),
        *(_short(number) for number in (one.input, one.output, one.cache_read, one.cache_write)),
        f"{one.seconds / 3600:.1f}",
        "" if one.cost is None else f"{one.cost:.2f}",
    )


def _short(number: int | None) -> str:
    """`840`, `8.4k`, `176M`; '' for what is not known."""
    if number is None:
        return ""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            return f"{number / size:.1f}{unit}" if number < 10 * size else f"{number // size}{unit}"
    return str(number)
