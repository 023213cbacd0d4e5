"""Every error Lerim raises on purpose.

LerimError
├── UsageError         the command line was not used as it is meant
├── SettingsError      a setting is unknown, broken or not allowed where it stands
├── HomeError          the home folder is not named, not the person's own, or in the repository
├── ProjectError       no repository, or one that cannot be used
├── TranscriptError    a transcript cannot be opened at all (bad records are counted, never raised)
│   ├── UnfinishedError  it is being written at this moment; the next sync reads it
│   └── ReaderError    the reader itself failed on it, in a way nobody expected
├── CatalogError       the catalog of sessions cannot be used
├── MemoryError_       a memory file cannot be read or written
│   ├── NotFoundError  no memory or candidate of that id
│   ├── ConflictError  git left both sides of a merge in the file
│   └── StaleError     the file changed since the person looked at it
├── ModelError         a language model did not answer, or not in a way that can be used
│   ├── ModelKeyError  its key is missing or refused, or the account has no credit
│   ├── ModelSilentError no answer came: too slow, too busy, unreachable
│   │   └── ModelAwayError  of these, unreachable or too many requests: nothing is wrong with what was asked
│   ├── ModelGoneError the model is not there (any more): a wrong name, or the editor's was removed
│   ├── WindowTooLargeError it takes less than it was shown
│   ├── ModelRefusedError the service does not take the request, for no reason that lies in what was shown
│   ├── BudgetError    the day's budget does not allow another call
│   │   └── TooDearError  nor would any other day's: this one call may cost more than a whole day
│   └── SpendingError  what a call costs cannot be told or recorded
├── BoundaryError      a path leads outside the folder it must stay in
└── BusyError          another process holds the project's lock

Expected outcomes (nothing to extract, a duplicate, a rejected claim met again) are return values, not errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


class StoppedError(Exception):
    """The person cancelled. It ends a calculation, a reading or a question to a model at once; what was done stays.
    Whoever started it catches it and says so."""


class LerimError(Exception):
    """An error to show to the person: what happened, where, and what they can do.

    `code` is stable and part of every JSON answer; `exit_code` is the command line's.
    """

    code: str = "error"
    exit_code: ClassVar[int] = 1
    gist: ClassVar[str] = "it could not be done"
    """What happened, in our words alone: a service's own may repeat what it was sent."""
    diff: str = ""
    """For the person's eyes alone: it holds text of a file, and no part of the message, so that no log has it."""

    def __init__(self, message: str, *, where: str = "", todo: str = "") -> None:
        self.message = message
        self.where = where
        self.todo = todo
        super().__init__(" ".join(part for part in (message, f"({where})" if where else "", todo) if part))

    @property
    def explanation(self) -> str:
        """What happened and what the person can do, for where the place is shown separately."""
        return f"{self.message} {self.todo}".strip()

    @property
    def safe_message(self) -> str:
        """What happened without any words of a service, for what a run keeps on disk."""
        return self.gist

    def problem(self, where: str = "", *, code: str = "") -> Problem:
        """Return this error as a problem, for a caller that goes on without what failed.

        `where` is the place to name if the error names none. `code` replaces the error's own, where the problem is
        known by what could not be done.
        """
        return Problem(code or self.code, self.where or where, self.explanation)


class UsageError(LerimError):
    """An unknown command or option, or a value that cannot be one; typer says it in words where no JSON was asked."""

    code = "usage"
    exit_code = 2


class SettingsError(LerimError):
    """A setting is unknown, broken, or not allowed where it stands."""

    code = "settings"


class HomeError(LerimError):
    """The home folder cannot be used: it is not named, not the person's own, or lies in the repository."""

    code = "home"


class ProjectError(LerimError):
    """There is no repository here, or it cannot be used."""

    code = "project"


class TranscriptError(LerimError):
    """A transcript cannot be opened at all; single bad records are counted as problems instead."""

    code = "transcript"


class UnfinishedError(TranscriptError):
    """A transcript that is always written whole is being written at this moment. Nothing of it is taken and nobody is
    told: the next sync meets it again."""

    code = "unfinished"


class ReaderError(TranscriptError):
    """A reader failed on a store or a session in a way nobody expected. The message names the kind of the fault and the
    line of our code, never text of the session."""

    code = "reader"


class RankerError(LerimError):
    """The learned ranker of the package does not fit its code: the installation is not whole."""

    code = "ranker"


class CatalogError(LerimError):
    """The catalog of sessions cannot be used."""

    code = "catalog"


class MemoryError_(LerimError):  # noqa: N801, N818 - `MemoryError` is Python's own
    """A memory or candidate file cannot be read or written."""

    code = "memory"


class NotFoundError(MemoryError_):
    """No memory or candidate has this id."""

    code = "not-found"


class ConflictError(MemoryError_):
    """Git could not merge the file and left both sides in it."""

    code = "memory-conflict"


class StaleError(MemoryError_):
    """The file changed since the person looked at it; nothing was overwritten. `diff` is the change, where known."""

    code = "stale"

    def __init__(self, message: str, *, where: str = "", todo: str = "", diff: str = "") -> None:
        super().__init__(message, where=where, todo=todo)
        self.diff = diff


class ModelError(LerimError):
    """A language model did not answer, or not in a way that can be used."""

    code = "model"
    gist = "the model gave no answer that can be used"


class ModelKeyError(ModelError):
    """The model's key is missing or refused, or its account has no credit: no other call can do better."""

    code = "model-key"
    gist = "the key was refused, or the account has no credit"


class ModelSilentError(ModelError):
    """No answer came: the service is too slow, too busy, or cannot be reached."""

    code = "model-silent"
    gist = "no answer came"


class ModelAwayError(ModelSilentError):
    """The service cannot be reached or wants no more requests now: nothing is wrong with what was asked."""

    gist = "the service cannot be reached or wants no more requests now"


class ModelGoneError(ModelError):
    """The model is not there (any more): none of that name, or the editor's was removed or its window closed."""

    code = "model-gone"
    gist = "the model cannot be asked"


class ModelRefusedError(ModelError):
    """The service does not take the request, and tells no reason that lies in what was shown: it may be the settings,
    and then every session meets it."""

    gist = "the service refused the request"


class BudgetError(ModelError):
    """The day's budget does not allow another call; nothing was sent. Not a fault: what waits is asked another day."""

    code = "budget"
    gist = "the budget does not allow another call"

    @property
    def safe_message(self) -> str:
        """The message, which no service wrote."""
        return self.message


class WindowTooLargeError(ModelError):
    """What was shown is more than the model takes; half of it may fit."""

    gist = "it is more than the model takes"


class TooDearError(BudgetError):
    """One call may cost more than a whole day may, so that it is never made with these settings; others may be."""


class SpendingError(ModelError):
    """What a call costs cannot be told or recorded, so that a budget could not be kept; nothing was sent."""

    code = "spending"
    gist = "what a call costs cannot be told or recorded"


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
        # Names of files may hold what no JSON can: what is told is always text.
        for name in ("path", "message"):
            said = getattr(self, name)
            if not said.isascii():
                object.__setattr__(self, name, said.encode("utf-8", "replace").decode())


def reason_of(error: BaseException) -> str:
    """Return what the system says about an error, without the file name that `str(error)` adds to an OSError's."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
