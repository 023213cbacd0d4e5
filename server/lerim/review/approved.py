"""Tests whether a person has approved a memory's text in the review of this installation."""

from __future__ import annotations

from collections.abc import Callable

from lerim.errors import LerimError
from lerim.memory import Scope, StoredMemory
from lerim.paths import Home
from lerim.project import Project, make_personal_project
from lerim.review.review_paths import ReviewPaths


def make_approval_test(project: Project | None, home: Home) -> Callable[[StoredMemory, Scope], bool]:
    """Returns a test for whether a person wrote, accepted or confirmed exactly this text of a memory of this project,
    or of their own, in this installation's review.

    A text that was accepted automatically, that came with the repository, or that was edited in its file since is
    not approved until the person confirms it. If the ledger cannot be read, no text is.
    """
    personal = ReviewPaths(make_personal_project(home), home)
    own = ReviewPaths(project, home) if project is not None else personal

    def is_approved(stored: StoredMemory, scope: Scope) -> bool:
        paths = personal if scope == "global" else own
        try:
            with paths.open_ledger_if_any() as ledger:
                return ledger is not None and ledger.was_written_by_person(stored.record.id, stored.text_hash)
        except LerimError:
            return False

    return is_approved
