"""How memories replace and answer one another: a picture of each chain, with a list behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from lerim.memory import MemoryLinks
from lerim.redaction import clean_text
from lerim.web.pages.endpoints import read_number
from lerim.web.pages.memories import load_titles
from lerim.web.pages.place import Place, find_place
from lerim.web.pages.rendering import Pager, make_project_address, render_page

PAGE_SIZE = 15
MAX_DRAWN = 24
"""A longer chain is drawn in part; its list is complete up to MAX_LISTED."""
MAX_LISTED = 200
_NODE_WIDTH, _NODE_HEIGHT, _GAP_X, _GAP_Y = 210, 40, 60, 14
_LINE_CHARACTERS, _MAX_LINES = 30, 2


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """A memory ends another one. `relation` is `supersedes` or `resolves`."""

    ender: str
    ended: str
    relation: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Memories that are linked to one another, directly or over others, the last changed first."""

    members: tuple[str, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ChainView:
    """A chain as it is shown: its name on the page, the picture, and its links as (title, relation, title) with ids."""

    name: str
    picture: Markup
    links: list[tuple[str, str, str, str, str]]
    left_out: int


def show_links(request: Request) -> Response:
    """Shows the chains of linked memories, those changed last first."""
    place, start = find_place(request), read_number(request, "start")
    with place.open_search() as search:
        chains = find_chains(search.links())
    shown = chains[start : start + PAGE_SIZE]
    drawn = {chain: frozenset(chain.members[:MAX_DRAWN]) for chain in shown}
    listed = {name for chain in shown for link in chain.links[:MAX_LISTED] for name in (link.ender, link.ended)}
    titles = load_titles(place, sorted(listed.union(*drawn.values())))
    views = [
        _make_view(place, f"chain-{start + at + 1}", chain, drawn[chain], titles) for at, chain in enumerate(shown)
    ]
    context = {
        "chains": views,
        "pager": Pager(start, len(views), PAGE_SIZE, len(chains)),
    }
    return render_page(request, "links.html", "Linked memories", context, place=place, section="memories")


def find_chains(known: Iterable[MemoryLinks]) -> list[Chain]:
    """Returns the chains of memories that are linked, the last changed first. A link counts whichever of its two
    memories has it, and each counts once."""
    updated: dict[str, float] = {}
    links: set[Link] = set()
    for one in known:
        updated[one.id] = max(one.updated, updated.get(one.id, 0))
        links |= {Link(one.id, target, "supersedes") for target in one.supersedes}
        links |= {Link(one.id, target, "resolves") for target in one.resolves}
        links |= {Link(one.superseded_by, one.id, "supersedes")} if one.superseded_by else set()
        links |= {Link(one.resolved_by, one.id, "resolves")} if one.resolved_by else set()
    neighbours: dict[str, set[str]] = defaultdict(set)
    links_by_ender: dict[str, list[Link]] = defaultdict(list)
    for link in sorted(links):
        neighbours[link.ender].add(link.ended)
        neighbours[link.ended].add(link.ender)
        links_by_ender[link.ender].append(link)

    def newest_first(name: str) -> tuple[float, str]:
        return -updated.get(name, 0), name

    seen: set[str] = set()
    chains: list[Chain] = []
    for name in sorted(neighbours, key=newest_first):
        if name in seen:
            continue
        members = sorted(_reach(name, neighbours, seen), key=newest_first)
        chains.append(Chain(tuple(members), tuple(link for one in members for link in links_by_ender[one])))
    return chains


def _reach(name: str, neighbours: Mapping[str, set[str]], seen: set[str]) -> Iterator[str]:
    """Yields the memories that can be reached from one, and marks them as seen."""
    waiting = [name]
    seen.add(name)
    while waiting:
        one = waiting.pop()
        yield one
        new = neighbours[one] - seen
        seen |= new
        waiting += sorted(new)


def _make_view(place: Place, name: str, chain: Chain, drawn: frozenset[str], titles: Mapping[str, str]) -> ChainView:
    links = [
        (link.ender, titles[link.ender], link.relation, link.ended, titles[link.ended])
        for link in chain.links[:MAX_LISTED]
    ]
    return ChainView(name, _draw(place, name, chain, drawn, titles), links, len(chain.members) - len(drawn))


def _draw(place: Place, name: str, chain: Chain, drawn: frozenset[str], titles: Mapping[str, str]) -> Markup:
    """Returns the picture: what was ended on the left, what ended it on the right."""
    links = [link for link in chain.links if link.ender in drawn and link.ended in drawn]
    columns = _arrange(chain.members, drawn, links)
    places = {
        member: (at * (_NODE_WIDTH + _GAP_X), row * (_NODE_HEIGHT + _GAP_Y))
        for at, column in enumerate(columns)
        for row, member in enumerate(column)
    }
    width = len(columns) * (_NODE_WIDTH + _GAP_X) - _GAP_X
    height = max(map(len, columns)) * (_NODE_HEIGHT + _GAP_Y) - _GAP_Y
    ended = {link.ended for link in chain.links}
    parts = [_draw_link(name, link, places) for link in links]
    for member, (x, y) in places.items():
        parts.append(_draw_node(place, member, titles[member], x, y, is_ended=member in ended))
    return Markup(
        '<svg class="chain" role="group" aria-labelledby="{0}-title" width="{1}" height="{2}" viewBox="-1 -1 {1} {2}">'
        '<defs><marker id="{0}-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="arrow" d="M0 0 8 4 0 8z"/></marker></defs>{3}</svg>'
    ).format(name, width + 2, height + 2, Markup("").join(parts))


def _arrange(members: Sequence[str], drawn: frozenset[str], links: Sequence[Link]) -> list[list[str]]:
    """Returns the memories in columns, so that each is to the right of all that it ends. Circles are cut somewhere."""
    ends: dict[str, list[str]] = defaultdict(list)
    for link in links:
        ends[link.ender].append(link.ended)
    depths: dict[str, int] = {}

    def depth(member: str, above: frozenset[str]) -> int:
        if member not in depths:
            below = [depth(one, above | {member}) + 1 for one in ends[member] if one not in above]
            depths[member] = max(below, default=0)
        return depths[member]

    columns: dict[int, list[str]] = defaultdict(list)
    for member in members:
        if member in drawn:
            columns[depth(member, frozenset({member}))].append(member)
    return [columns[at] for at in sorted(columns)]


def _draw_link(name: str, link: Link, places: Mapping[str, tuple[int, int]]) -> Markup:
    (x, y), (end_x, end_y) = places[link.ender], places[link.ended]
    y, end_y, end_x = y + _NODE_HEIGHT // 2, end_y + _NODE_HEIGHT // 2, end_x + _NODE_WIDTH
    return Markup(
        '<path class="link {}" d="M{} {} C{} {} {} {} {} {}" marker-end="url(#{}-arrow)"><title>{}</title></path>'
    ).format(link.relation, x, y, x - _GAP_X // 2, y, end_x + _GAP_X // 2, end_y, end_x + 2, end_y, name, link.relation)


def _draw_node(place: Place, member: str, title: str, x: int, y: int, *, is_ended: bool) -> Markup:
    lines = _wrap(clean_text(title))
    top = y + (_NODE_HEIGHT - (len(lines) - 1) * 15) / 2 + 4
    texts = (
        Markup('<text x="{}" y="{:.0f}">{}</text>').format(x + 10, top + at * 15, line) for at, line in enumerate(lines)
    )
    return Markup(
        '<a href="{}" aria-label="{}"><rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="6"/>{}</a>'
    ).format(
        make_project_address(place, "memories", member),
        clean_text(f"{title}{' (ended)' if is_ended else ''}"),
        "node ended" if is_ended else "node",
        x,
        y,
        _NODE_WIDTH,
        _NODE_HEIGHT,
        Markup("").join(texts),
    )


def _wrap(title: str) -> list[str]:
    """Returns the title in at most _MAX_LINES lines, without what does not fit."""
    lines: list[str] = []
    rest = title
    while rest and len(lines) < _MAX_LINES:
        end = len(rest) if len(rest) <= _LINE_CHARACTERS else rest.rfind(" ", 1, _LINE_CHARACTERS + 1)
        end = end if end > 0 else _LINE_CHARACTERS
        lines.append(rest[:end].strip())
        rest = rest[end:].strip()
    if rest:
        lines[-1] = f"{lines[-1][: _LINE_CHARACTERS - 1]}…"
    return lines
