"""The part of a sync that asks a model, after the rules: each session of the project that the rules have read.

What the rules proposed stands whatever happens here. A refused key or a model that is not there ends this part at once,
with nothing counted against the sessions; so does what two sessions in a row are refused, and a service that does not
answer twice in a row ends it, too; anything else is one session's trouble. What came of a session before its trouble is
kept, and the next sync goes on there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from lerim import config, editor_settings
from lerim.errors import (
    BudgetError,
    LerimError,
    ModelAwayError,
    ModelGoneError,
    ModelKeyError,
    ModelRefusedError,
    ModelSilentError,
    Problem,
    SpendingError,
    TooDearError,
    UnfinishedError,
    WindowTooLargeError,
)
from lerim.facts.draft import RANKED
from lerim.learning import SETTLED_AFTER, UNFINISHED_SECONDS, CancelledError, Ended, Learning
from lerim.memory.search import MemorySearch
from lerim.models.choose import choose
from lerim.models.editor import Bridge
from lerim.models.model import Model
from lerim.models.spending import Purse
from lerim.models.usage import Spent, Step, Why
from lerim.moments import moment
from lerim.paths import Home
from lerim.project import Project
from lerim.report import Progress, State
from lerim.review import queue as review
from lerim.sessions.catalog import Catalog, Job
from lerim.sessions.queue import EXTRACT, MODEL
from lerim.sessions.readers import faults_as_errors, reading

if TYPE_CHECKING:
    import dspy

    from lerim.extraction.counts import Counts
    from lerim.extraction.grounding import Said
    from lerim.extraction.guidance import Guidance
    from lerim.extraction.material import Material
    from lerim.extraction.model import Result
    from lerim.models.engine import Engine

AWAY_SECONDS = 60.0
"""How long a session waits whose model could not be reached, or wanted no more requests."""
REFUSED_SECONDS = 600.0
"""How long a session waits that was refused for what may lie in the settings, so that others get their turn."""
TOO_DEAR_SECONDS = 3600.0
"""How long a session waits of which no day's budget allows to ask; a sync the person asks for takes it before."""
SILENT = 2
"""Sessions in a row that get no answer before the rest is left for the next sync."""
NEWEST = 200  # memories whose tags tell what the person cares about

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Choice:
    """The model to be asked, since when sessions are read, what a day may cost in US dollars (0: without a bound),
    whether only windows with a signal are sent, what the person typed for the model to heed, and the problems that keep
    a model from being asked."""

    model: Model | None
    since: datetime | None
    budget: float
    gate: bool
    guidance: str
    problems: list[Problem]


def chosen(project: Project, home: Home, environ: Mapping[str, str], now: datetime) -> Choice:
    """What the settings say for this project."""
    settings, _ = config.load(environ, home, project.root)  # what is wrong with the files is said where they are shown
    model, problems = choose("extract", settings, environ, editor_settings.told(environ)[0])
    since = moment(settings.since, now) if settings.since else None
    return Choice(model, since, settings.budget, settings.gate == "signal", settings.guidance, problems)


def too_dear(model: Model, job: Job, error: TooDearError) -> Step:
    """That a session waits because asking of it may cost more than a whole day may, and what a person can do."""
    session = f"{job.transcript.platform}:{job.transcript.session_id}"
    return Step("dear", model.role, model.label, error.explanation.rstrip("."), session)


