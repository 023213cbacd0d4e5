"""The dashboard's page of the review: its decisions, keys and edits."""

from __future__ import annotations

import html
import re

from test_pages import choose_quotes, field, page, send

from lerim.review.review_paths import ReviewPaths
from reviews import added, made_candidate, proposed, titles, waiting
from web_server import WebServer


def test_an_accept_asks_once_about_quotes_and_each_decision_can_be_undone(
    server: WebServer, place: ReviewPaths
) -> None:
    proposed(place, made_candidate("Use uv, not pip"))
    fields = {name: field(page(server, place, "review"), name) for name in ("candidate", "seen")}
    asked = send(server, place, "review/act", 200, action="accept", **fields)
    assert "Share the quotes of memories in git?" in asked
    assert titles(place) == []
    send(server, place, "review/act", action="accept", quotes="shared", **fields)
    assert titles(place) == ["Use uv, not pip"]
    text = page(server, place, "review")
    assert "Accepted: Use uv, not pip" in text
    send(server, place, "review/undo", action=field(text, "action"))
    assert waiting(place) == ["Use uv, not pip"]
    send(server, place, "review/act", action="reject", **fields)
    assert waiting(place) == []
    send(server, place, "review/undo", action=field(page(server, place, "review"), "action"))
    assert waiting(place) == ["Use uv, not pip"]


def test_an_undo_that_fails_says_why_and_names_no_command_of_a_terminal(server: WebServer, place: ReviewPaths) -> None:
    path = added(place, "Pin the port")
    action = field(page(server, place, "review"), "action")
    path.write_text(f"{path.read_text(encoding='utf-8')}My own line.\n", encoding="utf-8")
    changed = send(server, place, "review/undo", 409, action=action)
    assert "cannot be undone" in changed and "Undo again to take back the action before it." in changed
    unknown = send(server, place, "review/undo", 409, action="nonsense")
    assert "There is no such action." in unknown
    assert "lerim review" not in changed + unknown


def test_a_candidate_is_accepted_as_another_kind(server: WebServer, place: ReviewPaths) -> None:
    choose_quotes(place)
    one = proposed(place, made_candidate("Use uv, not pip"))
    text = page(server, place, "review", candidate=one.id, edit="yes")
    assert "<option selected>decision</option>" in text
    fields = {name: field(text, name) for name in ("candidate", "seen")}
    send(server, place, "review/act", action="accept", title="Use uv, not pip", kind="preference", **fields)
    [path] = place.project.memory_dir.glob("learnings/*.md")
    assert "kind: preference" in path.read_text("utf-8")


def test_the_keys_work_at_once_and_are_named(server: WebServer, place: ReviewPaths) -> None:
    proposed(place, made_candidate("Use uv, not pip"))
    text = page(server, place, "review")
    assert '<h2 id="candidate-title" tabindex="-1" autofocus>' in text
    named = re.findall(r"<kbd>(.)</kbd>", text)
    assert named == ["a", "e", "r", "u", "j", "k"]
    edited = page(server, place, "review", candidate=field(text, "candidate"), edit="yes")
    assert re.findall(r"<(\w+)[^>]* autofocus>", edited) == ["input"]
    added(place, "Use pip, not uv", "Installs go through pip.")
    assert {"s", "p", "c", "b"} <= set(re.findall(r"<kbd>(.)</kbd>", page(server, place, "review")))


def test_a_decision_about_a_text_that_has_changed_since_is_refused_with_the_reason(
    server: WebServer, place: ReviewPaths
) -> None:
    choose_quotes(place)
    one = proposed(place, made_candidate("Use uv, not pip"))
    text = page(server, place, "review")
    fields = {name: field(text, name) for name in ("candidate", "seen")}
    one.path.write_text(one.text.replace("Use uv, not pip", "Use pip, not uv"), encoding="utf-8")
    for action in ("accept", "reject"):
        refused = send(server, place, "review/act", 409, action=action, **fields)
        assert "This candidate has changed since it was shown." in refused
        assert "Use pip, not uv" in refused
    send(server, place, "review/act", 400, action="accept", candidate=one.id)
    assert waiting(place) == ["Use pip, not uv"]
    assert titles(place) == []


def test_an_answer_about_a_similar_memory_that_has_changed_since_is_refused(
    server: WebServer, place: ReviewPaths
) -> None:
    choose_quotes(place)
    memory = added(place, "Use pip for packages", "Packages are installed with pip.")
    proposed(place, made_candidate("Use uv for packages", body="Packages are installed with uv."))
    text = page(server, place, "review")
    assert "Replaces this" in text
    fields = {name: field(text, name) for name in ("candidate", "seen", "memory", "memory_hash")}
    changed = memory.read_text(encoding="utf-8").replace("with pip", "with pip 25")
    memory.write_text(changed, encoding="utf-8")
    refused = send(server, place, "review/act", 409, action="accept", answer="replaces", **fields)
    assert "This memory has changed since it was shown." in refused
    assert memory.read_text(encoding="utf-8") == changed
    fields["memory_hash"] = field(page(server, place, "review"), "memory_hash")
    send(server, place, "review/act", action="accept", answer="replaces", **fields)
    assert titles(place) == ["Use uv for packages"]
    linked = page(server, place, "memories/links")
    assert "supersedes" in linked
    drawn = dict(re.findall(r'aria-label="([^"]*)"><rect class="[^"]*" x="(\d+)"', linked))
    assert int(drawn["Use pip for packages (ended)"]) < int(drawn["Use uv for packages"])


def test_an_edit_changes_only_what_the_person_changed(server: WebServer, place: ReviewPaths) -> None:
    choose_quotes(place)
    one = proposed(place, made_candidate("Use uv\u200b, not pip", body="First line.\nSecond line."))
    text = page(server, place, "review", candidate=one.id, edit="yes")
    shown = re.search(r'name="title" value="([^"]*)"', text)
    assert shown
    fields = {"candidate": one.id, "seen": field(text, "seen"), "title": html.unescape(shown[1]), "tags": "packaging"}
    send(server, place, "review/act", action="edit", body="First line.\r\nAnother line.", **fields)
    edited = one.path.read_text(encoding="utf-8")
    assert "Use uv\u200b, not pip" in edited
    assert "First line.\nAnother line." in edited
