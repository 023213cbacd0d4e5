"""Imports rules files from the editor, as candidates for the review. `lerim.export` does the work."""

from __future__ import annotations

from lerim.export import ImportPlan, plan_import
from lerim.lsp.protocol import ImportClaimView, ImportDoneView, ImportPlanView, RootParams
from lerim.lsp.window import Sidecar, candidate_counts
from lerim.review import FILE_PREFIX, CandidateProposed, ReviewPaths, propose_from_files

FEATURE = "Importing rules files"


async def plan_rules_import(sidecar: Sidecar, params: RootParams) -> ImportPlanView:
    """Lists what the rules files of a root's repository, and agents' memories of it, would propose."""
    sidecar.require_trust(FEATURE)
    repo = await sidecar.find_repo(params.root)
    plan = await sidecar.run_in_thread(_plan, sidecar, candidate_counts.find_review_paths(sidecar, repo))
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
    sidecar.require_trust(FEATURE)
    repo = await sidecar.find_repo(params.root)
    paths = candidate_counts.find_review_paths(sidecar, repo)
    try:
        proposed = await sidecar.run_in_thread(_import, sidecar, paths)
    finally:
        await candidate_counts.announce_candidates(sidecar, repo)
    return ImportDoneView(proposed)


def _plan(sidecar: Sidecar, paths: ReviewPaths) -> ImportPlan:
    return plan_import(paths, sidecar.environ, sidecar.clock().replace(microsecond=0))


def _import(sidecar: Sidecar, paths: ReviewPaths) -> int:
    results = propose_from_files(paths, _plan(sidecar, paths).new, sidecar.clock().replace(microsecond=0))
    return sum(isinstance(one, CandidateProposed) for one in results)
