"""The journal: what was done, decided, learned and left open on a day, each sentence with its sources."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from starlette.requests import Request
from starlette.responses import Response

from lerim.errors import UsageError
from lerim.journal import (
    SECTION_TITLES,
    JournalEntry,
    JournalSentence,
    JournalSource,
    build_entry,
    list_days,
    local_day,
    open_journal,
    parse_day,
)
from lerim.web.pages.place import Place, find_place
from lerim.web.pages.rendering import make_project_address, render_page

MAX_DAYS = 400


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section of an entry: its name, its heading and its sentences."""

    name: str
    title: str
    sentences: list[JournalSentence]


def show_journal(request: Request) -> Response:
    """Shows the entry of a day; without one, of the last day that has an entry."""
    place = find_place(request)
    now = place.served.clock()
    scope = open_journal(place.project, place.home, place.served.environ)
    days = list_days(scope)
    typed = request.query_params.get("day", "")
    try:
        day = parse_day(typed, now) if typed else date.fromisoformat(days[0].day) if days else local_day(now)
        entry = build_entry(scope, day, now)
    except ValueError as error:
        raise UsageError(f"{error}.", where=typed[:80], todo="Choose a day from the list.") from error
    context = {
        "entry": entry,
        "days": days[:MAX_DAYS],
        "newer": min((one.day for one in days if one.day > entry.day), default=""),
        "older": max((one.day for one in days if one.day < entry.day), default=""),
        "sections_of": _list_sections(entry),
        "source_addresses": {source.number: find_address(place, source) for source in entry.sources},
        "source_by_number": {source.number: source for source in entry.sources},
    }
    return render_page(request, "journal.html", entry.title, context, place=place, section="journal")


def _list_sections(entry: JournalEntry) -> list[SectionView]:
    sections = [
        SectionView(name, title, [one for one in entry.sentences if one.section == name])
        for name, title in SECTION_TITLES.items()
    ]
    return [section for section in sections if section.sentences]


def find_address(place: Place, source: JournalSource) -> str:
    """Returns the page of a source, "" if there is none."""
    if source.kind == "turn":
        return make_project_address(place, "sessions", "turn", turn=source.turn)
    if source.kind == "memory":
        return make_project_address(place, "memories", source.ref.partition(":")[2])
    return ""
