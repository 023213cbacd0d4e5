"""Every error Lerim raises on purpose: `LerimError` and its subclasses.

Expected outcomes (nothing to extract, a duplicate, a claim that was rejected before) are return values, not errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


class StoppedError(Exception):
    """The person cancelled. This is raised to stop a computation, a read or a model call immediately; finished work
    is kept. The caller that started the operation catches it and reports the cancellation."""


class LerimError(Exception):
    """An error to show to the person: what happened, where, and what they can do.

    `code` is stable and part of every JSON answer; `exit_code` is the exit code of the command line.
    """

    code: str = "error"
    exit_code: ClassVar[int] = 1
    generic_message: ClassVar[str] = "it could not be done"
    """What happened, in Lerim's own words, because a message of the service may repeat the text that it was sent."""
    diff: str = ""
    """Text of a file, to be shown to the person only. It is not part of the message, so that it never reaches a log."""

    def __init__(self, message: str, *, where: str = "", todo: str = "") -> None:
        self.message = message
        self.where = where
        self.todo = todo
        super().__init__(" ".join(part for part in (message, f"({where})" if where else "", todo) if part))

    @property
    def explanation(self) -> str:
        """The text of what happened and of what the person can do, without `where`, for output that shows the place
        separately."""
        ended = (
            self.message if self.message.endswith((".", "!", "?", "…", ":")) or not self.todo else f"{self.message}."
        )
        return f"{ended} {self.todo}".strip()

    @property
    def safe_message(self) -> str:
        """What happened, without text from a service. Use it for anything stored on disk."""
        return self.generic_message

    def problem(self, where: str = "", *, code: str = "") -> Problem:
        """Returns this error as a problem, for a caller that continues despite the failure.

        `where` is the place to name if the error names none. `code` replaces the error's own code, for a problem
        that is identified by the operation that failed.
        """
        return Problem(code or self.code, self.where or where, self.explanation)


class UsageError(LerimError):
    """An unknown command or option, or an invalid value. Without `--json`, typer prints the message itself."""

    code = "usage"
    exit_code = 2


class RequestError(UsageError):
    """A request to the HTTP API has a query or a body that the operation does not take."""

    code = "request"


class SettingsError(LerimError):
    """A setting is unknown, invalid, or not allowed in the file that contains it."""

    code = "settings"


class HomeError(LerimError):
    """The home folder cannot be used: it is not set, not owned by the person, or inside the repository."""

    code = "home"


class ProjectError(LerimError):
    """There is no repository here, or it cannot be used."""

    code = "project"


class TranscriptError(LerimError):
    """A transcript cannot be opened at all; single bad records are counted as problems instead."""

    code = "transcript"


class UnfinishedError(TranscriptError):
    """A transcript that is always written as a whole is still being written. It is skipped silently; the next sync
    reads it."""

    code = "unfinished"


class ReaderError(TranscriptError):
    """A reader failed unexpectedly on a store or a session. The message names the exception type and the line of
    Lerim's code, never text of the session."""

    code = "reader"


class RankerError(LerimError):
    """The trained ranker in the package does not match the code: the installation is incomplete."""

    code = "ranker"


class CatalogError(LerimError):
    """The catalog of sessions cannot be used."""

    code = "catalog"


class MemoryError_(LerimError):  # noqa: N801, N818 - `MemoryError` is Python's own
    """A memory or candidate file cannot be read or written."""

    code = "memory"


class MissingReferenceError(MemoryError_):
    """Something that a memory refers to was not found, so that the memory cannot be compared with the code."""

    code = "missing-reference"


class NotFoundError(MemoryError_):
    """No memory or candidate has this id."""

    code = "not-found"


class UnknownProjectError(NotFoundError):
    """No registered repository has this key."""

    code = "project-unknown"


class ConflictError(MemoryError_):
    """Git could not merge the file and left both sides in it."""

    code = "memory-conflict"


class StaleError(MemoryError_):
    """The file changed since the person looked at it; nothing was overwritten. `diff` is the change, if known."""

    code = "stale"

    def __init__(self, message: str, *, where: str = "", todo: str = "", diff: str = "") -> None:
        super().__init__(message, where=where, todo=todo)
        self.diff = diff


