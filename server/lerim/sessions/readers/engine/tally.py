"""The totals kept while a transcript is read: a fold over records that never looks at turns.

The same records in the same order give the same tally, no matter where a reading was interrupted and resumed. The
values in a tally are replaced, never changed in place, so that a shallow copy is a snapshot.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Self

import msgspec

from lerim.sessions.model import Session, Tokens
from lerim.sessions.readers.engine.fields import make_title
from lerim.sessions.readers.engine.typed_text import TypedText

SEEN_LIMIT = 32_768
"""Records remembered to recognise copies of them; each takes 8 bytes of the resume state."""


NAMES = 64

TokenCounts = tuple[int, int, int, int]
NO_TOKEN_COUNTS: TokenCounts = (0, 0, 0, 0)


def hash_text(text: str) -> bytes:
    """Returns an 8-byte hash of a text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


class RecentMarks:
    """The last `SEEN_LIMIT` marks, in order; `count` is how many were ever added."""

    def __init__(self, marks: bytes = b"", count: int = 0) -> None:
        self._log = [marks[at : at + 8] for at in range(0, len(marks) - len(marks) % 8, 8)]
        self._start = count - len(self._log)
        self._set = set(self._log)

    def __contains__(self, one: bytes) -> bool:
        return one in self._set

    def add(self, one: bytes) -> int:
        """Remembers `one` and forgets the oldest mark. Returns the new count, or 0 if `one` is already remembered."""
        marks = self._set
        if one in marks:
            return 0
        marks.add(one)
        log = self._log
        log.append(one)
        held = len(log)
        if held > SEEN_LIMIT:
            marks.discard(log[-SEEN_LIMIT - 1])
        return self._start + held

    @property
    def crowded(self) -> bool:
        """Whether calling `forget` is worthwhile."""
        return len(self._log) > 3 * SEEN_LIMIT

    def upto(self, count: int) -> bytes:
        """Returns the marks that were remembered when the count was `count`."""
        end = count - self._start
        return b"".join(self._log[max(0, end - SEEN_LIMIT) : end])

    def forget(self, count: int) -> None:
        """Frees the marks that `upto` does not need for `count` or any later count."""
        spare = count - self._start - SEEN_LIMIT
        if spare > 0:
            del self._log[:spare]
            self._start += spare


class TranscriptTally(msgspec.Struct, gc=False):
    """Totals of a transcript up to a point in it."""

    turns: int = 0
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    denials: int = 0
    api_errors: int = 0
    injected: int = 0
    tokens: TokenCounts = NO_TOKEN_COUNTS
    seen: int = 0
    cwd: str = ""
    branch: str = ""
    version: str = ""
    parent: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    cwds: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    custom_title: str = ""
    ai_title: str = ""
    summary: str = ""
    first_prompt: str = ""
    summaries: tuple[tuple[bytes, str], ...] = ()
    spent: dict[str, TokenCounts] = msgspec.field(default_factory=dict)
    queue: tuple[str, ...] = ()
    echoes: tuple[bytes, ...] = ()
    prompt: bytes = b""
    answered: bool = True
    command: str = ""
    unattended: bool = False

    def snapshot(self) -> Self:
        """Returns a copy of the tally as it is now."""
        return msgspec.structs.replace(self)

    def new(self, seen: RecentMarks, native: str) -> bool:
        """Returns whether `native` is seen for the first time; if so, also sets the summary title that was waiting for
        it."""
        one = blake2b(native.encode(), digest_size=8).digest()  # decoding leaves no lone surrogate in a record
        count = seen.add(one)
        if not count:
            return False
        self.seen = count
        if self.summaries:
            for leaf, summary in self.summaries:
                if leaf == one:
                    self.summary = summary
        return True

    def say(self, words: TypedText) -> None:
        """Counts a turn that a person typed."""
        if words.kind == "prompt":
            self.prompts += 1
            self.first_prompt = self.first_prompt or make_title(words.text)
        self.prompt = hash_text(words.text)
        self.answered = False

    def session(self, session_id: str, path: Path, parent: str) -> Session:
        """Builds the session from these totals."""
        return Session(
            id=session_id,
            platform="claude",
            path=path,
            title=self.custom_title or self.ai_title or self.summary or self.first_prompt,
            started=self.started,
            ended=self.ended,
            cwds=self.cwds,
            branches=self.branches,
            models=self.models,
            version=self.version,
            turns=self.turns,
            prompts=self.prompts,
            tool_calls=self.tool_calls,
            tool_errors=self.tool_errors,
            denials=self.denials,
            api_errors=self.api_errors,
            injected=self.injected,
            tokens=Tokens(*self.tokens),
            parent=parent,
        )

    def model(self, name: str) -> None:
        """Adds a model that answered."""
        if not self.models or self.models[-1] != name:
            self.models = append_name(self.models, name)


def append_name(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Appends `name` to `names`, unless it is already there or there are too many."""
    return names if name in names or len(names) >= NAMES else (*names, name)
