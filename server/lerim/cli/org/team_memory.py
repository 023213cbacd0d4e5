"""`lerim org share`, `search` and `propose`."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.org.database_option import DatabaseOption, TeamOption, choose_database
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    MeaningOption,
    RepoOption,
    describe_search_by_meaning,
    open_command_context,
    output,
    report_reading,
    require_extra,
    with_error_exit,
)
from lerim.errors import UsageError
from lerim.times import format_day

if TYPE_CHECKING:
    from lerim.team import TeamHit


class SearchOutput(msgspec.Struct, frozen=True):
    """What `org search --json` prints: the memories found, and what prevents others from being found by meaning, ""
    if nothing does."""

    hits: list[TeamHit]
    note: str


@with_error_exit
def share_command(
    repo: RepoOption = CURRENT_FOLDER, database: DatabaseOption = "", team: TeamOption = "", as_json: JsonOption = False
) -> None:
    """Put a repository's reviewed and committed memories into the team's store, and remove those from it that the
    commit no longer has. Run it in CI on the main branch, with the whole history fetched."""
    chosen = choose_database(database, team)
    from lerim.team import share_memories

    result = share_memories(chosen, open_command_context(repo).project, os.environ, report_reading)
    if as_json:
        output.show_json(result)
        return
    count = output.pluralize(result.shared, "memory")
    gone = f", {result.removed} removed" if result.removed else ""
    output.print_line(f"{count} of {result.project} shared with team {chosen.team}{gone}.")
    if result.note:
        output.print_note(result.note)
    output.print_problems(result.problems)


@with_error_exit
def propose_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Put the accepted memories that are not committed yet on a new local branch, and print a text for the pull
    request. Your files, index and HEAD stay as they are, and nothing is pushed."""
    require_extra("org")
    from lerim.team import propose_branch

    opened = open_command_context(repo)
    proposed = propose_branch(opened.project, opened.home, os.environ, datetime.now(UTC).astimezone().date())
    if as_json:
        output.show_json(proposed)
        return
    output.print_line(output.escape_controls(f"{proposed.title}\n\n{proposed.text}", lines=True))
    output.print_problems(proposed.problems)
    output.print_note(f"The memories are on the branch {proposed.branch}. To publish it: {proposed.push}")


@with_error_exit
def search_command(
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS...", help="Words, “phrases” in quotes, OR, and -excluded words.")
    ],
    repo: Annotated[
        str, typer.Option("--repo", metavar="NAME", help="Only of this repository, such as org/name.")
    ] = "",
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="Only of this kind: decision, question, theme, pitfall and so on.")
    ] = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=200, help="The most memories shown.")] = 20,
    meaning: MeaningOption = False,
    database: DatabaseOption = "",
    team: TeamOption = "",
    as_json: JsonOption = False,
) -> None:
    """Search the memories that the team's repositories have shared, with who approved each and when."""
    chosen = choose_database(database, team)
    from lerim.memory import KINDS, SEARCHED_PRIMITIVES, load_sentence_model
    from lerim.team import count_shared_memories, search_team

    if kind and kind not in (kinds := (*SEARCHED_PRIMITIVES, *KINDS)):
        raise UsageError("There is no such kind of memory.", where=kind, todo=f"Use one of: {', '.join(kinds)}.")
    model = load_sentence_model() if meaning else None
    hits = search_team(chosen, " ".join(words), repo, kind, limit, model)
    shared = count_shared_memories(chosen)
    if as_json:
        output.show_json(SearchOutput(hits, shared.note))
        return
    first_by_meaning = next((one for one in hits if one.by_meaning), None)
    for one in hits:
        if one is first_by_meaning:
            output.print_line("By meaning:")
        by = one.approved_by or "someone git does not name"
        when = f" on {format_day(one.approved_at)}" if one.approved_at else ""
        lines = [f"{one.kind} of {one.project}, approved by {by}{when}", one.passage, ", ".join(one.references[:5])]
        output.show_item(f"{one.id}  {one.title}", lines)
    if not hits:
        output.print_line(f"Nothing was found in the memories of team {chosen.team}.")
    if not hits or meaning:
        offer = describe_search_by_meaning() if shared.by_meaning and not meaning else ""
        for line in filter(None, (shared.note, offer)):
            output.print_line(line)
