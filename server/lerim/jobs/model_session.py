"""Asks a model on behalf of a job: chooses it, checks that it may be asked, pays for it and applies the stop rules.

The stop rules: the session ends at once if the key is refused, the budget is used up, the model no longer exists or
spending cannot be recorded, because every other question would fail as well. It also ends after two questions in a row
without an answer. Any other error concerns only its own question, and the next one is asked. If a queued job gets no
answer for a reason unrelated to its session, it waits for a later sync and keeps its number of tries. A failure of the
service, a connection that breaks after the question was sent, or a refusal counts as a try only if the service answered
another session in the same run, so that an outage gives up no session, but a session at which the service fails is
given up after a few. One that is put back again and again waits longer each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from lerim import extraction, models
from lerim.errors import (
    BudgetError,
    LerimError,
    ModelAwayError,
    ModelFaultError,
    ModelGoneError,
    ModelKeyError,
    ModelRefusedError,
    ModelSilentError,
    Problem,
    SpendingError,
    StoppedError,
    TooDearError,
    UnfinishedError,
    WindowTooLargeError,
)
from lerim.jobs.report import SyncState
from lerim.models import (
    DayBudget,
    EditorBridge,
    Model,
    ModelStep,
    RoleUsage,
    StepKind,
    Usage,
    WaitReason,
    attribute_calls,
    total_usage,
)
from lerim.paths import Home
from lerim.review import ReviewPaths
from lerim.sessions import Catalog, QueueJob

if TYPE_CHECKING:
    from lerim.models import dspy

MAX_UNANSWERED = 2
"""Questions in a row without an answer after which no more are asked."""
UNFINISHED_SECONDS = 30.0
"""How many seconds a session waits if its agent was rewriting it when it was read."""
REFUSED_SECONDS = 600.0
"""How many seconds a session waits after a refusal that the settings may have caused, so that others come first."""
RETRY_DELAYS: tuple[tuple[type[Exception], float], ...] = (
    (StoppedError, 0.0),
    (TooDearError, 3600.0),  # no daily budget allows it; a sync that the person starts claims it earlier
    (BudgetError, 0.0),
    (ModelKeyError, 0.0),
    (SpendingError, 0.0),
    (ModelGoneError, 0.0),
    (WindowTooLargeError, REFUSED_SECONDS),
    (ModelRefusedError, REFUSED_SECONDS),
    (ModelSilentError, 60.0),
    (UnfinishedError, UNFINISHED_SECONDS),
)
"""The errors after which a job is put back, and for how many seconds; the first match counts. Others fail the job."""

Answer = TypeVar("Answer")


@dataclass(slots=True)
class ModelSession:
    """One model, asked by one job. `budget` pays for calls that cost money, `bridge` leads to the editor's own models,
    `environ` is the environment of a command or an agent's program. `choice_problems` are those of choosing the model.

    `ended`: nothing more is asked. `state` is partial if something was left undone. `wait_reason` says why the session
    ended early, if not because of an error in a question.
    """

    model: Model
    home: Home
    cancelled: Callable[[], bool]
    budget: DayBudget
    bridge: EditorBridge | None = None
    environ: Mapping[str, str] | None = None
    state: SyncState = "done"
    wait_reason: WaitReason = ""
    ended: bool = False
    choice_problems: Sequence[Problem] = ()
    _problems: list[Problem] = field(default_factory=list, init=False)
    _steps: list[ModelStep] = field(default_factory=list, init=False)
    _steps_taken: int = field(default=0, init=False)
    _unanswered: int = field(default=0, init=False)
    _has_answered: bool = field(default=False, init=False)
    _engine: models.Engine | None = field(default=None, init=False)
    _lm: dspy.LM | None = field(default=None, init=False)

    @property
    def engine(self) -> models.Engine:
        """The engine that makes the calls, created at the first use."""
        if self._engine is None:
            self._engine = models.Engine(
                self.model,
                self.cancelled,
                home=self.home,
                environ=self.environ,
                budget=self.budget,
                bridge=self.bridge,
            )
        return self._engine

    @property
    def lm(self) -> dspy.LM:
        """The DSPy model that uses the engine, created at the first use because importing DSPy takes a second."""
        if self._lm is None:
            self._lm = models.make_language_model(self.engine)
        return self._lm

    @property
    def has_answered(self) -> bool:
        """Whether the model answered a question, so that its service works and the settings are right."""
        return self._has_answered

    @property
    def spent(self) -> list[RoleUsage]:
        """The usage of the calls so far, by role and model."""
        return self._engine.role_usage if self._engine else []

    @property
    def usage(self) -> Usage:
        """The total usage of the calls so far."""
        return total_usage(self.spent)

    @property
    def problems(self) -> list[Problem]:
        """The problems so far, including those with recording costs."""
        return [*self.choice_problems, *self._problems, *self.budget.problems]

    @property
    def steps(self) -> list[ModelStep]:
        """The events so far besides plain answers, in order."""
        self._take_engine_steps()
        return list(self._steps)

    def add_step(self, step: ModelStep) -> None:
        """Adds a step after the engine's steps so far."""
        self._take_engine_steps()
        self._steps.append(step)

    def note(self, kind: StepKind, why: str, where: str = "") -> None:
        """Adds a step of this session's model."""
        self.add_step(ModelStep(kind, self.model.role, self.model.label, why, where))

    def add_problem(self, problem: Problem) -> None:
        """Records a problem with an answer; the session goes on."""
        self.state = "partial"
        self._problems.append(problem)

    def stop(self, why: str) -> None:
        """Ends the session, and adds a step that says why."""
        self.ended = True
        self.note("stopped", why)

    def ask(self, question: Callable[[], Answer], where: str = "") -> Answer | LerimError | StoppedError:
        """Asks one question under the stop rules. Returns its answer, or the error that it ended with.

        The error is already recorded: as a problem that names `where` (default: the model), or as the end of the
        session.
        """
        try:
            answer = question()
        except StoppedError as error:
            self.state, self.ended = "cancelled", True
            return error
        except LerimError as error:
            self._handle_failure(error, where)
            return error
        self._unanswered, self._has_answered = 0, True
        return answer

    def _handle_failure(self, error: LerimError, where: str) -> None:
        if isinstance(error, TooDearError | UnfinishedError):
            return  # not an error, and the next question may be answered
        if isinstance(error, BudgetError):  # not an error either
            self.wait_reason = "budget"
        elif isinstance(error, ModelGoneError):
            self.wait_reason = "gone"
            self.add_problem(error.problem(self.model.label))
        elif isinstance(error, ModelKeyError):
            self.add_problem(error.problem(self.model.key_variable or self.model.label))
        else:
            self.add_problem(error.problem(where or self.model.label))
        if isinstance(error, BudgetError | ModelGoneError | ModelKeyError | SpendingError):
            self.stop(error.safe_message)
            return
        self._unanswered = self._unanswered + 1 if isinstance(error, ModelSilentError | ModelRefusedError) else 0
        if self._unanswered == MAX_UNANSWERED:
            self.stop("two questions in a row got no answer; the rest waits for the next run")

    def _take_engine_steps(self) -> None:
        if self._engine is not None:
            steps = self._engine.steps
            self._steps += steps[self._steps_taken :]
            self._steps_taken = len(steps)