class ModelError(LerimError):
    """A language model gave no usable answer."""

    code = "model"
    generic_message = "the model gave no answer that can be used"


class ModelKeyError(ModelError):
    """The model's key is missing or refused, or its account has no credit: other calls would fail as well."""

    code = "model-key"
    generic_message = "the key was refused, or the account has no credit"


class ModelSilentError(ModelError):
    """No answer arrived: the service is too slow, too busy, or cannot be reached."""

    code = "model-silent"
    generic_message = "no answer came"


class ModelAwayError(ModelSilentError):
    """The service cannot be reached or limits the rate of requests: the request itself is fine."""

    generic_message = "the service cannot be reached or is limiting requests"


class ModelFaultError(ModelAwayError):
    """The service failed, or the connection broke, after the question was sent. This may be an outage, or the
    service may fail at this very question."""

    generic_message = "the service failed before the answer was complete"


class ModelGoneError(ModelError):
    """The model does not exist (any more): the name is unknown, or the editor removed it or was
    closed."""

    code = "model-gone"
    generic_message = "the model cannot be asked"


class ModelRefusedError(ModelError):
    """The service rejects the request for a reason other than its content. The settings may be the cause, in which case
    every session fails in the same way."""

    generic_message = "the service refused the request"


class BudgetError(ModelError):
    """The day's budget does not allow another call; nothing was sent. Not a failure: pending calls are made another
    day."""

    code = "budget"
    generic_message = "the budget does not allow another call"

    @property
    def safe_message(self) -> str:
        """The message; it never contains text from a service."""
        return self.message


class WindowTooLargeError(ModelError):
    """The request exceeds the model's context window; half of it may fit."""

    generic_message = "the request exceeds the model's context window"


class TooDearError(BudgetError):
    """A single call may cost more than the budget of a whole day. It is never made with these settings; other calls may
    be."""


class SpendingError(ModelError):
    """The cost of a call cannot be determined or recorded, so the budget cannot be enforced; nothing was sent."""

    code = "spending"
    generic_message = "the cost of the call cannot be determined or recorded"


class ServerError(LerimError):
    """`lerim serve` cannot be started, or cannot be reached."""

    code = "server"


class NotTakenError(ServerError):
    """The running server did not take a request: it cannot be reached, or refuses it. Nothing was done."""


class NoAnswerError(ServerError):
    """A request was sent to the running server but no answer came, so the request may have been carried out."""


class OrgError(LerimError):
    """An organisation's database cannot be reached or used, or does not allow the request."""

    code = "org"


class BoundaryError(LerimError):
    """A path leads outside the folder it must stay in."""

    code = "boundary"


class BusyError(LerimError):
    """Another process is working on this project."""

    code = "busy"
    exit_code = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong with one record, file or line and did not stop the rest.

    `code` is stable; `path` says where (a file, possibly with `:line`); `message` is for people.
    """

    code: str
    path: str
    message: str

    def __post_init__(self) -> None:
        # File names may contain surrogates, which JSON cannot encode.
        for name in ("path", "message"):
            value = getattr(self, name)
            if not value.isascii():
                object.__setattr__(self, name, value.encode("utf-8", "replace").decode())


def find_error_type(code: str) -> type[LerimError]:
    """Returns the class of the errors with this code; `LerimError` if there is none."""
    waiting = [LerimError]
    while waiting:
        kind = waiting.pop(0)
        if kind.code == code:
            return kind
        waiting += kind.__subclasses__()
    return LerimError


def error_reason(error: BaseException) -> str:
    """Returns the system's message for an error, without the file name that `str(error)` adds for an OSError."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def error_location(error: BaseException) -> str:
    """Returns the place an error was raised, such as `file.py:12 in name`, without its message."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return "an unknown place"
    code = frame.tb_frame.f_code
    return f"{code.co_filename.replace(chr(92), '/').rsplit('/', 1)[-1]}:{frame.tb_lineno} in {code.co_name}"
