"""Makes endpoints of functions: pages, and actions that a form asks for."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lerim.errors import LerimError, UsageError
from lerim.redaction import clean_text
from lerim.review import CandidateEdit
from lerim.web.answers import find_status
from lerim.web.pages.place import find_place
from lerim.web.pages.rendering import render_page

MAX_FIELDS = 50
MAX_NUMBER = 10**9
Form = Mapping[str, str]
_WRITTEN_OUT = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")
"""How an invisible character is shown."""


def page(show: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Returns an endpoint, run in a thread, that shows an error of ours as a page."""

    def endpoint(request: Request) -> Response:
        try:
            return show(request)
        except LerimError as error:
            return render_error(request, error)

    return endpoint


def action(act: Callable[[Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Returns an endpoint that reads a form and acts on it in a thread. An error of ours is shown as a page."""

    def act_or_explain(request: Request, body: bytes) -> Response:
        try:
            return act(request, _parse_form(body))
        except LerimError as error:
            return render_error(request, error)

    async def endpoint(request: Request) -> Response:
        body = await request.body()  # the guard bounds it
        return await run_in_threadpool(act_or_explain, request, body)

    return endpoint


def render_error(request: Request, error: LerimError) -> Response:
    """Returns the page that explains an error."""
    context = {"error": error, "back": _find_project_key(request)}
    return render_page(request, "error.html", "This did not work", context, status=find_status(error))


def _find_project_key(request: Request) -> str:
    """Returns the key of the project that the address names, "" if there is none."""
    try:
        return find_place(request).project.key if "key" in request.path_params else ""
    except LerimError:
        return ""


def redirect(address: str) -> Response:
    """Returns the answer that makes the browser show another page after an action."""
    return RedirectResponse(address, 303)


def read_number(request: Request, name: str) -> int:
    """Returns a number of the query, 0 if it is missing or not a number."""
    text = request.query_params.get(name, "")
    return min(int(text), MAX_NUMBER) if text.isascii() and text.isdigit() and len(text) < 12 else 0


def read_edit(form: Form, title: str, body: str, tags: Sequence[str]) -> CandidateEdit | None:
    """Returns the words that the person changed; None if the form has none.

    A field that was not changed keeps the file's own text, which may contain what is not shown: a secret, or an
    invisible character.
    """
    if "title" not in form:
        return None
    new_title = _read_text(form["title"], title)
    new_body, new_tags = _read_text(form.get("body", ""), body), _read_text(form.get("tags", ""), ", ".join(tags))
    return CandidateEdit(
        new_title, new_body, None if new_tags is None else tuple(tag.strip() for tag in new_tags.split(","))
    )


def _read_text(typed: str, before: str) -> str | None:
    """Returns what a field was changed to, with the invisible characters of the text before that were written out in
    it; None if it is as it was shown."""

    def put_back(written_out: re.Match[str]) -> str:
        code = int(written_out[1], 16)
        is_hidden = code <= sys.maxunicode and chr(code) in before and written_out[0] not in before
        return chr(code) if is_hidden else written_out[0]

    typed, shown = _with_plain_line_ends(typed), _with_plain_line_ends(clean_text(before))
    return None if typed == shown else _WRITTEN_OUT.sub(put_back, typed)


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse_form(body: bytes) -> Form:
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError as error:
        raise UsageError("The form cannot be read.", todo="Reload the page and try again.") from error
