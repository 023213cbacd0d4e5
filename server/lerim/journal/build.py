"""Builds the entry of a day from sessions, git and memories, without a model. The same input gives the same bytes.

An entry never contains anything from after its day, whenever it is built: it rests on turns and commits before the
end of the day, and on the memories as they were when the day began and ended. The exception is that whatever the
person rejects in the review, even later, is left out of what was decided, learned and left open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from pathlib import Path

from lerim import extraction
from lerim.config import load
from lerim.errors import LerimError, Problem
from lerim.journal.days import DaySpan, day_span, local_day
from lerim.journal.entry import DraftSentence, JournalDay, JournalEntry, JournalPage, number_sources
from lerim.journal.render import link_in_editor, render_markdown
from lerim.journal.sources import (
    DayNote,
    MemoriesOfDay,
    describe_accepted,
    describe_commits,
    describe_memories,
    describe_notes,
    describe_obsolete,
    describe_session,
    is_included,
    load_memories_of_day,
    mark_repeated,
    read_notes,
)
from lerim.paths import Home, user_home
from lerim.project import Commit, Git, History, Project, Tag, open_git
from lerim.review import ReviewPaths
from lerim.sessions import (
    Catalog,
    WorkedSession,
    convert_sqlite_errors,
    list_facts_between,
    list_worked_times,
    load_worked_sessions,
)
from lerim.times import format_date

OWN_SENTENCES_PER_OTHER = 1 / 3
"""Maximum number of sentences from Lerim's own earlier output for each other sentence of an entry, which makes them
at most a quarter of all."""
GIT_SILENT = "Git did not list the commits: it failed, took too long, or there are too many. The entry has none."


@dataclass(frozen=True, slots=True)
class JournalScope:
    """The scope of a journal: a project, Lerim's home, the time zone of the days (None: this machine's), and the
    person's notes and feed files (`journal.sources`)."""

    project: Project
    home: Home
    environ: Mapping[str, str]
    zone: tzinfo | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DayMaterial:
    """The material that an entry is made from. `review` has what the person rejected. `memories` are those of the
    whole day; `errors` are the last errors of commands and tools, by turn; `git` reads committed files. A release
    (`is_release`) has no sessions, because only what was committed and kept is part of it."""

    review: ReviewPaths
    span: DaySpan
    sessions: Sequence[WorkedSession]
    commits: Sequence[Commit]
    tags: Sequence[Tag]
    memories: MemoriesOfDay
    errors: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[DayNote] = ()
    git: Git | None = None
    problems: list[Problem] = field(default_factory=list)
    is_release: bool = False


def open_journal(project: Project, home: Home, environ: Mapping[str, str]) -> JournalScope:
    """Returns the journal of a project with the sources that the settings name. Raises SettingsError."""
    settings, _ = load.load_settings(environ, home, None if project.is_personal else Path(project.root))
    return JournalScope(project, home, environ, sources=settings.journal_sources)


def build_entry(scope: JournalScope, day: date, now: datetime) -> JournalEntry:
    """Builds the entry of a local day as far as it has passed at `now`. Raises CatalogError, MemoryError_, and
    ValueError for a day far outside the calendar."""
    span = day_span(day, scope.zone)
    until = max(span.since, min(span.until, now))
    return make_entry_by_rules(collect_material(scope, DaySpan(day, span.since, until)))


def list_days(scope: JournalScope) -> list[JournalDay]:
    """Returns the days on which something was said in sessions or committed, newest first. Raises CatalogError."""
    times: list[datetime] = []
    if scope.home.catalog.exists():
        with Catalog.open(scope.home) as catalog, convert_sqlite_errors(catalog.path):
            times = list_worked_times(catalog.db, scope.project.key)
    said = {local_day(time, scope.zone) for time in times}
    committed = [] if scope.project.is_personal else _history(scope).list_commit_times() or []
    commits = Counter(local_day(time, scope.zone) for time in committed)
    return [JournalDay(day.isoformat(), commits[day], day in said) for day in sorted(said | set(commits), reverse=True)]


