"""Renders the dashboard's templates.

Every text that a template prints is cleaned of secrets, its invisible characters are written out, and it is escaped:
memories, transcripts and the output of models are hostile input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from lerim.models import format_dollars
from lerim.redaction import clean_text
from lerim.review import flag_text
from lerim.sessions import agent_name
from lerim.team import DATABASE_VARIABLE
from lerim.times import format_day, format_moment
from lerim.views import DRIFT_LABELS
from lerim.web.pages.place import Place
from lerim.web.served import find_served

if TYPE_CHECKING:
    from jinja2 import Environment

NAVIGATION = (
    ("today", "Today"),
    ("review", "Review"),
    ("memories", "Memories"),
    ("sessions", "Sessions"),
    ("journal", "Journal"),
    ("ask", "Ask"),
    ("agents", "Agents"),
    ("runs", "Runs"),
    ("statistics", "Statistics"),
)
"""The pages of a project: the last part of the address, and the title."""


@dataclass(frozen=True, slots=True)
class Pager:
    """The position of a page in a list. `total` is None if it is not known; then `more` says whether there is more."""

    start: int
    shown: int
    size: int
    total: int | None = None
    more: bool = False

    @property
    def previous_start(self) -> int | None:
        return max(0, self.start - self.size) if self.start else None

    @property
    def next_start(self) -> int | None:
        end = self.start + self.shown
        has_more = self.more if self.total is None else end < self.total
        return end if has_more and self.shown else None

    @property
    def description(self) -> str:
        """For example `21 to 40 of 1,204`."""
        if not self.shown:
            return "none"
        place = f"{self.start + 1:,} to {self.start + self.shown:,}"
        return place if self.total is None else f"{place} of {self.total:,}"


def render_page(
    request: Request,
    template: str,
    title: str,
    context: Mapping[str, object],
    *,
    place: Place | None = None,
    section: str = "",
    status: int = 200,
) -> HTMLResponse:
    """Returns a page. `section` is the part of the project's navigation that it belongs to."""
    text = (
        _load_environment()
        .get_template(template)
        .render(
            **context,
            title=title,
            place=place,
            section=section,
            sections=NAVIGATION,
            has_team=bool(find_served(request).environ.get(DATABASE_VARIABLE)),
            request_path=request.url.path,
            request_query=dict(request.query_params),
        )
    )
    return HTMLResponse(text, status)


def make_address(*parts: str, **query: str | int) -> Markup:
    """Returns the path of these parts, with a query; safe to print in an attribute. Empty values are left out."""
    path = "/".join(quote(part, safe="") for part in parts)
    wanted = {name: value for name, value in query.items() if value not in ("", None)}
    return Markup(escape(f"/{path}{'?' + urlencode(wanted) if wanted else ''}"))


def make_project_address(place: Place, /, *parts: str, **query: str | int) -> Markup:
    """Returns the path of one of a project's pages."""
    return make_address("projects", place.project.key, *parts, **query)


def clean_shown(value: object) -> object:
    """Returns what is printed for a value: texts without secrets and invisible characters, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return clean_text(value)
    return value


_CODE = re.compile(r"`([^`\n]{1,300})`")


def mark_code(text: str) -> Markup:
    """Returns a text with the parts between backticks marked as code. Everything else of Markdown stays as it is."""
    parts = _CODE.split(clean_text(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(one) if at % 2 else escape(one) for at, one in enumerate(parts)
    )


def format_count(count: int, noun: str, plural: str = "") -> str:
    """Returns `1 memory` or `1,204 memories`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def format_percent(share: float) -> str:
    """Returns `72 %`."""
    return f"{round(share * 100)} %"


def describe_action(action: str) -> str:
    """Returns what a run did in words: `proposed-add` is `proposed`, `accepted-merge` is `accepted: merge`."""
    return action.removesuffix("-add").replace("-", ": ", 1)


def prepare_rendering(templates: Iterable[str]) -> None:
    """Loads these templates and compiles the patterns of secrets, which both take longer than a page itself."""
    environment = _load_environment()
    for template in templates:
        environment.get_template(template)
    clean_text("Today")


@cache
def _load_environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # a server that nobody looks at needs none of it

    environment = Environment(
        loader=PackageLoader("lerim.web.pages", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=clean_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(
        address=make_address, project_address=make_project_address, agent_name=agent_name, drift_labels=DRIFT_LABELS
    )
    environment.filters.update(
        moment=format_moment,
        day=format_day,
        dollars=format_dollars,
        percent=format_percent,
        counted=format_count,
        flag=flag_text,
        prose=mark_code,
        action=describe_action,
    )
    return environment
