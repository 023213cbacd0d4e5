"""The team's page of the dashboard, with a real database."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from desk import Desk
from organisation import make_organisation
from terminal import run
from web_server import web_server
from window import write_memory

Git = Callable[..., str]


def test_the_page_shows_the_team_and_the_rest_works_without_its_database(
    desk: Desk, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    organisation = make_organisation(desk, monkeypatch)
    write_memory(desk.repo, id="20260801-a", title="Retry payments <b>once</b>", body="A second try is charged twice.")
    git(desk.repo, "add", ".")
    git(desk.repo, "commit", "-q", "-m", "memory", "--author=Ana <ana@example.org>")
    assert run("org", "share", "--repo", str(desk.repo)).exit_code == 0
    organisation.write_sessions(1)
    organisation.send()
    assert organisation.start_worker().wait() == 0
    with web_server(desk.home) as server:
        assert '<a class="project" href="/team">Team</a>' in server.client.get("/?stay=1").text
        text = server.client.get("/team", params={"q": "charging"}).text
        assert "1 memory" in text and "A second try" in text and "<b>once" not in text and "approved by Ana" in text
        assert "nobody in CODEOWNERS" in text and "1 of 1 session" in re.sub(r"\s+", " ", text)
        assert "No memory matches" in server.client.get("/team", params={"q": "nothing"}).text
        assert server.stranger.get("/team").status_code in (401, 403)
    monkeypatch.setenv("LERIM_DATABASE_URL", "postgresql://u:hidden@/none?host=/nowhere")
    with web_server(desk.home) as server:
        text = server.client.get("/team").text
        assert "The database cannot be reached" in text and "hidden" not in text
        assert server.client.get("/?stay=1").status_code == 200
    monkeypatch.delenv("LERIM_DATABASE_URL")
    with web_server(desk.home) as server:
        assert server.client.get("/team").status_code == 404 and "/team" not in server.client.get("/?stay=1").text
