"""The step of a sync that asks a model, if one is chosen, for the facts of a few turns that are worth it, last of all,
within consent and budget. The facts that rules find are kept with the extraction
(`jobs/extracting/extract_session.py`)."""

from __future__ import annotations

from functools import partial

from lerim import extraction
from lerim.errors import BusyError, LerimError, ModelError, StoppedError
from lerim.jobs.model_session import ModelSession
from lerim.jobs.report import SessionCounts, SyncProgress, SyncReport, combine_reports
from lerim.jobs.sync_context import SyncContext
from lerim.models import ModelChoice, attribute_calls
from lerim.sessions import (
    Catalog,
    Fact,
    TurnRow,
    convert_sqlite_errors,
    keep_model_facts,
    list_model_turns,
)

MAX_MODEL_TURNS = 8
"""How many turns a model is asked about in one sync, the newest first; the others wait for the next."""
MAX_TEXT_CHARS = 6_000
FACT_TOKENS = 1_500
"""About how many tokens a question for facts takes."""


def ask_for_facts(context: SyncContext, report: SyncReport) -> SyncReport:
    """Lets the extraction model find facts in the newest turns that wait for it, unless an earlier step stopped asking.
    Returns the report with the usage added. Raises CatalogError."""
    key, options = context.project.key, context.options
    if any(step.kind == "stopped" for step in report.steps):
        return report
    with Catalog.open(context.home) as catalog, convert_sqlite_errors(catalog.path):
        waiting = list_model_turns(catalog.db, key, context.model_since, options.as_of, MAX_MODEL_TURNS)
    session = context.open_model("extract") if waiting else None
    if session is None or isinstance(session, ModelChoice):
        return report  # the step that extracts candidates has said why
    try:
        with context.open_part("finding facts") as part:
            for number, turn in enumerate(waiting):
                message = f"asking {session.model.name} for facts"
                context.emit(SyncProgress("learning", number, len(waiting), len(report.candidates), message))
                _ask_about_turn(session, part.catalog, turn)
                if session.ended:
                    break
    except BusyError:
        return report  # they wait for the next sync
    label = session.model.label
    found, summary = SessionCounts(report.sessions.found), f"{label}, {session.usage.calls} calls for facts"
    facts_report = part.finish(found, session.state, summary, model_sessions=[session], model=label, waits=report.waits)
    return combine_reports(report, facts_report)


def _ask_about_turn(session: ModelSession, catalog: Catalog, turn: str) -> None:
    """Asks about one turn and keeps the answer; an error leaves the turn waiting. Raises CatalogError."""
    row = catalog.load_turn(turn)
    if row is None:
        return
    with attribute_calls(f"{row.platform}:{row.session}"):
        facts = session.ask(partial(_find_facts, session, row), str(row.path))
    if type(facts) is ModelError:  # the service objects to this text, and would again at each sync
        facts = []
    if not isinstance(facts, LerimError | StoppedError):
        with convert_sqlite_errors(catalog.path):
            keep_model_facts(catalog.db, turn, facts)


def _find_facts(session: ModelSession, row: TurnRow) -> list[Fact]:
    text, tools = row.text[:MAX_TEXT_CHARS], row.tools[:MAX_TEXT_CHARS].splitlines()
    return extraction.extract_with_llm(text, tools, row.ordinal, partial(extraction.ask_text, session.lm))
