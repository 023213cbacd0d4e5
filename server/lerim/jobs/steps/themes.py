"""The part of a sync that compares recent sessions and proposes themes: the areas that are worked on."""

from __future__ import annotations

from datetime import timedelta

from lerim.extraction import ThemeRequest, ThemeSession, find_themes, split_exchanges
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.steps.summaries import make_locator
from lerim.jobs.sync_context import SyncPart
from lerim.sessions import Catalog, RecentSession, convert_sqlite_errors, list_recent_sessions, load_summary_turns

MAX_SESSIONS = 40
"""How many of a project's newest sessions are read. Each takes a few milliseconds."""


def propose_themes(part: SyncPart) -> None:
    """Propose the themes of the sessions of the last `theme_days` days. Raises CatalogError, MemoryError_."""
    catalog, sink, days = part.catalog, part.sink, part.context.settings.maintenance_rules.theme_days
    with convert_sqlite_errors(catalog.path):
        since = part.context.clock() - timedelta(days=days)
        sessions = list_recent_sessions(catalog.db, sink.place.project.key, since, MAX_SESSIONS)
    with_requests = [one for one in (_find_requests(catalog, sink, session) for session in sessions) if one.requests]
    sink.handle_results(iter(find_themes(with_requests)))


def _find_requests(catalog: Catalog, sink: ProposalSink, session: RecentSession) -> ThemeSession:
    """Return the session with the prompts that led to changed files."""
    with convert_sqlite_errors(catalog.path):
        turns = load_summary_turns(catalog.db, session.place, sink.place.project.key)
    requests = []
    for exchange in split_exchanges(turns, make_locator(sink.place, turns)):
        prompt = exchange.prompt
        if prompt is not None and prompt.kind == "prompt" and prompt.time is not None and exchange.changed_files:
            requests.append(ThemeRequest(prompt.id, prompt.text, prompt.time, tuple(exchange.changed_files)))
    return ThemeSession(session.platform, session.session_id, tuple(requests))
