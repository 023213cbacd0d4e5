"""An error as `--json` prints it and the API returns it."""

from __future__ import annotations

import msgspec

from lerim.errors import LerimError


class ErrorView(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error: a stable code, what happened, where, and what to do; `diff` if a file was changed in the meantime."""

    code: str
    message: str
    where: str
    todo: str
    diff: str = ""


class ErrorOutput(msgspec.Struct, frozen=True):
    """What is printed or returned instead of an answer if a request failed."""

    error: ErrorView


def make_error_output(error: LerimError) -> ErrorOutput:
    """Returns an error of ours for display."""
    return ErrorOutput(ErrorView(error.code, error.message, error.where, error.todo, error.diff))
