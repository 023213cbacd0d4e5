"""The dashboard's pages: real requests to a real server on loopback, over a home that a sync filled."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from claude_lines import prompt, reply
from claude_lines import text as said
from desk import Desk
from isolation import isolate
from lerim.memory import Evidence, MemoryRecord, Uses
from lerim.memory.record import render_record
from lerim.review import FileClaim, propose_from_agent, propose_from_files, queue
from lerim.review.review_paths import ReviewPaths
from lerim.sessions import Catalog, browsing
from lerim.times import format_utc
from reviews import added, made_candidate, proposed, remember, titles, waiting
from sample import Sample, make_sample
from web_server import WebServer, web_server

HOSTILE = "<script>alert(1)</script> \u202eevil\" onload='x'"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    """The sample's repository after a sync."""
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, tmp_path_factory.mktemp("home"))
        made = make_sample(tmp_path_factory.mktemp("sample"))
        for name, value in made.environ.items():
            patch.setenv(name, value)
        made.sync()
        yield made


@pytest.fixture(scope="module")
def sample_server(sample: Sample) -> Iterator[WebServer]:
    with web_server(sample.place.home) as running:
        yield running


def page(server: WebServer, place: ReviewPaths, name: str, status: int = 200, **query: str) -> str:
    """The text of a project's page."""
    response = server.client.get(f"/projects/{place.project.key}/{name}", params=query or None)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return str(response.text)


def send(server: WebServer, place: ReviewPaths, name: str, status: int = 303, **fields: Any) -> str:
    """Sends a form; the text of the answer."""
    response = server.client.post(f"/projects/{place.project.key}/{name}", data=fields)
    assert response.status_code == status, response.text
    return str(response.text)


def field(text: str, name: str) -> str:
    """The value of the first hidden field with this name."""
    found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)">', text)
    assert found, name
    return html.unescape(found[1])


def choose_quotes(place: ReviewPaths) -> None:
    place.make_private_folder()
    place.store().quotes.write_choice("shared")


@pytest.mark.parametrize(
    "name",
    ["today", "review", "memories", "memories/links", "sessions", "journal", "ask", "agents", "runs", "statistics"]
    + [f"statistics?part={part}&span=365" for part in ("agent", "model", "review")],
)
def test_each_page_is_complete_and_has_nothing_that_the_policy_forbids(
    sample_server: WebServer, sample: Sample, name: str
) -> None:
    text = page(sample_server, sample.place, name)
    for landmark in (
        "<!doctype html>",
        '<html lang="en">',
        '<main id="main"',
        '<a class="skip"',
        "<nav aria-label",
        "<h1",
    ):
        assert landmark in text
    assert text.count("<h1") == 1
    assert " style=" not in text
    assert "<style" not in text
    assert not re.search(r"<script(?![^>]* src=)", text)
    assert not re.search(r"<[^>]* on[a-z]+=", text)


@pytest.mark.parametrize(("days", "label"), [(1, "30 days"), (60, "90 days"), (200, "A year"), (900, "30 days")])
def test_statistics_begin_with_the_shortest_time_that_has_a_session(sample: Sample, days: int, label: str) -> None:
    with Catalog.open(sample.place.home) as catalog:
        [[last], _] = browsing.list_recent_sessions(catalog.db, [sample.place.project.key], 0, 1)
    assert last.ended
    with web_server(sample.place.home, last.ended + timedelta(days=days)) as server:
        text = page(server, sample.place, "statistics")
    assert f'aria-current="true">{label}<' in text
    assert ("Table: Sessions by day" in text) == (days < 365)


def test_each_link_of_the_pages_leads_to_a_page(sample_server: WebServer, sample: Sample) -> None:
    seen: set[str] = set()
    waiting_addresses = ["/"]
    while waiting_addresses and len(seen) < 80:
        address = waiting_addresses.pop(0)
        if address in seen:
            continue
        seen.add(address)
        response = sample_server.client.get(address, follow_redirects=True)
        assert response.status_code == 200, (address, response.text)
        if "text/html" in response.headers["content-type"]:
            found = re.findall(r'(?:href|src)="(/[^"#]*)', response.text)
            waiting_addresses += [html.unescape(one) for one in found]
    assert len(seen) > 40


