"""Puts the memories of a repository that are not committed yet on a branch of their own, with a text for the pull
request that asks the team for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import msgspec

from lerim import files
from lerim.check import safe_code_span
from lerim.errors import LerimError, OrgError, Problem
from lerim.memory import MAX_FILE_BYTES, MemoryFile, MemoryRecord, parse_record, redact_record, source_parts, status_of
from lerim.paths import Home
from lerim.project import (
    Git,
    Project,
    create_branch,
    find_branch,
    hold_project_lock,
    load_code_owners,
    open_git,
    read_head_commit,
)
from lerim.review import ReviewPaths
from lerim.team.reviewers import find_reviewers

MAX_BRANCHES = 50
"""The most branches of one day."""
MAX_LISTED = 100
"""The most memories that the text lists: code hosts refuse a longer one."""
_SECTIONS = (("decision", "Decided"), ("learning", "Learned"), ("question", "Asked"), ("theme", "Themes"))


class ProposedBranch(msgspec.Struct, frozen=True):
    """The branch, its commit, and what a pull request should say. `memories` are the ids in it, `reviewers` who owns
    the files they are about, `push` the command that publishes the branch."""

    branch: str
    commit: str
    memories: list[str]
    title: str
    text: str
    reviewers: list[str]
    push: str
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class _Changed:
    """A memory file whose text is not what the commit has; `is_ended`: it is archived, or another took its place."""

    path: str
    text: str
    record: MemoryRecord
    is_ended: bool


def propose_branch(project: Project, home: Home, environ: Mapping[str, str], today: date) -> ProposedBranch:
    """Writes the memories that are here but not in the checked out commit onto a new local branch.

    Your files, index and HEAD stay as they are, no hook runs, and nothing is pushed. Proposing the same again names the
    same branch. Raises OrgError if there is nothing to propose or git cannot do it, BusyError while another process
    works on the project.
    """
    git, head = open_git(project.root, environ), read_head_commit(project.root, project.common_dir)
    if git is None or not head:
        raise OrgError("This repository has no commit, or git is not installed.", where=str(project.root))
    with hold_project_lock(home, project.key, "proposing memories"):
        changed, contents, problems = _find_changes(ReviewPaths(project, home), git, head)
    if not changed:
        raise OrgError(
            "Every memory here is committed already.", where=str(project.memory_dir), todo="Accept some in the review."
        )
    owners = load_code_owners(project.root)
    found = [find_reviewers(owners, one.record.references, project.memory_folder) for one in changed]
    reviewers = list(dict.fromkeys(owner for one in found for owner in one))
    title, text = _make_title(changed), _make_text(changed, reviewers)
    name = f"lerim/memories-{today.isoformat()}"
    for number in range(1, MAX_BRANCHES + 1):
        branch = f"{name}-{number}" if number > 1 else name
        made = ""
        if not find_branch(project.root, environ, branch)[0]:
            made = create_branch(project.root, environ, branch, head, f"{title}\n", contents)
        commit, parent = find_branch(project.root, environ, branch)  # another process may have made it meanwhile
        if not commit:
            break
        is_same = parent == head and git.read_texts([(commit, path) for path in contents]) == _texts(commit, contents)
        if commit != made and not is_same:
            continue
        push = f"git push --set-upstream origin {branch}"
        ids = [one.record.id for one in changed]
        return ProposedBranch(branch, commit, ids, title, text, reviewers, push, problems)
    todo = "See that `git config user.name` and `user.email` are set, and that no branch is called `lerim`."
    raise OrgError("Git could not create the branch.", where=name, todo=todo)


def _texts(commit: str, contents: Mapping[str, bytes | None]) -> dict[tuple[str, str], str]:
    return {(commit, path): content.decode() for path, content in contents.items() if content is not None}


def _find_changes(
    paths: ReviewPaths, git: Git, head: str
) -> tuple[list[_Changed], dict[str, bytes | None], list[Problem]]:
    """Returns the memories whose text is not in the commit, and the new content of every path (None: removed)."""
    project, store = paths.project, paths.store()
    here, problems = store.find_files(archived=True)
    committed = set(git.list_files(head, project.memory_folder) or ())
    names = {f"{project.memory_folder}/{one.name}": one for one in here}
    known = git.read_texts([(head, path) for path in names])
    changed: list[_Changed] = []
    contents: dict[str, bytes | None] = {}
    for path, one in names.items():
        if "\n" in path:  # git cannot be asked for it, so that every proposal would look like a new one
            problems.append(Problem("org", path, "It is left out of the branch: its name has a line end. Rename it."))
            continue
        try:
            text = files.read_text(one.path, MAX_FILE_BYTES, store.anchor)
            record = redact_record(parse_record(text, one.path))
        except LerimError as error:
            problems.append(error.problem(path))
            continue
        if text.replace("\r\n", "\n") != known.get((head, path), "").replace("\r\n", "\n"):
            is_ended = status_of(record, one.is_archived) != "active"
            changed.append(_Changed(path, text, record, is_ended))
            contents[path] = text.encode()
            moved_from = _other_place(project.memory_folder, one)
            if moved_from in committed and moved_from not in names:
                contents[moved_from] = None
    return changed, contents, problems


def _other_place(folder: str, found: MemoryFile) -> str:
    """Returns the place of the file if it is archived and was not before, or the other way round."""
    other = found.name.removeprefix("archived/") if found.is_archived else f"archived/{found.name}"
    return f"{folder}/{other}"


def _make_title(changed: Sequence[_Changed]) -> str:
    parts = []
    for primitive, _ in _SECTIONS:
        count = sum(one.record.primitive == primitive and not one.is_ended for one in changed)
        parts += [f"{count} {primitive}{'' if count == 1 else 's'}"] if count else []
    ended = sum(one.is_ended for one in changed)
    parts += [f"{ended} that no longer {'holds' if ended == 1 else 'hold'}"] if ended else []
    return f"Memories: {', '.join(parts)}"


def _make_text(changed: Sequence[_Changed], reviewers: Sequence[str]) -> str:
    """Returns the text of the pull request. Every text of a memory is a code span, in which neither links nor mentions
    have an effect."""
    lines = ["What was decided and learned with coding agents, as it was reviewed. Each is a file of this branch."]
    shown = changed[:MAX_LISTED]
    groups = [(title, [o for o in shown if o.record.primitive == name and not o.is_ended]) for name, title in _SECTIONS]
    for title, group in (*groups, ("No longer holds", [one for one in shown if one.is_ended])):
        if group:
            lines += ["", f"### {title}", ""]
            lines += [line for one in group for line in _describe(one)]
    if len(changed) > MAX_LISTED:
        lines += ["", f"… and {len(changed) - MAX_LISTED} more."]
    if reviewers:
        lines += ["", f"Reviewers by CODEOWNERS: {', '.join(map(safe_code_span, reviewers))}"]
    return "\n".join(lines) + "\n"


def _describe(one: _Changed) -> list[str]:
    about = ", ".join(map(safe_code_span, one.record.references[:5]))
    platform, session, _ = source_parts(one.record.source)
    lines = [f"- {safe_code_span(one.record.title)}" + (f" about {about}" if about else "")]
    said = {"user": "a person", "assistant": "the agent", "tool": "a tool", "web": "a page"}
    lines += [
        f"  - {said[quote.who]} said {safe_code_span(quote.quote)}" for quote in one.record.evidence if quote.quote
    ]
    return [
        *lines,
        f"  - session {safe_code_span(session)} of {safe_code_span(platform)}" if session else "  - written by hand",
    ]
