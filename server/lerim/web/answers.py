"""Answers of the API: JSON objects without secrets, and errors with a code, a message and what to do."""

from __future__ import annotations

import logging
import traceback

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from lerim.errors import (
    BoundaryError,
    BusyError,
    ConflictError,
    LerimError,
    NotFoundError,
    ProjectError,
    SettingsError,
    StaleError,
    UsageError,
)
from lerim.files import encode_writable_json
from lerim.redaction import redact_json
from lerim.views import ErrorOutput, ErrorView, make_error_output
from lerim.web.security import MAX_BODY_BYTES, BodyTooLargeError

log = logging.getLogger("lerim.web")

STATUS_CODES: tuple[tuple[type[LerimError], int], ...] = (
    (UsageError, 400),
    (SettingsError, 409),
    (NotFoundError, 404),
    (ProjectError, 404),
    (StaleError, 409),
    (ConflictError, 409),
    (BusyError, 409),
    (BoundaryError, 400),
)
"""HTTP statuses of our errors; any other error of ours is 422: the request was understood and could not be done."""


def json_response(answer: object, status: int = 200, *, is_secret: bool = False) -> Response:
    """Returns an answer as JSON. Secrets are removed from it, as from everything that is printed, unless the answer
    itself is one (`is_secret`) or goes to a command, which prints it."""
    text = encode_writable_json(answer).decode()
    if not is_secret:
        text = redact_json(text)
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type="application/json")


def find_status(error: LerimError) -> int:
    """Returns the HTTP status of an error of ours."""
    return next((code for kind, code in STATUS_CODES if isinstance(error, kind)), 422)


def error_response(_request: Request, error: Exception) -> Response:
    """Returns the answer to a request that failed with this error."""
    if isinstance(error, LerimError):
        return json_response(make_error_output(error), find_status(error))
    if isinstance(error, BodyTooLargeError):
        view = ErrorView("too-large", f"A request may have {MAX_BODY_BYTES} bytes.", "", "Send less.")
        return json_response(ErrorOutput(view), 413)
    if isinstance(error, HTTPException):
        view = ErrorView("http", error.detail, "", "See /api/v1/openapi.json.")
        response = json_response(ErrorOutput(view), error.status_code)
        response.headers.update(error.headers or {})
        return response
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    # The message of an unexpected exception may quote a transcript; the locations do not.
    log.error("An unexpected %s.\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
    view = ErrorView("error", f"An unexpected {type(error).__name__}.", "", "This is a bug in Lerim; please report it.")
    return json_response(ErrorOutput(view), 500)