def test_the_transcript_opens_at_the_turn_of_a_quote(sample_server: WebServer, sample: Sample) -> None:
    text = page(sample_server, sample.place, "review")
    link = re.search(r'href="([^"]*/sessions/turn[^"]*)"', text)
    assert link
    response = sample_server.client.get(html.unescape(link[1]), follow_redirects=True)
    assert response.status_code == 200
    assert re.search(r'class="turn from-\w+ found" id="turn-[0-9a-f]+"', response.text)


def test_the_transcript_of_a_session_that_only_repeats_another_says_where_its_turns_are(desk: Desk) -> None:
    lines = [prompt("Round once"), reply("a", said("Done."))]
    for number in (1, 2):
        desk.session(f"{number}1111111-2222-3333-4444-555555555555", *lines)
    desk.sync()
    with Catalog.open(desk.home) as catalog:
        sessions = browsing.list_recent_sessions(catalog.db, [desk.place.project.key], 0, 2)[0]
    with web_server(desk.home) as server:
        names = [f"sessions/show?place={quote(one.place)}" for one in sessions]
        texts = [page(server, desk.place, name) for name in names]
    assert sorted("All of its turns were copied from" in text for text in texts) == [False, True]


def test_a_search_finds_turns_and_memories(sample_server: WebServer, sample: Sample) -> None:
    found = page(sample_server, sample.place, "sessions", q="invoice numbers agent:claude")
    assert "invoice" in found.lower()
    assert "#turn-" in found
    assert "unknown" in page(sample_server, sample.place, "sessions", q="agent:emacs x")
    assert "No memory matches." in page(sample_server, sample.place, "memories", q="zebra")


def test_text_of_a_session_is_escaped_redacted_and_its_hidden_characters_written_out(
    server: WebServer, place: ReviewPaths
) -> None:
    proposed(place, made_candidate(HOSTILE, body=f"The token is {SECRET} and {HOSTILE}"))
    text = page(server, place, "review")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert SECRET not in text
    assert "\u202e" not in text
    assert "⟨U+202E⟩" in text


def test_a_memory_is_archived_restored_and_not_touched_if_its_text_has_changed(
    server: WebServer, place: ReviewPaths
) -> None:
    memory = added(place, "Use uv", "It is fast.")
    name = f"memories/{memory.stem}"
    Uses(place.private).path.unlink()
    text = page(server, place, name)
    assert "written by hand" in text
    assert Uses(place.private).of_memories([memory.stem])[memory.stem].count == 1, "opening it is a use"
    memory.write_text(memory.read_text(encoding="utf-8").replace("fast", "very fast"), encoding="utf-8")
    refused = send(server, place, name, 409, action="archive", seen=field(text, "seen"))
    assert "This memory has changed since it was shown." in refused
    seen = field(page(server, place, name), "seen")
    sent = server.client.post(f"/projects/{place.project.key}/{name}", data={"action": "archive", "seen": seen})
    assert titles(place) == []
    done = server.client.get(sent.headers["location"]).text
    form = {part: field(done, part) for part in ("action", "memory")}
    undone = server.client.post(f"/projects/{place.project.key}/review/undo", data=form, follow_redirects=True)
    assert "Undone." in undone.text and str(undone.url.path).endswith(name)
    send(server, place, name, action="archive", seen=field(page(server, place, name), "seen"))
    send(server, place, name, action="restore", seen=field(page(server, place, name), "seen"))
    assert titles(place) == ["Use uv"]


def test_a_memory_is_edited_and_rated_and_what_was_not_shown_stays(server: WebServer, place: ReviewPaths) -> None:
    memory = added(place, "Use uv\u200b, not pip", "It is fast.")
    name = f"memories/{memory.stem}"
    text = page(server, place, name, edit="yes")
    shown = re.search(r'name="title" value="([^"]*)"', text)
    assert shown
    fields: dict[str, Any] = {"title": html.unescape(shown[1]), "body": "It is\r\nvery fast.", "tags": "packaging"}
    stale = send(server, place, name, 409, action="edit", seen="0" * 64, **fields)
    assert "This memory has changed since it was shown." in stale
    send(server, place, name, action="edit", seen=field(text, "seen"), **fields)
    edited = memory.read_text(encoding="utf-8")
    assert "Use uv\u200b, not pip" in edited
    assert "It is\nvery fast." in edited
    [before] = place.store().load_all()[0]
    send(server, place, name, action="wrong", seen=field(page(server, place, name), "seen"))
    [after] = place.store().load_all()[0]
    assert after.record.confidence < before.record.confidence


