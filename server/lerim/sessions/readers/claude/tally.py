"""The totals kept while a transcript of Claude Code is read."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import astuple

from lerim.sessions.model import NO_TOKENS, Tokens
from lerim.sessions.readers.claude.records import ClaudeRecord, ClaudeUsage
from lerim.sessions.readers.engine import (
    NAME_LIMIT,
    RecentIds,
    TranscriptTally,
    make_session_title,
    plausible_count,
    short_hash,
    without_nul,
)

_RECENT_MESSAGES = 16


class ClaudeTally(TranscriptTally, gc=False):
    """Totals of a transcript of Claude Code up to a point in it. `version` is that of the program that wrote the last
    record."""

    version: str = ""

    def note_record(self, record: ClaudeRecord, time: datetime | None) -> None:
        """Records the fields that all types of record have: folder, branch, version, session and time."""
        self.set_cwd(record.cwd)
        self.set_branch(record.git_branch)
        version = record.version
        if version and version != self.version:
            self.version = without_nul(version)[:50]
        if not self.parent and record.session_id:
            self.parent = without_nul(record.session_id)[:200]
        if time is not None:
            self.note_time(time)

    def set_title(self, record: ClaudeRecord, seen: RecentIds) -> None:
        """Sets a title from a title or summary record; the last one of each type wins."""
        if record.type == "custom-title":
            self.custom_title = make_session_title(record.custom_title) or self.custom_title
        elif record.type == "ai-title":
            self.ai_title = make_session_title(record.ai_title) or self.ai_title
        elif record.summary and record.leaf_uuid:
            leaf = short_hash(record.leaf_uuid)
            if leaf in seen:
                self.summary = make_session_title(record.summary)
            else:
                self.summaries = (*self.summaries[-NAME_LIMIT:], (leaf, make_session_title(record.summary)))

    def count_tokens(self, key: str, usage: ClaudeUsage | None) -> Tokens:
        """Counts the tokens that one API message has used so far, only once even if several records repeat them.
        Returns the counts of the message."""
        before = self.tokens_by_message.get(key, NO_TOKENS)
        if usage is None:
            return before
        most = Tokens(*map(max, astuple(before), map(plausible_count, astuple(usage))))
        if most != before:
            self.tokens = self.tokens + (most - before)
            if key:
                spent = {**self.tokens_by_message, key: most}
                if len(spent) > _RECENT_MESSAGES:
                    del spent[next(iter(spent))]
                self.tokens_by_message = spent
        return most
