"""The part of a sync that looks at several sessions together: the ground that is worked on, as theme candidates."""

from __future__ import annotations

from datetime import timedelta

from lerim.extraction.deeds import exchanges
from lerim.extraction.themes import Asked, Worked, themes
from lerim.proposal_sink import ProposalSink
from lerim.sessions.catalog import Catalog
from lerim.sessions.catalog_schema import telling
from lerim.sessions.recent import Recent, recent
from lerim.sessions.retold import retold
from lerim.summary_step import locator
from lerim.sync_context import SyncPart

LOOKED_AT = 40
"""Sessions of a project that are read, the newest; each takes some milliseconds."""


def propose_themes(part: SyncPart) -> None:
    """Proposes the themes of the last days' sessions. Raises CatalogError, MemoryError_."""
    catalog, sink, days = part.catalog, part.sink, part.context.settings.rules.theme_days
    with telling(catalog.path):
        since = part.context.clock() - timedelta(days=days)
        sessions = recent(catalog.db, sink.place.project.key, since, LOOKED_AT)
    worked = [one for one in (_worked(catalog, sink, session) for session in sessions) if one.asked]
    sink.take(iter(themes(worked)))


def _worked(catalog: Catalog, sink: ProposalSink, session: Recent) -> Worked:
    with telling(catalog.path):
        turns = retold(catalog.db, session.place, sink.place.project.key)
    asked = []
    for exchange in exchanges(turns, locator(sink.place, turns)):
        prompt = exchange.prompt
        if prompt is not None and prompt.kind == "prompt" and prompt.time is not None and exchange.changed:
            asked.append(Asked(prompt.id, prompt.text, prompt.time, tuple(exchange.changed)))
    return Worked(session.platform, session.session, tuple(asked))