def test_what_is_written_out_in_a_form_stays_invisible_and_line_ends_alone_change_nothing(
    server: WebServer, place: ReviewPaths
) -> None:
    memory = added(place, "Use uv", "one\ntw\u200co")
    memory.write_bytes(memory.read_bytes().replace(b"\n", b"\r\n"))
    body = memory.read_bytes().rpartition(b"---\r\n")[2]
    name = f"memories/{memory.stem}"
    text = page(server, place, name, edit="yes")
    shown = re.search(r"<textarea[^>]*>([^<]*)</textarea>", text)
    assert shown and "tw⟨U+200C⟩o" in shown[1]
    typed = html.unescape(shown[1]).replace("\r\n", "\n").replace("\n", "\r\n")  # as a browser sends it
    send(server, place, name, action="edit", title="Use uv 1", body=typed, tags="", seen=field(text, "seen"))
    assert memory.read_bytes().rpartition(b"---\r\n")[2] == body
    seen = field(page(server, place, name, edit="yes"), "seen")
    send(server, place, name, action="edit", title="Use uv 2", body=f"{typed.rstrip()} more", tags="", seen=seen)
    assert "tw\u200co more" in memory.read_text("utf-8")


def test_a_memory_says_where_it_comes_from_and_leads_to_its_turn_if_a_session_said_it(
    server: WebServer, place: ReviewPaths
) -> None:
    now = datetime.now(UTC)
    evidence = (Evidence("Keep the cache", "AGENTS.md#L12", "user"),)
    record = MemoryRecord("", "decision", "Keep the cache", now, now, "", 0.7, (), "It is slow.", evidence=evidence)
    said = replace(record, title="Prices are cents", body="", source="agent:claude-code")
    by_agent = propose_from_agent(place, said, now)
    [by_file] = propose_from_files(place, [FileClaim(replace(record, source="file:AGENTS.md#L12"))], now)
    by_session = queue.CandidateProposed(proposed(place, made_candidate()))
    for found, source, leads in (
        (by_agent, "proposed by claude-code", False),
        (by_file, "found in AGENTS.md, line 12", False),
        (by_session, "Claude Code session s1", True),
    ):
        assert isinstance(found, queue.CandidateProposed)
        path = queue.accept_candidate(place, found.proposal.id, quotes="shared").path
        text = page(server, place, f"memories/{Path(path or '').stem}")
        assert f"<dd>{source}</dd>" in text
        assert ("Open in the transcript" in text) == leads
        assert "You said:" in text
    theirs = replace(record, id="20260801-theirs", source="claude:s1#0123456789ab")
    place.store().path_for(theirs).write_text(render_record(theirs), "utf-8")
    assert "The developer said:" in page(server, place, "memories/20260801-theirs")


def test_a_memory_whose_file_is_gone_is_marked_not_found_with_the_file(
    server: WebServer, place: ReviewPaths, repo: Path
) -> None:
    (repo / "cart.py").write_text("PRICE = 5\n", encoding="utf-8")
    name = remember(place, "Prices are integer cents", "In the cart.", "cart.py")
    for wanted, typed in ((True, "file:CART.py"), (False, "file:art.py"), (False, "file:../cart.py")):
        assert ("Prices are integer cents" in page(server, place, "memories", q=typed)) == wanted
    (repo / "cart.py").unlink()
    text = page(server, place, f"memories/{name}")
    assert '<span class="chip gone">not found</span>' in text
    assert re.search(r"Not found since \d{4}-\d\d-\d\d: <code>cart.py</code></p>", text)
    assert '<span class="chip gone">not found</span>' in page(server, place, "memories")


def test_each_page_of_a_repository_that_is_gone_says_so_and_what_to_do(server: WebServer, place: ReviewPaths) -> None:
    root = place.project.root
    root.rename(root.with_name("moved"))
    for name in ("today", "review", "memories"):
        text = page(server, place, name)
        assert "The repository no longer exists." in text
        assert f"<code>lerim project alias {root} --repo NEW_PLACE</code>" in text
    problems = server.get(f"/projects/{place.project.key}/status")["problems"]
    assert ("project-gone", str(root)) in [(one["code"], one["path"]) for one in problems]
    root.with_name("moved").rename(root)
    assert "no longer exists" not in page(server, place, "today")