@dataclass(slots=True)
class ModelPass:
    """One pass over the sessions that wait for a model. `state` is partial where something was left undone, `why` says
    what ended it early. Calls that are paid for are paid from `purse`. `guidance` is what the person wants the model to
    heed."""

    model: Model
    catalog: Catalog
    learning: Learning
    clock: Clock
    bridge: Bridge | None = None
    purse: Purse | None = None
    gate: bool = True
    guidance: str = ""
    state: State = "done"
    why: Why = ""
    spent: list[Spent] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    _engine: Engine | None = field(default=None, init=False)
    _lm: dspy.LM | None = field(default=None, init=False)
    _told: int = field(default=0, init=False)
    _sent: int = field(default=-1, init=False)
    _most: int = field(default=sys.maxsize, init=False)
    _refused: tuple[Job, str] | None = field(default=None, init=False)

    def run(self, started: float | None, since: datetime | None, until: datetime | None) -> None:
        """Works the queue off, the newest session first; `started`, `since` and `until` are those of `Catalog.claim`.

        Raises CatalogError; what else goes wrong becomes a problem.
        """
        self._work_off(started, since, until)
        self._alone()

    def _work_off(self, started: float | None, since: datetime | None, until: datetime | None) -> None:
        key = self.learning.place.project.key
        total, number, silent = self.catalog.pending(key, MODEL), 0, 0
        while silent < SILENT and (
            job := self.catalog.claim(key, kind=MODEL, started=started, since=since, until=until)
        ):
            self._tell(number, max(total, number + 1), f"asking {self.model.name}")
            number += 1
            try:
                ended = self._read(job, number, max(total, number))
            except CancelledError:
                self.catalog.put_back(job)
                self.state = "cancelled"
                return
            except TooDearError as error:
                self.catalog.put_back(job, TOO_DEAR_SECONDS)
                self.steps.append(too_dear(self.model, job, error))
                continue
            except (BudgetError, ModelKeyError, SpendingError, ModelGoneError, WindowTooLargeError) as error:
                self.catalog.put_back(job, REFUSED_SECONDS if isinstance(error, WindowTooLargeError) else 0)
                self._ended(error)
                return
            except UnfinishedError:
                self.catalog.put_back(job, UNFINISHED_SECONDS)
            except ModelAwayError as error:
                silent += 1
                self.catalog.put_back(job, AWAY_SECONDS)
                self._problem(error, str(job.transcript.path))
            except ModelRefusedError as error:
                self._problem(error, str(job.transcript.path))
                if self._again_refused(job):
                    return
                silent, self._refused = 0, (job, error.message)
                continue
            except LerimError as error:
                silent = silent + 1 if isinstance(error, ModelSilentError) else 0
                self.catalog.fail(job, error.message)
                self._problem(error, str(job.transcript.path))
            else:
                silent = 0
                self.catalog.done(job, ended.resume, ended.state, ended.again_at, redactions=ended.redactions)
            self._alone()
        if silent == SILENT:
            self._stop("no answer came for two sessions in a row; what waits is asked by the next sync")

    def _ended(self, error: LerimError) -> None:
        """No other session can fare better than the one that met this error."""
        if isinstance(error, BudgetError):  # which is no fault
            self.why = "budget"
        elif isinstance(error, ModelGoneError | WindowTooLargeError):
            self.why = "gone"
            self._problem(error, self.model.label)
        else:
            self._problem(error, self.model.key_variable)
        self._stop(error.safe_message)

    def _again_refused(self, job: Job) -> bool:
        """Whether the session before this one was refused, too; nothing is counted against either then."""
        if self._refused is None:
            return False
        for one in (self._refused[0], job):
            self.catalog.put_back(one, REFUSED_SECONDS)
        self._refused = None
        self._stop("two sessions in a row were refused")
        return True

    def _alone(self) -> None:
        """A session that was refused, and the next was not: the trouble is its own."""
        if self._refused is not None:
            self.catalog.fail(*self._refused)
            self._refused = None

    def _problem(self, error: LerimError, where: str) -> None:
        self.state = "partial"
        self.learning.problems.append(error.problem(where))

    def _stop(self, why: str) -> None:
        self.steps.append(Step("stopped", self.model.role, self.model.label, why))

    def _tell(self, done: int, total: int, message: str) -> None:
        self.learning.emit(Progress("learning", done, total, len(self.learning.candidates), message))

    def _read(self, job: Job, number: int, total: int) -> Ended:
        """Reads one session and asks of what is new in it. How far it got is kept also where it ends in an error.

        Raises CancelledError, TranscriptError, ModelError, SettingsError, MemoryError_.
        """
        from lerim.extraction.counts import Counts
        from lerim.extraction.material import Material
        from lerim.redaction import counting

        transcript, learning, project = job.transcript, self.learning, self.learning.place.project
        read = reading(transcript, job.resume)
        turns = iter(read)
        first = next(turns, None)
        material = Material(
            None if project.is_personal else project.root,
            transcript.session_id,
            transcript.platform,
            None if read.restarted else job.state,
            exists=lambda path: not project.is_personal and (project.root / path).exists(),
            roots=project.folders,
        )
        while first is not None:
            if learning.cancelled():
                raise CancelledError
            if learning.owners.owner(first.cwd) == project.key:
                with faults_as_errors(transcript.platform, transcript.place):
                    material.add(first)
            first = next(turns, None)
        now = self.clock()
        settles = datetime.fromtimestamp(transcript.mtime_ns / 1e9, tz=now.tzinfo) + SETTLED_AFTER
        settled = learning.explicit or settles <= now
        ready = material.ready(settled)
        last = ready[-1].number if ready else -1
        counts, overlap, self._sent = Counts(self.catalog), self.model.window_overlap_tokens, material.sent
        before = 0 if read.restarted else job.redactions
        try:
            with counting() as secrets:
                if last > material.sent:
                    self._ask(job, material, settled, counts, lambda part: self._tell(number - 1, total, part))
        except (LerimError, CancelledError):
            if self._sent > material.sent:
                state = material.state(self._sent, overlap, counts)
                self.catalog.progressed(job, read.resume, state, before)
            raise
        state = material.state(max(last, material.sent), overlap, counts)
        counts.keep()
        return Ended(read.resume, state, None if settled else settles.timestamp(), redactions=before + len(secrets))

    def _ask(self, job: Job, material: Material, settled: bool, counts: Counts, tell: Callable[[str], None]) -> None:
        from lerim.extraction.answered import Answered
        from lerim.extraction.asking import CancelledCallError
        from lerim.extraction.guidance import metadata, metrics, told
        from lerim.extraction.model import Brief, extract

        learning = self.learning
        engine, lm = self._ready()
        facts, before = material.facts, self._before(job)
        results = extract(
            lm,
            material,
            Brief(
                metadata(facts, learning.place.project.root.name),
                metrics(facts),
                told(self._guidance(material, settled, before)),
            ),
            before,
            settled=settled,
            max_tokens=self.model.max_window_tokens,
            overlap_tokens=self.model.window_overlap_tokens,
            limit=lambda: min(self._most, engine.window_tokens),
            lower=self._lower,
            answered=Answered(learning.place.private / "windows", "\n".join((self.model.label, self.guidance)).strip()),
            count=counts,
            gate=self.gate,
            model=self.model.label,
        )
        try:
            with closing(results):
                for result in results:
                    self._take(job, result, engine, tell)
        except CancelledCallError as error:
            raise CancelledError from error
        finally:
            self._hear(engine)

    def _take(self, job: Job, result: Result, engine: Engine, tell: Callable[[str], None]) -> None:
        from lerim.extraction.candidate import Candidate, Dropped
        from lerim.extraction.merge import Joined
        from lerim.extraction.model import Asking, ModelRead, Sent

        match result:
            case Asking(part, joining):
                if self.learning.cancelled():
                    raise CancelledError
                named = ", joining parts" if joining else f", part {part}" if part else ""
                tell(f"asking {self.model.name}{named}")
            case ModelRead(turns):
                self.learning.leave_out_ranked(job.transcript, turns)
            case Sent(number):
                self._sent = number
            case Candidate() | Dropped():
                self.learning.take([result])
            case Joined(kept, gone):
                self.learning.join(kept, gone)
            case Step():
                self._hear(engine)
                self.steps.append(result)
            case Problem():
                self.state = "partial"
                self.learning.problems.append(result)

    def _lower(self, tokens: int) -> None:
        """From now on a window has at most so many tokens: the model refused more without saying what it takes."""
        self._most = min(self._most, tokens)

    def _hear(self, engine: Engine) -> None:
        """Takes over what the engine did since the last time."""
        self.spent, steps = engine.spent, engine.steps
        self.steps += steps[self._told :]
        self._told = len(steps)

    def _ready(self) -> tuple[Engine, dspy.LM]:
        """The engine and DSPy's model over it, made at the first call: importing DSPy takes a second."""
        if self._engine is None or self._lm is None:
            from lerim.models.engine import Engine
            from lerim.models.lm import language_model

            self._engine = Engine(
                self.model,
                self.learning.cancelled,
                home=self.learning.place.home,
                purse=self.purse,
                bridge=self.bridge,
            )
            self._lm = language_model(self.model, self._engine)
        return self._engine, self._lm

    def _before(self, job: Job) -> list[Said]:
        """What was proposed from this session already: what the rules claimed, and what waits for the person. What only
        ranked high gives way to the model's words, so the model is not kept from saying it."""
        from lerim.extraction.grounding import Said
        from lerim.extraction.state import unpack

        claims = unpack(self.catalog.state_of(job, EXTRACT)).claims
        source = f"{job.transcript.platform}:{job.transcript.session_id}#"
        waiting = [
            one.record
            for one in review.pending(self.learning.place)[0]
            if one.record.source.startswith(source) and not review.only_ranked(one)
        ]
        return [
            *(Said(claim.title, claim.turn) for claim in claims if claim.signal not in RANKED),
            *(
                Said(record.title, record.source.rpartition("#")[2], tuple(item.quote for item in record.evidence))
                for record in waiting
            ),
        ]

    def _guidance(self, material: Material, settled: bool, before: Sequence[Said]) -> Guidance:
        """What the model need not tell: what this session gave already, and memories that say something near."""
        from lerim.extraction.guidance import TITLES, Guidance, focus, query

        learning = self.learning
        if learning.memories is None:
            learning.memories = MemorySearch(learning.place.project, learning.place.home)
        prompts = [turn.words("user") for turn in material.ready(settled) if turn.role == "user"]
        near = learning.memories.near(query(material.facts, prompts), TITLES)
        newest = learning.memories.search("", NEWEST)
        known = dict.fromkeys((*(one.title for one in before), *(one.record.title for one in near)))
        return Guidance(tuple(known), focus(hit.record for hit in newest), self.guidance)
