"""`lerim benefit`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_review_paths,
    make_memory_id_finder,
    output,
    with_error_exit,
)
from lerim.times import format_day

if TYPE_CHECKING:
    from lerim.statistics import Benefit, BenefitFigures


@with_error_exit
def benefit_command(
    memory: Annotated[str, typer.Option("--memory", metavar="ID", help="Only this memory.")] = "",
    repo: RepoOption = CURRENT_FOLDER,
    personal: GlobalOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show whether the memories that agents were given helped.

    For each memory: how often it was served, and what became of it in those sessions: followed, contradicted, or
    corrected again by you.
    """
    from lerim.statistics import compute_benefit

    paths = find_review_paths(repo, personal)
    memory_id = make_memory_id_finder(paths)(memory) if memory else ""
    benefit = compute_benefit(paths.project, paths.home)
    if memory_id:
        chosen = [one for one in benefit.memories if one.id == memory_id]
        benefit = msgspec.structs.replace(benefit, memories=chosen)
    if as_json:
        output.show_json(benefit)
        return
    output.print_problems(benefit.problems)
    if not benefit.memories:
        what = "This memory" if memory_id else "No memory"
        output.print_line(f"{what} was {'never' if memory_id else 'ever'} given to an agent here.")
        return
    total = [] if memory_id else [benefit.total]
    output.show_table(
        ("memory", *_NUMBERS, "last served"),
        [_format_row(one, benefit.servings) for one in (*benefit.memories, *total)],
    )
    if not memory_id:
        for line in _explain_unknown(benefit):
            output.print_line(line)


_NUMBERS = ("served", "sessions", "followed", "contradicted", "corrected", "not seen", "unknown", "missed")
MAX_TITLE_CHARS = 60


def _format_row(one: BenefitFigures, servings: int) -> tuple[str, ...]:
    title = one.title or f"{one.id} (no longer active)" if one.id else f"all ({output.pluralize(servings, 'serving')})"
    name = title if len(title) <= MAX_TITLE_CHARS else f"{title[: MAX_TITLE_CHARS - 1]}…"
    numbers = (f"{getattr(one, column.replace(' ', '_')):,}" for column in _NUMBERS)
    return name, *numbers, format_day(one.last) if one.last else ""


def _explain_unknown(benefit: Benefit) -> Iterator[str]:
    """Yields a line for each reason why it is unknown what became of memories."""
    unknown = benefit.unknown
    if unknown.no_session:
        yield (
            f"Without a known session: {output.pluralize(unknown.no_session, 'serving')}. An agent that uses "
            "Lerim's tools does not say which session it is in. `lerim sync` finds the session by its time, if only "
            "one fits."
        )
    if unknown.nothing_to_see:
        yield f"Unknown {unknown.nothing_to_see} times: Lerim cannot recognize in a session what the memory asks for."
    if unknown.not_read:
        yield f"Unknown {unknown.not_read} times: the transcript is gone or cannot be read."
    if unknown.older:
        yield f"Unknown {unknown.older} times: only the newest sessions are examined."
