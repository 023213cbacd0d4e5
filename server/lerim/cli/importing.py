"""`lerim import`."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_review_paths,
    output,
    with_error_exit,
)
from lerim.errors import Problem
from lerim.review import FILE_PREFIX, AlreadyKnown, CandidateProposed, FileClaim, propose_from_files

if TYPE_CHECKING:
    from lerim.export import ImportPlan
    from lerim.review import FileClaimResult


class ImportedView(msgspec.Struct, frozen=True):
    """One claim found in a file. `source` is its file and line; `state` is new, proposed, known or rejected; `id` is
    the id of the candidate, or of the memory or candidate that already says the same."""

    title: str
    primitive: str
    kind: str | None
    source: str
    references: list[str]
    state: str
    id: str = ""


class ImportOutput(msgspec.Struct, frozen=True):
    """What `import --json` prints. `with_secret` and `too_many` count the lines that were left out."""

    files: list[str]
    claims: list[ImportedView]
    with_secret: int
    too_many: int
    problems: list[Problem]


@with_error_exit
def import_command(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be proposed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Propose it without asking.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Also read CLAUDE.local.md, which is not shared.")] = False,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Import rules files and what agents remember, as candidates for your review.

    Reads AGENTS.md, CLAUDE.md, GEMINI.md and the rules of Claude Code, Cursor, Copilot, Windsurf and Cline in the
    repository, and Claude Code's memories of it; with --global, what Gemini CLI and Codex remember about you.
    """
    from lerim.export import plan_import

    if dry_run and yes:
        raise typer.BadParameter("Give only one of --dry-run and --yes.")
    paths = find_review_paths(repo, personal)
    now = datetime.now(UTC).replace(microsecond=0)
    plan = plan_import(paths, os.environ, now, with_local=local)
    if not as_json:
        _show_plan(plan)
    question = f"Propose {output.pluralize(len(plan.new), 'claim')} for your review?"
    results: list[FileClaimResult] | None = None
    if plan.new and not dry_run and (yes or (not as_json and output.confirm(question))):
        results = propose_from_files(paths, plan.new, now)
    if as_json:
        output.show_json(_make_output(plan, results))
    elif results is not None:
        proposed = sum(isinstance(one, CandidateProposed) for one in results)
        wait = "1 candidate waits" if proposed == 1 else f"{proposed} candidates wait"
        output.print_line(f"{wait} for your review; see `lerim review list`.")
    elif plan.new and not dry_run:
        output.print_line("Nothing was proposed. `lerim import --yes` proposes it.")


def _show_plan(plan: ImportPlan) -> None:
    for claim in plan.new:
        record = claim.memory
        about = [_place(claim), record.kind or record.primitive, *record.references]
        output.show_item(record.title, [", ".join(about)])
    if not plan.files:
        output.print_line("No rules files were found.")
    elif not plan.new:
        output.print_line(f"Nothing new in {output.pluralize(len(plan.files), 'file')}.")
    if plan.known:
        output.print_note(f"note: {output.pluralize(len(plan.known), 'claim')} known already or rejected by you before")
    if plan.with_secret:
        output.print_note(f"note: {output.pluralize(plan.with_secret, 'claim')} left out because of a secret")
    if plan.too_many:
        output.print_note(
            f"note: {output.pluralize(plan.too_many, 'claim')} left out: import again once these are reviewed"
        )
    output.print_problems(plan.problems)


def _make_output(plan: ImportPlan, results: list[FileClaimResult] | None) -> ImportOutput:
    outcomes: list[tuple[FileClaim, FileClaimResult | None]] = [
        *((claim, None if results is None else results[at]) for at, claim in enumerate(plan.new)),
        *plan.known,
    ]
    views = [_make_view(claim, outcome) for claim, outcome in outcomes]
    return ImportOutput(list(plan.files), views, plan.with_secret, plan.too_many, list(plan.problems))


def _make_view(claim: FileClaim, outcome: FileClaimResult | None) -> ImportedView:
    record = claim.memory
    state, name = "new", ""
    if isinstance(outcome, CandidateProposed):
        state, name = "proposed", outcome.proposal.id
    elif isinstance(outcome, AlreadyKnown):
        state, name = "known", outcome.id
    elif outcome is not None:
        state, name = "rejected", outcome.rejected
    references = list(record.references)
    return ImportedView(record.title, record.primitive, record.kind, _place(claim), references, state, name)


def _place(claim: FileClaim) -> str:
    return claim.memory.source.removeprefix(FILE_PREFIX).replace("#L", ":")
