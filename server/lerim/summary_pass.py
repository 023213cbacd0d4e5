"""The part of a sync that summarizes sessions, after all candidates: first by rules, then by a model if there is one.

Summaries are memories nobody reviews: they are git-ignored, and no hover, lens or search shows them. They are written
once the project has a `.lerim/`, which they never make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lerim import config, editor_settings
from lerim.errors import BoundaryError, MemoryError_, Problem, TranscriptError
from lerim.extraction.locate import Locator
from lerim.extraction.summarize import summarize
from lerim.extraction.summary import Summary, body
from lerim.extraction.summary_facts import Facts
from lerim.learning import SETTLED_AFTER, Learning
from lerim.memory.record import MemoryRecord
from lerim.memory.summaries import Summaries, opened
from lerim.models.choose import choose
from lerim.models.model import Model
from lerim.paths import Home
from lerim.project import Project
from lerim.redaction import clean
from lerim.report import Progress
from lerim.review.place import Place
from lerim.review.run import SummaryAction
from lerim.sessions import owed as waiting
from lerim.sessions.catalog import Catalog
from lerim.sessions.catalog_schema import telling
from lerim.sessions.model import NAMES, Platform
from lerim.sessions.owed import Owed
from lerim.sessions.readers import faults_as_errors
from lerim.sessions.retold import Told, retold

RULES = "rules"
SURE: dict[bool, float] = {True: 0.9, False: 0.7}
"""The confidence of a summary by the rules, which says what is on record, and of one by a model."""
TOGETHER = 50
"""Sessions after which the catalog is told what is done."""


@dataclass(slots=True)
class SummaryPass:
    """The summaries of one sync by the rules. `by_model` says whether a model will be asked in this sync for those it
    wrote before, so that they are left to it."""

    catalog: Catalog
    learning: Learning
    now: datetime
    by_model: Callable[[], bool]
    _done: list[int] = field(default_factory=list, init=False)
    _others: list[int] = field(default_factory=list, init=False)

    def run(self, since: datetime | None, until: datetime | None) -> None:
        """Writes the summaries that are missing or old by the rules, the newest session first.

        A file that cannot be written ends this, and is a problem; the rest waits. Raises CatalogError.
        """
        place, learning = self.learning.place, self.learning
        if not place.state.is_dir():
            return
        with telling(self.catalog.path):
            sessions = waiting.owed(self.catalog.db, place.project.key, since, until)
        sessions = [one for one in sessions if self._settled(one)]
        if not sessions:
            return
        try:
            place.make_state()
            place.make_private()
            with opened(place.state / "memory", place.state_anchor, place.private) as summaries:
                for number, one in enumerate(sessions):
                    if learning.cancelled():
                        break
                    if number % TOGETHER == 0:
                        self._settle()
                        told = f"summarizing {len(sessions) - number} sessions"
                        learning.emit(Progress("learning", number, len(sessions), len(learning.candidates), told))
                    self._summarize(one, summaries)
        except (MemoryError_, BoundaryError) as error:
            learning.problems.append(error.problem())
        finally:
            self._settle()

    def _settled(self, one: Owed) -> bool:
        return self.learning.explicit or one.changed + SETTLED_AFTER.total_seconds() <= self.now.timestamp()

    def _settle(self) -> None:
        if self._done or self._others:
            with telling(self.catalog.path):
                waiting.settled(self.catalog.db, self._done, self._others)
        self._done, self._others = [], []

    def _summarize(self, one: Owed, summaries: Summaries) -> None:
        session = f"{one.platform}:{one.session}"
        if summaries.maker(session) not in ("", RULES) and self.by_model():
            self._done.append(one.job)
            return
        place = self.learning.place
        with telling(self.catalog.path):
            turns = retold(self.catalog.db, one.place, place.project.key)
        try:
            with faults_as_errors(one.platform, one.place):
                made = summarize(turns, facts(one.platform, one.title), locator(place, turns))
        except TranscriptError as error:
            self.learning.problems.append(error.problem(one.place))
            made = None
        if made is None:
            self._others.append(one.job)
            return
        kept = keep(summaries, made, turns, one.platform, one.session, RULES, self.learning)
        (self._done if kept else self._others).append(one.job)


def summarizing(project: Project, home: Home, environ: Mapping[str, str]) -> tuple[Model | None, list[Problem]]:
    """The model the settings name for summaries, if any, and why none is asked."""
    settings, _ = config.load(environ, home, project.root)
    return choose("summarize", settings, environ, editor_settings.told(environ)[0])


def facts(platform: Platform, title: str) -> Facts:
    """What a summary is told of a session."""
    return Facts(platform, NAMES[platform], title)


def locator(place: Place, turns: list[Told]) -> Callable[[str, str], str]:
    """Makes repo-relative paths of those in a session's calls, also of files that are gone by now."""
    project = place.project
    locate = Locator((str(project.root), *((str(project.main),) if project.main else ()), *project.folders))
    for turn in turns:
        locate.meet(turn.cwd)
    return locate


def keep(
    summaries: Summaries,
    made: Summary,
    turns: list[Told],
    platform: Platform,
    session: str,
    maker: str,
    learning: Learning,
) -> bool:
    """Writes a summary by `maker` and notes what became of it; False where a person made the file their own.

    Raises MemoryError_, BoundaryError.
    """
    times = [turn.time for turn in turns if turn.time is not None]
    name = clean(f"{platform}:{session}")
    start = min(times, default=datetime.fromtimestamp(0, tz=learning.run.started.tzinfo))
    record = MemoryRecord(
        id="",
        primitive="summary",
        title=made.title,
        created=start.replace(microsecond=0),
        updated=max(times, default=start).replace(microsecond=0),
        source=f"{name}#{turns[0].id}",
        confidence=SURE[maker == RULES],
        tags=made.tags,
        body=body(made),
        references=made.paths,
    )
    path, done = summaries.write(record, name, maker)
    if done != "unchanged":
        learning.run.summaries.append(SummaryAction(done, session, platform, made.title, str(path), maker))
    if done == "theirs":
        learning.run.note(f"a summary was edited by hand and stays as it is: {path.name}")
    return done != "theirs"


__all__ = ["RULES", "SummaryPass", "facts", "keep", "locator", "summarizing"]
