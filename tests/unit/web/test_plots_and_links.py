"""The pictures of the dashboard: plots, and the chains of linked memories."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.links import MemoryLinks
from lerim.web.pages.links import Link, find_chains
from lerim.web.pages.plots import Series, plot_days, plot_groups, show_count

NAMES = st.sampled_from("abcdefgh")
NUMBERS = st.one_of(st.none(), st.integers(0, 10**12), st.floats(0, 1e9))


def linked(name: str, supersedes: set[str], resolves: set[str], superseded_by: str = "") -> MemoryLinks:
    return MemoryLinks(name, ord(name), False, tuple(sorted(supersedes)), tuple(sorted(resolves)), superseded_by, "")


@given(
    st.dictionaries(
        NAMES, st.tuples(st.sets(NAMES, max_size=3), st.sets(NAMES, max_size=2), st.one_of(st.just(""), NAMES))
    )
)
def test_each_link_is_in_one_chain_and_each_linked_memory_in_one(
    known: dict[str, tuple[set[str], set[str], str]],
) -> None:
    chains = find_chains([linked(name, *parts) for name, parts in known.items()])
    members = [member for chain in chains for member in chain.members]
    assert len(members) == len(set(members))
    links = [link for chain in chains for link in chain.links]
    expected = {Link(name, one, "supersedes") for name, (ends, _, _) in known.items() for one in ends}
    expected |= {Link(name, one, "resolves") for name, (_, ends, _) in known.items() for one in ends}
    expected |= {Link(by, name, "supersedes") for name, (_, _, by) in known.items() if by}
    assert sorted(links) == sorted(expected)
    for chain in chains:
        assert {name for link in chain.links for name in (link.ender, link.ended)} == set(chain.members)


@given(st.lists(st.tuples(st.text(max_size=60), NUMBERS, NUMBERS), max_size=40))
def test_a_plot_is_well_formed_and_its_table_has_every_figure(
    rows: list[tuple[str, float | None, float | None]],
) -> None:
    labels = [label for label, _, _ in rows]
    series = [Series("in", [one for _, one, _ in rows]), Series("out", [two for _, _, two in rows])]
    for plot in (
        plot_groups("groups", "Groups", "Group", labels, series, show_count),
        plot_days("days", "Days", labels, series, show_count),
    ):
        root = ET.fromstring(f"<div>{plot.picture}</div>")
        for bar in root.iter("rect"):
            assert float(bar.get("width", "0")) > 0
            assert float(bar.get("x", "0")) + float(bar.get("width", "0")) <= 721
    assert len(plot_groups("groups", "Groups", "Group", labels, series, show_count).rows) == len(rows)


def test_the_highest_column_reaches_no_further_than_the_end_of_the_axis() -> None:
    plot = plot_days("days", "Days", ["2026-01-01", "2026-01-02"], [Series("sessions", [3, 11])], show_count)
    heights = [float(one) for one in re.findall(r'<rect[^>]* height="([0-9.]+)"', plot.picture)]
    assert len(heights) == 2
    assert heights[1] / heights[0] == 11 / 3 or abs(heights[1] / heights[0] - 11 / 3) < 0.05
    assert plot.rows == [["2026-01-02", "11"], ["2026-01-01", "3"]]
