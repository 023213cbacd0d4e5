"""Gives memory to agents from the editor: plans their files, writes them, takes that back, and keeps them up to date;
and imports rules files, as candidates for the review.

`lerim.export` does the work. A plan is carried out only while the files and memories are as they were when it was
shown.
"""

from __future__ import annotations

import logging
import secrets
from difflib import SequenceMatcher

from lerim.errors import NotFoundError, StaleError
from lerim.export import (
    Export,
    ExportResult,
    ImportPlan,
    describe_left_out,
    keeps_rules,
    make_stamp,
    plan_import,
    plan_project_export,
    plan_project_removal,
    refresh_rules,
    set_keeping_rules,
    undo_export,
    write_export,
)
from lerim.files import FileUpdate
from lerim.lsp.protocol import (
    ExportApplyParams,
    ExportDoneView,
    ExportFileView,
    ExportKeepParams,
    ExportParams,
    ExportPlanView,
    ExportUndoParams,
    ImportClaimView,
    ImportDoneView,
    ImportPlanView,
    OutcomeView,
    RootParams,
)
from lerim.lsp.window import Repo, Sidecar, candidate_counts
from lerim.review import FILE_PREFIX, CandidateProposed, ReviewPaths, propose_from_files

log = logging.getLogger("lerim.export")
FEATURE = "Giving memory to agents"
IMPORT_FEATURE = "Importing rules files"
MAX_UNDO = 20


async def plan_agent_files(sidecar: Sidecar, params: ExportParams) -> ExportPlanView:
    """Plans the files of a root's repository. Writes none of them."""
    repo = await sidecar.find_trusted_repo(params.root, FEATURE)
    return await sidecar.run_in_thread(_make_plan_view, sidecar, repo, params.remove)


async def write_agent_files(sidecar: Sidecar, params: ExportApplyParams) -> ExportDoneView:
    """Writes the files of a plan that was shown. Raises StaleError if it would be another one by now."""
    repo = await sidecar.find_trusted_repo(params.root, FEATURE)
    result = await sidecar.run_in_thread(_write, sidecar, repo, params)
    undo = ""
    if result.made:
        undo = secrets.token_hex(8)
        sidecar.made_exports[undo] = result.made
        for old in list(sidecar.made_exports)[:-MAX_UNDO]:
            del sidecar.made_exports[old]
    if result.taken:
        await candidate_counts.announce_candidates(sidecar, repo)
    candidates = sum(isinstance(one, CandidateProposed) for one in result.taken)
    return ExportDoneView(len(result.made), candidates, undo)


async def undo_agent_files(sidecar: Sidecar, params: ExportUndoParams) -> ExportDoneView:
    """Takes the written files back. Raises StaleError, and changes nothing, if one of them has changed since."""
    repo = await sidecar.find_trusted_repo(params.root, FEATURE)
    made = sidecar.made_exports.get(params.undo)
    if made is None:
        todo = "Give memory to agents again."
        raise NotFoundError("This can no longer be undone.", where=params.undo[:80], todo=todo)
    await sidecar.run_in_thread(undo_export, repo.project, made)
    sidecar.made_exports.pop(params.undo, None)
    return ExportDoneView(len(made), 0, "")


async def keep_agent_files(sidecar: Sidecar, params: ExportKeepParams) -> OutcomeView:
    """Stores whether the written files are kept up to date."""
    repo = await sidecar.find_trusted_repo(params.root, FEATURE)
    await sidecar.run_in_thread(set_keeping_rules, repo.project, sidecar.home, params.keep)
    return OutcomeView(True, "")


def refresh_agent_files(sidecar: Sidecar, repo: Repo) -> None:
    """Starts to bring the files that Lerim has written up to date, if the person chose that for this project. Nobody
    waits for it."""
    sidecar.spawn("Refreshing agents' files", _refresh(sidecar, repo))


async def _refresh(sidecar: Sidecar, repo: Repo) -> None:
    async with repo.agent_files_lock:
        made, problems = await sidecar.run_in_thread(refresh_rules, repo.project, sidecar.home)
    for edit in made:
        log.info("%s was brought up to date.", edit.path.relative_to(repo.project.root).as_posix())
    for problem in problems:
        log.warning("%s: %s", problem.path, problem.message)


