"""Prints the report of `lerim sync` for a person: a few lines, or with `--verbose` everything that `--json` has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lerim.cli.review import show_candidates
from lerim.cli.terminal import output, shortest_prefix
from lerim.models import WaitReason, describe_spent, describe_waiting, summarize_steps
from lerim.review import DROP_REASON_TEXTS, ClaimState
from lerim.sessions import SETTLE_SECONDS

if TYPE_CHECKING:
    from lerim.jobs import SyncReport

MAX_LISTED = 5
"""Maximum number of candidates that are listed without `--verbose`."""
_WAIT_HINTS: dict[WaitReason, str] = {
    "": "The next sync continues with them.",
    "consent": "It costs money. To approve it, use `lerim sync --yes` or `lerim model allow`.",
    "budget": "They wait until another day; budget.per_day_usd sets the limit.",
}
"""Hints on what a person can do about sessions that wait for a model, by the reason why they wait. There is no hint
for other reasons."""


def show_sync_report(
    report: SyncReport, today: str, claim_states: Mapping[str, ClaimState], *, verbose: bool = False
) -> None:
    """Prints the report of a sync: sessions, cost, proposals, what was left out, and problems.

    `today` is a line about today's cost, or "". `claim_states` maps the ids of all candidates to their states.
    `verbose` also shows the candidates' files and evidence, and each claim that was left out, with the reason.
    """
    _show_sessions(report)
    _show_model_work(report, today)
    if report.candidates:
        pending = [name for name, state in claim_states.items() if state == "pending"]
        if verbose:
            show_candidates(report.candidates, "Proposed", set(report.accepted), pending)
        else:
            _list_candidates(report, pending)
    elif report.sessions.found:
        output.print_line("Nothing new to propose.")
    if verbose:
        _show_dropped(report)
    elif left_out := sum(report.dropped.values()):
        count = output.pluralize(left_out, "claim")
        output.print_line(f"{count} {'was' if left_out == 1 else 'were'} left out; `lerim review left-out` says why.")
    for withdrawn in report.withdrawn:
        if withdrawn.reason != DROP_REASON_TEXTS["model-read"]:  # those are counted above
            output.print_line(
                f"Withdrawn: {output.escape_controls(withdrawn.id)}: {output.escape_controls(withdrawn.reason)}"
            )
    if report.message:
        output.print_line(output.escape_controls(report.message))
    output.print_problems(report.problems)


def _show_sessions(report: SyncReport) -> None:
    """Prints how many sessions were read, how many were not read, or not to their end, and why."""
    counts = report.sessions
    named = {"new": counts.new, "changed": counts.changed, "unchanged": counts.unchanged, "failed": counts.failed}
    parts = ", ".join(f"{count} {name}" for name, count in named.items() if count)
    took = f"({report.seconds:.1f} s, model: {report.model})"
    output.print_line(f"{output.pluralize(counts.found, 'session')}{f': {parts}' if parts else ''} {took}")
    if report.left_out:
        verb = "was" if report.left_out == 1 else "were"
        left_out_count = output.pluralize(report.left_out, "session")
        output.print_line(f"{left_out_count} {verb} skipped because of --since, --until or the setting sync.since.")
    if report.settling:
        output.print_line(
            f"The last exchange of {output.pluralize(report.settling, 'session')} is not over yet: the next sync reads"
            f" it once nothing has been written for {SETTLE_SECONDS:.0f} seconds."
        )


def _show_model_work(report: SyncReport, today: str) -> None:
    """Prints what models did, what they cost, and which work waits for one."""
    for spent in report.spent:
        output.print_line(output.escape_controls(f"Called {describe_spent(spent)}."))
    if today:
        output.print_line(today)
    for line in summarize_steps(report.steps):
        output.print_line(output.escape_controls(line))
    if report.waits.sessions and report.waits.why in _WAIT_HINTS:
        output.print_line(output.escape_controls(f"{describe_waiting(report.waits)}. {_WAIT_HINTS[report.waits.why]}"))


def _list_candidates(report: SyncReport, pending: list[str]) -> None:
    """Prints at most `MAX_LISTED` of the candidates that wait, one on each line, and the commands for deciding on
    them."""
    accepted = set(report.accepted)
    waiting = [one for one in report.candidates if one.id not in accepted]
    known_ids = {*pending, *(one.id for one in waiting)}
    if waiting:
        output.print_line(f"{output.pluralize(len(waiting), 'candidate')} proposed:")
    for view in waiting[:MAX_LISTED]:
        output.print_line(output.escape_controls(f"  {shortest_prefix(view.id, known_ids)}  {view.title}"))
    if len(waiting) > MAX_LISTED:
        output.print_line(f"  and {len(waiting) - MAX_LISTED} more")
    if waiting:
        output.print_line(
            "Decide with `lerim review list`, `lerim review accept ID` and `lerim review reject ID`, or in VS Code "
            "with “Lerim: Open Review”."
        )
    if accepted:
        verb = "was" if len(accepted) == 1 else "were"
        count = output.pluralize(len(accepted), "candidate")
        output.print_line(f"{count} {verb} accepted and {verb} made memories; see `lerim memory list`.")


def _show_dropped(report: SyncReport) -> None:
    """Prints what was left out and why. Claims that only rank too low are counted, since there are many of them."""
    if not report.dropped:
        if report.sessions.found:
            output.print_line("Nothing was left out.")
        return
    rows = [
        (item.reason, item.title, item.session[:8], item.detail)
        for item in report.dropped_items
        if item.reason not in ("below-the-cut", "model-read")
    ]
    if rows:
        output.show_table(("reason", "what", "session", "detail"), rows, title="Left out, and why")
    if low_ranked := report.dropped.get("below-the-cut", 0):
        output.print_line(f"{low_ranked} more {'ranks' if low_ranked == 1 else 'rank'} too low to be proposed.")
    if withdrawn_count := report.dropped.get("model-read", 0):
        verb = "candidate was" if withdrawn_count == 1 else "candidates were"
        output.print_line(f"{withdrawn_count} {verb} withdrawn: a model has read the sessions since.")
    output.print_line("`lerim review left-out` shows the details; `lerim review propose ID` proposes one anyway.")
