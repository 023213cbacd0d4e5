"""The totals kept while a transcript is read: a fold over records that never looks at turns.

The same records in the same order give the same tally, no matter where a reading was interrupted and resumed. The
values in a tally are replaced, never changed in place, so that a shallow copy is a snapshot.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b

import msgspec

from lerim.sessions.model import NO_TOKENS, Session, Tokens, Transcript
from lerim.sessions.readers.engine.fields import choose_session_title, without_nul
from lerim.sessions.readers.engine.typed_text import TypedText

SEEN_ID_LIMIT = 32_768
"""How many records are remembered to recognise copies of them; each takes 8 bytes of the resume state."""

NAME_LIMIT = 64


def short_hash(text: str) -> bytes:
    """Returns an 8-byte hash of a text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


class RecentIds:
    """Digests of the last `SEEN_ID_LIMIT` ids, in order; `count` is how many were ever added."""

    def __init__(self, digests: bytes = b"", count: int = 0) -> None:
        self._ordered = [digests[at : at + 8] for at in range(0, len(digests) - len(digests) % 8, 8)]
        self._start = count - len(self._ordered)
        self._set = set(self._ordered)

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._set

    def add(self, digest: bytes) -> int:
        """Adds a digest and forgets the oldest. Returns the new count, or 0 if the digest is already remembered."""
        digests = self._set
        if digest in digests:
            return 0
        digests.add(digest)
        log = self._ordered
        log.append(digest)
        length = len(log)
        if length > SEEN_ID_LIMIT:
            digests.discard(log[-SEEN_ID_LIMIT - 1])
        return self._start + length

    @property
    def needs_trimming(self) -> bool:
        """Whether calling `trim` is worthwhile."""
        return len(self._ordered) > 3 * SEEN_ID_LIMIT

    def encode_until(self, count: int) -> bytes:
        """Returns the digests that were remembered when the count was `count`."""
        end = count - self._start
        return b"".join(self._ordered[max(0, end - SEEN_ID_LIMIT) : end])

    def trim(self, count: int) -> None:
        """Frees the digests that `encode_until` does not need for `count` or any later count."""
        surplus = count - self._start - SEEN_ID_LIMIT
        if surplus > 0:
            del self._ordered[:surplus]
            self._start += surplus


class TranscriptTally(msgspec.Struct, gc=False):
    """Totals of a transcript up to a point in it."""

    turns: int = 0
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    denials: int = 0
    tokens: Tokens = NO_TOKENS
    seen_count: int = 0
    cwd: str = ""
    branch: str = ""
    parent: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    cwds: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    custom_title: str = ""
    ai_title: str = ""
    summary: str = ""
    first_request: str = msgspec.field(default="", name="first_prompt")  # as it is called in stored positions
    summaries: tuple[tuple[bytes, str], ...] = ()
    tokens_by_message: dict[str, Tokens] = msgspec.field(default_factory=dict)
    queue: tuple[str, ...] = ()
    queued_hashes: tuple[bytes, ...] = ()
    last_prompt_hash: bytes = b""
    answered: bool = True
    command_key: str = ""
    unattended: bool = False

    def register_id(self, seen: RecentIds, native_id: str) -> bool:
        """Returns whether `native_id` is seen for the first time; if so, also sets the summary title that was waiting
        for it."""
        digest = short_hash(native_id)
        count = seen.add(digest)
        if not count:
            return False
        self.seen_count = count
        if self.summaries:
            for leaf, summary in self.summaries:
                if leaf == digest:
                    self.summary = summary
        return True

    def set_cwd(self, cwd: str | None) -> None:
        """Sets the working folder of the following records; does nothing if `cwd` is empty or None."""
        if cwd and cwd != self.cwd:
            self.cwd = without_nul(cwd)[:4096]
            self.cwds = append_name(self.cwds, self.cwd)

    def set_branch(self, branch: str | None) -> None:
        """Sets the branch of the following records; does nothing if `branch` is empty or None."""
        if branch and branch != self.branch:
            self.branch = without_nul(branch)[:500]
            self.branches = append_name(self.branches, self.branch)

    def note_time(self, time: datetime) -> None:
        if self.ended is None or time > self.ended:
            self.ended = time
        if self.started is None or time < self.started:
            self.started = time

    def count_prompt(self, typed: TypedText) -> None:
        """Counts a turn that a person typed."""
        self.prompts += typed.kind == "prompt"
        if typed.kind != "shell":
            self.note_request(typed.text)
        self.last_prompt_hash = short_hash(typed.text)
        self.answered = False

    def note_request(self, text: str) -> None:
        """Records what was asked. The first request that says something gives the session its title."""
        self.first_request = choose_session_title(self.first_request, text)

    def build_session(
        self, transcript: Transcript, *, title: str = "", parent: str | None = None, has_tokens: bool = True
    ) -> Session:
        """Builds the session from these totals. `title` takes precedence over the titles in the records, and
        `parent` replaces the parent in the records; without `has_tokens` the token usage is unknown."""
        parent = transcript.parent or (self.parent if parent is None else parent)
        return Session(
            id=transcript.session_id,
            platform=transcript.platform,
            path=transcript.path,
            title=title or self.custom_title or self.ai_title or self.summary or self.first_request,
            started=self.started,
            ended=self.ended,
            cwds=self.cwds or ((self.cwd,) if self.cwd else ()),  # the folder may be known from elsewhere
            branches=self.branches,
            models=self.models,
            turns=self.turns,
            prompts=self.prompts,
            tool_calls=self.tool_calls,
            tool_errors=self.tool_errors,
            denials=self.denials,
            tokens=self.tokens if has_tokens else None,
            parent="" if parent == transcript.session_id else parent,
        )

    def add_model(self, name: str) -> None:
        if not self.models or self.models[-1] != name:
            self.models = append_name(self.models, name)


def append_name(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Appends `name` to `names`, unless it is already there or there are too many."""
    return names if name in names or len(names) >= NAME_LIMIT else (*names, name)
