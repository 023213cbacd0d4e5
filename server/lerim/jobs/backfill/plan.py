"""Plans a backfill: which days there are to work through, and what models would cost.

How far an earlier run came is in `backfill.json` of the project's private folder, so that a day is never worked through
twice. Without that file, the next run begins with the first day; what is read already is not read again.
"""

from __future__ import annotations

from datetime import date

import msgspec

from lerim import files
from lerim.errors import MemoryError_
from lerim.jobs.backfill.report import BackfillPlan
from lerim.jobs.steps import FACT_TOKENS, MAX_MODEL_TURNS
from lerim.jobs.sync import index_other_sessions
from lerim.jobs.sync_context import SyncContext
from lerim.journal import day_span, local_day
from lerim.models import ModelChoice, WaitingWork, estimate_waiting, find_role_model
from lerim.project import make_private_folder
from lerim.sessions import EXTRACT_JOB, MODEL_JOB, Catalog, convert_sqlite_errors, list_worked_times

PROGRESS_FILE = "backfill.json"
_MAX_BYTES = 10_000


class _Progress(msgspec.Struct, frozen=True):
    done: date


def plan_backfill(context: SyncContext, until: date | None) -> BackfillPlan:
    """Indexes all sessions, and returns the days and the price of a backfill until the end of a day (None: today).

    Raises StoppedError if the person cancels, CatalogError, SettingsError.
    """
    key, home = context.project.key, context.home
    index_other_sessions(context, 0)
    context.raise_if_cancelled()
    last = min(until or date.max, local_day(context.clock()))
    done = load_progress(context)
    with Catalog.open(home) as catalog:
        catalog.reassign_folders(context.folder_owners())
        with convert_sqlite_errors(catalog.path):
            worked = {local_day(time) for time in list_worked_times(catalog.db, key)}
        waits = _estimate(context, catalog, last)
    days = sorted(day for day in worked if day <= last and (done is None or day > done))
    if not days and done is not None and waits.sessions:
        days = [min(done, last)]  # sessions of earlier days that appeared since
    return BackfillPlan(
        project=str(context.project.root),
        days=[day.isoformat() for day in days],
        waits=_with_facts(waits, len(days)),
        done_through=done.isoformat() if done else "",
    )


def _estimate(context: SyncContext, catalog: Catalog, last: date) -> WaitingWork:
    key, until = context.project.key, day_span(last).until
    chosen = context.open_model("extract") if context.options.model == "auto" else None
    if chosen is None or chosen.model is None:
        return estimate_waiting(catalog, key, None, until=until, kinds=(EXTRACT_JOB,))
    why = chosen.why if isinstance(chosen, ModelChoice) else ""
    summarizer, _ = find_role_model("summarize", context.settings, context.environ)
    kinds = (EXTRACT_JOB, MODEL_JOB)
    return estimate_waiting(catalog, key, chosen.model, why, summarizer=summarizer, until=until, kinds=kinds)


def _with_facts(waits: WaitingWork, days: int) -> WaitingWork:
    """Adds the most tokens that the questions for facts of this many days may take; they are priced like the other
    tokens."""
    if not (waits.model and waits.tokens):
        return waits
    tokens = waits.tokens + days * MAX_MODEL_TURNS * FACT_TOKENS
    cost = None if waits.cost is None else round(waits.cost * tokens / waits.tokens, 4)
    return msgspec.structs.replace(waits, tokens=tokens, cost=cost)


def load_progress(context: SyncContext) -> date | None:
    """Returns the last day that an earlier run finished; None if there was none, or if the record cannot be read."""
    path = context.place.private / PROGRESS_FILE
    try:
        return msgspec.json.decode(files.read_text(path, _MAX_BYTES), type=_Progress).done
    except (MemoryError_, msgspec.MsgspecError):
        return None


def record_progress(context: SyncContext, day: date) -> None:
    """Records that a day is finished. Raises MemoryError_, OSError."""
    done = load_progress(context)
    private = context.place.private
    make_private_folder(context.home, private)
    text = msgspec.json.encode(_Progress(max(day, done) if done else day)).decode()
    files.replace_file(private / PROGRESS_FILE, f"{text}\n", 0o600)
