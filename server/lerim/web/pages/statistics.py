"""Statistics with plots: sessions, memories, tokens and cost by day, by agent and by model; proposed and accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from lerim.models import format_dollars
from lerim.review import AGENT_PREFIX, FILE_PREFIX, find_ledgers, outcomes_by_signal, queue
from lerim.sessions import PLATFORM_NAMES, agent_name, browsing, turns
from lerim.statistics import NO_FIGURES, Figures, GroupBy, Statistics
from lerim.times import format_date
from lerim.views import load_statistics
from lerim.web.pages.place import Place, find_place
from lerim.web.pages.plots import Plot, Series, plot_days, plot_groups, show_count
from lerim.web.pages.rendering import render_page

SPANS = {"30": "30 days", "90": "90 days", "365": "a year"}
WRITTEN_BY_HAND = "written by hand"
PARTS: dict[str, str] = {"day": "by day", "agent": "by agent", "model": "by model", "review": "review"}


def show_statistics(request: Request) -> Response:
    """Shows the plots of one part: each reads all sessions of its days."""
    place = find_place(request)
    span, part = request.query_params.get("span", ""), request.query_params.get("part", "")
    span, part = span if span in SPANS else _find_span(place), part if part in PARTS else "day"
    since = _first_moment(place, span)
    plots = _make_review_plots(place, since) if part == "review" else _make_session_plots(place, part, since)
    context = {"plots": plots, "span": span, "spans": SPANS, "part": part, "parts_of": PARTS}
    return render_page(request, "statistics.html", "Statistics", context, place=place, section="statistics")


def _find_span(place: Place) -> str:
    """Returns the shortest span that has a session, the first if none has."""
    with place.open_catalog() as catalog:
        last = browsing.list_recent_sessions(catalog.db, [place.project.key], 0, 1)[0] if catalog else []
    ended = last[0].ended if last else None
    return next((span for span in SPANS if ended and ended >= _first_moment(place, span)), next(iter(SPANS)))


def _first_moment(place: Place, span: str) -> datetime:
    """Returns the beginning of the first local day."""
    now = place.served.clock().astimezone()
    return (now - timedelta(days=int(span) - 1)).replace(hour=0, minute=0, second=0, microsecond=0)


def _make_session_plots(place: Place, by: str, since: datetime) -> list[Plot]:
    group_by: GroupBy = "agent" if by == "agent" else "model" if by == "model" else "day"
    statistics = load_statistics(place.home, group_by, place.project, since, None)
    if group_by == "day":
        return [*_plot_days(statistics, _list_days(place, since)), _plot_memories(place, since)]
    names = {str(key): name for key, name in PLATFORM_NAMES.items()} if group_by == "agent" else {}
    groups = statistics.groups
    plot = partial(
        plot_groups,
        group_name=group_by.title(),
        labels=[names.get(key, key) or "unknown" for key in (group.key or "" for group in groups)],
    )
    return [
        plot("sessions", "Sessions", series=[Series("sessions", [one.sessions for one in groups])], show=show_count),
        plot("tokens", "Tokens", series=_token_series(groups), show=show_count),
        plot("cost", "Cost", series=[Series("cost", [one.cost for one in groups])], show=format_dollars),
        _plot_memory_groups(place, group_by, since),
    ]


def _list_days(place: Place, since: datetime) -> list[date]:
    first, last = since.date(), place.served.clock().astimezone().date()
    return [first + timedelta(days=at) for at in range((last - first).days + 1)]


def _plot_days(statistics: Statistics, dates: Sequence[date]) -> list[Plot]:
    found = {group.key: group for group in statistics.groups}
    groups = [found.get(day.isoformat(), NO_FIGURES) for day in dates]
    days = list(map(format_date, dates))
    sessions = [Series("sessions", [one.sessions for one in groups])]
    cost = [Series("cost", [one.cost for one in groups])]
    return [
        plot_days("sessions", "Sessions by day", days, sessions, show_count),
        plot_days("tokens", "Tokens by day", days, _token_series(groups), show_count),
        plot_days("cost", "Cost by day", days, cost, format_dollars),
    ]


def _token_series(groups: Sequence[Figures]) -> list[Series]:
    return [
        Series("tokens in", [one.input for one in groups]),
        Series("tokens out", [one.output for one in groups]),
    ]


def _plot_memories(place: Place, since: datetime) -> Plot:
    counts = Counter(time.astimezone().date() for time in queue.acceptance_times(place.paths).values())
    dates = _list_days(place, since)
    series = [Series("memories", [counts[day] for day in dates])]
    return plot_days("memories", "Memories accepted by day", list(map(format_date, dates)), series, show_count)


def _plot_memory_groups(place: Place, group_by: GroupBy, since: datetime) -> Plot:
    """Plots how many memories were accepted from the sessions of each agent, or of each model."""
    sources = [source for time, source in queue.acceptances(place.paths).values() if time >= since]
    counts = Counter(_name_models(place, sources) if group_by == "model" else map(_name_agent, sources))
    groups = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    series = [Series("memories", [count for _, count in groups])]
    labels = [name for name, _ in groups]
    return plot_groups("memories", "Memories accepted", group_by.title(), labels, series, show_count)


def _name_agent(source: str) -> str:
    if not source:
        return WRITTEN_BY_HAND
    if source.startswith(FILE_PREFIX):
        return "rules files"
    return agent_name(source.removeprefix(AGENT_PREFIX).partition(":")[0])


def _name_models(place: Place, sources: Sequence[str]) -> list[str]:
    turn_ids = [source.rpartition("#")[2] for source in sources]
    with place.open_catalog() as catalog:
        models = turns.find_answering_models(catalog.db, turn_ids) if catalog is not None else {}
    pairs = zip(sources, turn_ids, strict=True)
    return [models.get(turn, "unknown") if source else WRITTEN_BY_HAND for source, turn in pairs]


def _make_review_plots(place: Place, since: datetime) -> list[Plot]:
    own = [path for path in find_ledgers(place.home) if path.parent == place.paths.private]
    groups, _ = outcomes_by_signal(own, since, None)
    series = [
        Series("proposed", [one.proposed for one in groups]),
        Series("accepted", [one.accepted for one in groups]),
        Series("rejected", [one.rejected for one in groups]),
    ]
    return [plot_groups("review", "Proposed and accepted", "Signal", [one.name for one in groups], series, show_count)]