def make_session_extraction(
    session: ModelSession,
    material: extraction.Material,
    place: ReviewPaths,
    guidance: extraction.Guidance,
    earlier_claims: Sequence[extraction.EarlierClaim],
    *,
    gate: bool,
) -> extraction.SessionExtraction:
    """Prepares the questions about a session's new turns, with the answers in the project's private folder."""
    model = session.model
    cache_key = "\n".join((model.label, guidance.person)).strip()
    return extraction.SessionExtraction(
        session.lm,
        material,
        extraction.make_brief(material, place.project.root.name, guidance),
        earlier_claims,
        max_tokens=model.max_window_tokens,
        overlap_tokens=model.window_overlap_tokens,
        answer_cache=extraction.AnswerCache(place.private / "windows", cache_key, extraction.WindowAnswer),
        gate=gate,
        model=model.label,
    )


def ask_about_jobs(
    session: ModelSession,
    catalog: Catalog,
    jobs: Iterable[tuple[QueueJob, Callable[[str], None]]],
    ask: Callable[[QueueJob, Callable[[str], None]], None],
    *,
    refusals_count: bool = True,
) -> None:
    """Asks about each of the claimed jobs until the session ends. `ask` finishes a job that is answered.

    A job at which the service failed or the connection broke, that the service refused, or for which no answer came in
    time, has failed if the service answered another one. If it did not fail, a job that was refused or got no answer
    has also failed if the session did not end early, so that none is asked about for ever. Otherwise it is put back
    and comes after the others. `refusals_count`: if False, a refused job is always put back. Raises CatalogError.
    """
    doubtful: list[tuple[QueueJob, LerimError, float]] = []
    for job, emit_message in jobs:
        name = f"{job.transcript.platform}:{job.transcript.session_id}"
        with attribute_calls(name):
            error = session.ask(partial(ask, job, emit_message), str(job.transcript.path))
        delay = next((seconds for kind, seconds in RETRY_DELAYS if isinstance(error, kind)), None)
        is_unsent = isinstance(error, ModelAwayError) and not isinstance(error, ModelFaultError)
        if delay is not None and isinstance(error, ModelRefusedError | ModelSilentError) and not is_unsent:
            doubtful.append((job, error, delay))  # the other jobs show whether this one is the cause
        elif delay is not None:
            catalog.put_back_job(job, delay)
        elif isinstance(error, LerimError):
            catalog.fail_job(job, error.message)
        if isinstance(error, TooDearError):
            session.note("dear", error.explanation.rstrip("."), name)
        if isinstance(error, WindowTooLargeError):  # its window is smaller than any session needs
            session.wait_reason = "gone"
            session.stop(error.safe_message)
        if session.ended:
            break
    for job, doubt, seconds in doubtful:
        is_outage = isinstance(doubt, ModelFaultError)
        if isinstance(doubt, ModelRefusedError) and not refusals_count:
            catalog.put_back_job(job)
        elif session.has_answered or (not is_outage and not session.ended):
            catalog.fail_job(job, doubt.message)
        else:
            catalog.put_back_job(job, seconds, last=True)
