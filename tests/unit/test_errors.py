"""Errors as problems: what is told, where, and in whose words."""

from __future__ import annotations

import errno
import sqlite3

from lerim.errors import BudgetError, MemoryError_, ModelRefusedError, Problem, error_reason


def test_a_problem_says_what_happened_where_and_what_to_do() -> None:
    error = MemoryError_("The file is too large.", where="/r/a.md", todo="Shorten it.")
    assert error.problem("/elsewhere") == Problem("memory", "/r/a.md", "The file is too large. Shorten it.")
    assert MemoryError_("It is broken.").problem("/r/a.md", code="x") == Problem("x", "/r/a.md", "It is broken.")


def test_what_to_do_is_a_sentence_of_its_own() -> None:
    assert MemoryError_("The file is too large", todo="Shorten it.").problem().message == (
        "The file is too large. Shorten it."
    )


def test_a_safe_message_has_no_words_of_a_service() -> None:
    assert ModelRefusedError("The service said: hunter2").safe_message == "the service refused the request"
    assert BudgetError("$1.00 a day is used up.").safe_message == "$1.00 a day is used up."


def test_the_reason_of_an_error_is_the_systems_own_without_the_file() -> None:
    assert error_reason(OSError(errno.EACCES, "Permission denied", "/r/a.md")) == "Permission denied"
    assert error_reason(OSError("no room left")) == "no room left"
    assert error_reason(sqlite3.OperationalError("database is locked")) == "database is locked"