def collect_material(scope: JournalScope, span: DaySpan, only: Collection[str] | None = None) -> DayMaterial:
    """Collects the material for an entry; with `only`, for a release of the commits with these hashes.

    Raises CatalogError, MemoryError_.
    """
    project, problems = scope.project, list[Problem]()
    sessions, errors = list[WorkedSession](), dict[str, str]()
    if only is None and scope.home.catalog.exists():
        with Catalog.open(scope.home) as catalog, convert_sqlite_errors(catalog.path):
            sessions = load_worked_sessions(catalog.db, project.key, span.since, span.until)
            facts = list_facts_between(catalog.db, project.key, span.since, span.until)
            errors = {one.turn: one.fact.value for one in facts if one.fact.relation == "produced_error"}
    commits, tags, git = list[Commit](), list[Tag](), None
    if not project.is_personal:
        history = _history(scope)
        found, found_tags = history.list_commits(span.since, span.until), history.list_tags()
        if found is None or found_tags is None:
            problems.append(Problem("journal-git", str(project.root), GIT_SILENT))
        commits = [one for one in found or () if only is None or one.hash in only]
        tags = [tag for tag in found_tags or () if span.since <= tag.time < span.until]
        git = open_git(Path(project.root), scope.environ)
    memories, more = load_memories_of_day(project, scope.home, span.since, span.until)
    notes, unread = list[DayNote](), list[Problem]()
    if scope.sources:
        notes, unread = read_notes(scope.sources, Path(user_home(scope.environ)), span, scope.zone)
    problems += [*more, *unread]
    review = ReviewPaths(project, scope.home)
    return DayMaterial(review, span, sessions, commits, tags, memories, errors, notes, git, problems, only is not None)


def make_entry_by_rules(material: DayMaterial) -> JournalEntry:
    """Makes the entry of a day by rules, without a model."""
    drafts, problems = draft_day(material)
    kept = drafts if material.is_release else limit_own_output(drafts)
    sentences, sources = number_sources(kept)
    return JournalEntry(
        day=material.span.day.isoformat(),
        title=f"Journal of {format_date(material.span.day)}",
        sentences=sentences,
        sources=sources,
        sessions=len(material.sessions),
        commits=sum(map(is_included, material.commits)),
        left_out=len(drafts) - len(kept),
        problems=[*material.problems, *problems],
    )


def draft_day(material: DayMaterial) -> tuple[list[DraftSentence], list[Problem]]:
    """Returns all sentences about a day, and a problem for each session that cannot be read."""
    problems: list[Problem] = []
    said: list[DraftSentence] = []
    for session in material.sessions:
        try:
            said += describe_session(session, material.review, len(material.sessions), material.errors)
        except LerimError as error:
            problems.append(error.problem(session.place))
    drafts = [*mark_repeated([*said, *describe_notes(material.notes)], material.memories.before)]
    drafts += describe_commits(material.commits, material.tags)
    # A decision of the day is often why the thing it names was deleted or closed; for a question, that is the answer.
    asked = [item for item in material.memories.added if item.record.primitive == "question"]
    drafts += describe_obsolete(material.commits, [*material.memories.before, *asked], material.git)
    drafts += describe_memories(material.memories, drafts)
    drafts += describe_accepted(material.memories)
    return drafts, problems


def limit_own_output(drafts: Sequence[DraftSentence]) -> list[DraftSentence]:
    """Returns the sentences, without those from Lerim's own earlier output that exceed a quarter of all, so that the
    journal does not begin to repeat itself. The first ones stay."""
    others = sum(not draft.is_own_output and draft.origin != "review" for draft in drafts)
    left = int(others * OWN_SENTENCES_PER_OTHER)
    kept: list[DraftSentence] = []
    for draft in drafts:
        left -= draft.is_own_output
        if left >= 0 or not draft.is_own_output:
            kept.append(draft)
    return kept


def _history(scope: JournalScope) -> History:
    return History(Path(scope.project.root), scope.environ)


def build_page(scope: JournalScope, day: date | None, now: datetime) -> JournalPage:
    """Builds the page of a day (None: today) for the person whose sessions these are. Raises CatalogError,
    MemoryError_, and ValueError for a day far outside the calendar."""
    shown = day or local_day(now, scope.zone)
    entry = build_entry(scope, shown, now)
    days = [one.day for one in list_days(scope)]  # newest first
    return JournalPage(
        day=entry.day,
        title=entry.title,
        markdown=extraction.address_person(render_markdown(entry, link_in_editor, link_in_editor)),
        previous=next((one for one in days if one < entry.day), ""),
        next=next((one for one in reversed(days) if one > entry.day), ""),
        problems=[problem.message for problem in entry.problems],
    )