def _plan(sidecar: Sidecar, repo: Repo, *, remove: bool) -> Export:
    if remove:
        return plan_project_removal(repo.project, sidecar.home)
    return plan_project_export(repo.project, sidecar.home, sidecar.environ)


def _make_plan_view(sidecar: Sidecar, repo: Repo, remove: bool) -> ExportPlanView:
    export = _plan(sidecar, repo, remove=remove)
    plan = export.plan
    edited = [
        f"{line.path}, line {line.number}: {line.title}"
        f" ({f'changes {line.memory.record.id}' if line.memory is not None else 'not a memory yet'})"
        for line in export.edited_lines
    ]
    return ExportPlanView(
        make_stamp(plan),
        [
            *(_make_file_view(repo, edit, edited_by_hand=False) for edit in plan.edits),
            *(_make_file_view(repo, one.edit, edited_by_hand=True) for one in plan.hand_edited),
        ],
        len(plan.written),
        [*describe_left_out(export), *plan.unserved, *edited],
        list(plan.problems),
        keeps_rules(repo.project, sidecar.home),
    )


def _make_file_view(repo: Repo, edit: FileUpdate, *, edited_by_hand: bool) -> ExportFileView:
    before, after = (edit.before or "").splitlines(), (edit.after or "").splitlines()
    changes = [one for one in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if one[0] != "equal"]
    return ExportFileView(
        edit.path.relative_to(repo.project.root).as_posix(),
        "remove" if edit.after is None else "create" if edit.before is None else "change",
        edit.before or "",
        edit.after or "",
        sum(end - start for _, _, _, start, end in changes),
        sum(end - start for _, start, end, _, _ in changes),
        edited_by_hand,
    )


def _write(sidecar: Sidecar, repo: Repo, params: ExportApplyParams) -> ExportResult:
    export = _plan(sidecar, repo, remove=params.remove)
    if make_stamp(export.plan) != params.stamp:
        todo = "Look at the difference again."
        message = "The files or the memories have changed since this was shown; nothing was written."
        raise StaleError(message, where=str(repo.project.root), todo=todo)
    return write_export(repo.project, sidecar.home, export, sidecar.clock(), take_edits=params.take_edits)


async def plan_rules_import(sidecar: Sidecar, params: RootParams) -> ImportPlanView:
    """Lists what the rules files of a root's repository, and agents' memories of it, would propose."""
    repo = await sidecar.find_trusted_repo(params.root, IMPORT_FEATURE)
    plan = await sidecar.run_in_thread(_plan_import, sidecar, candidate_counts.find_review_paths(sidecar, repo))
    notes = [
        *([f"{len(plan.known)} known already, or rejected by you before."] if plan.known else []),
        *([f"{plan.with_secret} left out because of a secret."] if plan.with_secret else []),
        *([f"{plan.too_many} left out: import again once these are reviewed."] if plan.too_many else []),
    ]
    claims = [
        ImportClaimView(
            one.memory.title,
            one.memory.kind or one.memory.primitive,
            one.memory.source.removeprefix(FILE_PREFIX).replace("#L", ":"),
        )
        for one in plan.new
    ]
    return ImportPlanView(claims, len(plan.files), len(plan.known), notes, list(plan.problems))


async def import_rules(sidecar: Sidecar, params: RootParams) -> ImportDoneView:
    """Makes candidates of what the rules files say now."""
    repo = await sidecar.find_trusted_repo(params.root, IMPORT_FEATURE)
    paths = candidate_counts.find_review_paths(sidecar, repo)
    try:
        proposed = await sidecar.run_in_thread(_import, sidecar, paths)
    finally:
        await candidate_counts.announce_candidates(sidecar, repo)
    return ImportDoneView(proposed)


def _plan_import(sidecar: Sidecar, paths: ReviewPaths) -> ImportPlan:
    return plan_import(paths, sidecar.environ, sidecar.clock().replace(microsecond=0))


def _import(sidecar: Sidecar, paths: ReviewPaths) -> int:
    results = propose_from_files(paths, _plan_import(sidecar, paths).new, sidecar.clock().replace(microsecond=0))
    return sum(isinstance(one, CandidateProposed) for one in results)
