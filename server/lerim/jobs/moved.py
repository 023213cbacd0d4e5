"""A repository that was moved goes on with what is kept of it: its alias names a project that is not there any more.

The moved repository keeps the key of the old project, so nothing of its private folder and its rows of the catalog
needs to move: the one file that says which repository a key belongs to is replaced.
"""

from __future__ import annotations

from dataclasses import replace

from lerim import files, process_shell
from lerim.errors import ProjectError
from lerim.paths import Home
from lerim.project import Project, hold_project_lock, registry
from lerim.project import project as projects
from lerim.review import ReviewPaths, open_ledger


def with_alias(project: Project, old: str, home: Home) -> Project:
    """The project with one more alias; with the key of the project that was at `old`, where there is none any more.

    Writes nothing. Raises ProjectError for what cannot be an alias, and where both projects have a review.
    """
    known = projects.add_alias(project, old)
    former = projects.find_gone_project(old, home)
    if former is None or former.key == project.key:
        return known
    if _has_decisions(project, home):
        forget = process_shell.format_command_line("lerim", "project", "remove", "--repo", former.root)
        raise ProjectError(
            "Candidates were reviewed here and in the repository that was there before; only one review can continue.",
            where=old,
            todo=f"To go on with this one, run `{forget}`. To go on with the other (what was rejected and can be"
            f" undone here since is then forgotten), move {home.project(project.key)} away. Then try again.",
        )
    aliases = dict.fromkeys((*former.aliases, *project.aliases, former.root, old))
    return replace(known, key=former.key, aliases=tuple(aliases))


def keep_aliases(project: Project, home: Home) -> Project:
    """Remembers the project with its aliases and, where it has the key of one that was elsewhere, that it goes on
    with it. Raises ProjectError, BusyError, MemoryError_."""
    own = projects.without_aliases(project)
    if own.key == project.key:
        return projects.add_project(project, home)
    with (
        hold_project_lock(home, own.key, "taking a moved project over"),
        hold_project_lock(home, project.key, "moving"),
    ):
        kept = projects.add_project(project, home)
        registry.remove_entry(home, own.key)  # from the line before it counts no more
        _remove_pending(ReviewPaths(own, home), ReviewPaths(kept, home))
    return kept


def _has_decisions(project: Project, home: Home) -> bool:
    private = home.project(project.key)
    if files.is_absent(private / "review.sqlite3"):
        return False
    with open_ledger(private) as book:
        return book.has_actions()


def _remove_pending(own: ReviewPaths, kept: ReviewPaths) -> None:
    """Removes what was proposed under the key given up and nobody looked at: the next sync proposes it again."""
    if files.is_absent(own.private / "review.sqlite3"):
        return
    with own.lock(), open_ledger(own.private) as book, kept.lock(), open_ledger(kept.private) as other:
        ours = other.states()
        for name, state in book.states().items():
            if state == "pending" and name not in ours:
                files.remove_file(kept.candidate_path(name))
