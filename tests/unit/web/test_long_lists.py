"""Lists of the dashboard that take more than one page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from lerim.extraction.candidate import Candidate
from lerim.review.review_paths import ReviewPaths
from reviews import added, made_candidate, proposed
from web_server import WebServer


def test_the_pages_of_a_long_list_have_each_memory_once(server: WebServer, place: ReviewPaths) -> None:
    for number in range(64):
        added(place, f"Memory number {number:02}", "It is one of many.")
    found: list[str] = []
    address = f"/projects/{place.project.key}/memories"
    while address:
        text = server.client.get(address).text
        found += re.findall(r">(Memory number \d\d)</a>", text)
        following = re.search(r'rel="next" href="([^"]+)"', text)
        address = html.unescape(following[1]) if following else ""
    assert sorted(found) == [f"Memory number {number:02}" for number in range(64)]


def test_candidates_are_found_on_the_page_that_has_them(server: WebServer, place: ReviewPaths) -> None:
    ids = [proposed(place, one).id for one in many_candidates(34)]
    text = server.client.get(f"/projects/{place.project.key}/review", params={"candidate": ids[-1]}).text
    assert "Review <span" in text
    assert f'candidate={ids[-1]}&amp;start=30" aria-current="true"' in text


def many_candidates(number: int) -> Iterator[Candidate]:
    for at in range(number):
        yield made_candidate(
            f"Rule {at:02} of the house", turn=f"{at:012x}", time=datetime(2026, 1, 1, 0, at, tzinfo=UTC)
        )
