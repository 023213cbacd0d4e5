"""Connects a moved repository to the data Lerim kept about it at its old path.

The user gives the old path as an alias. If no repository exists there any more, the moved repository takes over the key
of the old project. The private folder and the catalog rows belong to the key and therefore stay where they are; only
the registry file that says which repository the key belongs to is replaced.
"""

from __future__ import annotations

from dataclasses import replace

from lerim import files, process
from lerim.errors import ProjectError
from lerim.paths import Home
from lerim.project import Project, hold_project_lock, registry
from lerim.project import project as projects
from lerim.review import ReviewPaths, open_ledger


def with_alias(project: Project, old: str, home: Home) -> Project:
    """Return the project with the alias `old`, and with the key of the project registered there if its repository no
    longer exists.

    Writes nothing. Raises ProjectError if `old` cannot be an alias or if both projects have reviewed candidates.
    """
    with_own_key = projects.add_alias(project, old)
    former = projects.find_gone_project(old, home)
    if former is None or former.key == project.key:
        return with_own_key
    if _has_decisions(project, home):
        forget = process.format_command_line("lerim", "project", "remove", "--repo", former.root)
        raise ProjectError(
            "Candidates were reviewed here and in the repository that was there before; only one review can continue.",
            where=old,
            todo=f"To continue with this one, run `{forget}`. To continue with the other, move"
            f" {home.project(project.key)} away; rejections and undo made here are then forgotten. Then try again.",
        )
    aliases = dict.fromkeys((*former.aliases, *project.aliases, former.root, old))
    return replace(with_own_key, key=former.key, aliases=tuple(aliases))


def register_aliases(project: Project, home: Home) -> Project:
    """Register the project with its aliases. If it took over the key of a moved project, remove its own former entry
    and the candidates that wait under that.

    Return the registered project. Raises ProjectError, BusyError, MemoryError_.
    """
    own = projects.without_aliases(project)
    if own.key == project.key:
        return projects.add_project(project, home)
    with (
        hold_project_lock(home, own.key, "taking a moved project over"),
        hold_project_lock(home, project.key, "moving"),
    ):
        registered = projects.add_project(project, home)
        registry.remove_entry(home, own.key)  # the entry just added replaces it
        _remove_pending(ReviewPaths(own, home), ReviewPaths(registered, home))
    return registered


def _has_decisions(project: Project, home: Home) -> bool:
    private = home.project(project.key)
    if files.is_absent(private / "review.sqlite3"):
        return False
    with open_ledger(private) as ledger:
        return ledger.has_actions()


def _remove_pending(abandoned: ReviewPaths, current: ReviewPaths) -> None:
    """Remove the candidates that wait under the abandoned key; the next sync proposes them again."""
    if files.is_absent(abandoned.private / "review.sqlite3"):
        return
    with (
        abandoned.lock(),
        open_ledger(abandoned.private) as abandoned_ledger,
        current.lock(),
        open_ledger(current.private) as current_ledger,
    ):
        current_states = current_ledger.states()
        for name, state in abandoned_ledger.states().items():
            if state == "pending" and name not in current_states:
                files.remove_file(current.candidate_path(name))
