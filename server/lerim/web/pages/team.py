"""The team's page: its memories in all repositories, who approved them, who reviews what waits, and the backfill."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from lerim.errors import NotFoundError, OrgError
from lerim.team import DATABASE_VARIABLE, TEAM_VARIABLE
from lerim.web.pages.rendering import render_page
from lerim.web.served import find_served

MAX_HITS = 50


def show_team(request: Request) -> Response:
    """Shows the team. Raises NotFoundError if no database is named, OrgError if it cannot be used."""
    environ = find_served(request).environ
    if not environ.get(DATABASE_VARIABLE):
        todo = f"Start `lerim serve` with {DATABASE_VARIABLE} set; docs/ORG.md says more."
        raise NotFoundError("This server has no organisation's database.", todo=todo)
    try:
        from lerim.team import choose_team, count_approvals, load_status, search_team
    except ImportError as error:
        todo = "Install them: `pip install 'lerim[org]'`."
        raise OrgError("The team's page needs packages that are not installed.", todo=todo) from error
    words = request.query_params.get("q", "")[:500]
    repo = request.query_params.get("repo", "")[:200]
    database = choose_team(environ[DATABASE_VARIABLE], environ.get(TEAM_VARIABLE, ""))
    status, approvals = load_status(database), count_approvals(database)
    context = {
        "words": words,
        "repo": repo,
        "repositories": list(dict.fromkeys(one.project for one in approvals)),
        "hits": search_team(database, words, repo, "", MAX_HITS) if words.strip() else [],
        "approvals": approvals,
        "status": status,
        "done": sum(status.states.values()) - status.states.get("waiting", 0) - status.states.get("running", 0),
    }
    return render_page(request, "team.html", "Team", context, section="team")