def test_the_numbers_of_a_sentences_sources_stand_apart(sample_server: WebServer, sample: Sample) -> None:
    text = page(sample_server, sample.place, "journal", day="2026-07-20")
    assert "</sup> <sup>" in text
    assert "</sup><sup>" not in text


def test_a_claim_that_was_left_out_is_proposed_anyway(sample_server: WebServer, sample: Sample) -> None:
    text = page(sample_server, sample.place, "review")
    before = len(waiting(sample.place))
    send(sample_server, sample.place, "review/propose", item=field(text, "item"))
    assert len(waiting(sample.place)) == before + 1


def test_a_job_is_skipped_and_retried(sample_server: WebServer, sample: Sample) -> None:
    key = sample.place.project.key
    with Catalog.open(sample.place.home) as catalog:
        catalog.db.execute("UPDATE jobs SET state = 'dead', error = 'broken' WHERE id = (SELECT min(id) FROM jobs)")
        catalog.db.commit()
        [(job,)] = catalog.db.execute("SELECT id FROM jobs WHERE state = 'dead' AND project = ?", (key,))
        open_jobs = [row.id for row in catalog.list_open_jobs(key)]
    for start, expected in enumerate(open_jobs):  # a page of the API is a part of the whole list
        listed = sample_server.get(f"/projects/{key}/queue", limit=1, offset=start)["jobs"]
        assert [row["id"] for row in listed] == [expected]
    assert open_jobs[0] == job
    assert "given up" in page(sample_server, sample.place, "agents")
    send(sample_server, sample.place, "agents/queue", job=str(job), action="skip")
    assert "skipped" in page(sample_server, sample.place, "agents")
    send(sample_server, sample.place, "agents/queue", job=str(job), action="retry")
    assert "waiting" in page(sample_server, sample.place, "agents")
    send(sample_server, sample.place, "agents/queue", 404, job="999999", action="retry")
    send(sample_server, sample.place, "agents/queue", 400, job="1; DROP TABLE jobs", action="retry")


def test_a_run_shows_what_it_did_and_its_log(sample_server: WebServer, sample: Sample) -> None:
    link = re.search(r'href="[^"]*/runs/(sync-[^"]+)"', page(sample_server, sample.place, "runs"))
    assert link
    text = page(sample_server, sample.place, f"runs/{link[1]}")
    assert '<span class="chip">proposed</span>' in text
    assert "session.log" in text
    page(sample_server, sample.place, "runs/sync-20200101-000000-000000", 404)


def test_memories_are_counted_by_the_agent_and_the_model_of_their_sessions(
    sample_server: WebServer, sample: Sample
) -> None:
    place = sample.place
    choose_quotes(place)
    candidate = next(one for one in queue.list_pending(place)[0] if one.platform == "claude")
    queue.accept_candidate(place, candidate.id)
    queue.add_memory(place, "decision", "Written by hand", "It was.")
    try:
        learned = page(sample_server, place, "today").partition('<h2 id="learned">')[2].partition("</section>")[0]
        assert "Written by hand" in learned
        assert candidate.record.id in learned
        accepted = format_utc(queue.acceptance_times(place)[candidate.record.id])
        assert f'datetime="{accepted}"' in learned, "not when its session was"
        for part, name in (("agent", "Claude Code"), ("model", "claude-[a-z0-9-]+")):
            text = page(sample_server, place, "statistics", part=part, span="30")
            table = text.partition("Table: Memories accepted</summary>")[2].partition("</table>")[0]
            rows = dict(re.findall(r'<th scope="row">([^<]*)</th><td class="number">(\d+)</td>', table))
            assert rows.pop("written by hand") == "1"
            [(shown, count)] = rows.items()
            assert re.fullmatch(name, shown)
            assert count == "1"
    finally:
        assert queue.undo_last(place).ok
        assert queue.undo_last(place).ok


@pytest.mark.parametrize(
    "address",
    ["/projects/nothing/today", "/projects/{key}/memories/none", "/projects/{key}/sessions/show?place=/etc/passwd"],
)
def test_what_does_not_exist_is_explained_on_a_page(sample_server: WebServer, sample: Sample, address: str) -> None:
    response = sample_server.client.get(address.format(key=sample.place.project.key))
    assert response.status_code == 404
    assert 'role="alert"' in response.text
    back = f"/projects/{sample.place.project.key}/today" if "{key}" in address else "/"
    assert f'<a href="{back}">' in response.text.partition('role="alert"')[2]
