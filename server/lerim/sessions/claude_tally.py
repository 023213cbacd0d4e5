"""What is counted while a transcript of Claude Code is read."""

from __future__ import annotations

from datetime import datetime

from lerim.sessions.claude_records import Record, Usage
from lerim.sessions.tally import NAMES, NO_TOKENS, Counted, Seen, Tally, joined, mark
from lerim.sessions.values import plain, titled

_RECENT = 16
_NO_COUNT = 1 << 48


class ClaudeTally(Tally, gc=False):
    """Totals of a transcript of Claude Code up to a point in it."""

    def meet(self, record: Record, time: datetime | None) -> None:
        """Notes what every kind of record tells: where, when, which version."""
        cwd, branch, version = record.cwd, record.git_branch, record.version
        if cwd and cwd != self.cwd:
            self.cwd = plain(cwd)[:4096]
            self.cwds = joined(self.cwds, self.cwd)
        if branch and branch != self.branch:
            self.branch = plain(branch)[:500]
            self.branches = joined(self.branches, self.branch)
        if version and version != self.version:
            self.version = plain(version)[:50]
        if not self.parent and record.session_id:
            self.parent = plain(record.session_id)[:200]
        if time is not None:
            if self.ended is None or time > self.ended:
                self.ended = time
            if self.started is None or time < self.started:
                self.started = time

    def name(self, record: Record, seen: Seen) -> None:
        """Takes a title from a title or summary record; the last one of each kind wins."""
        if record.type == "custom-title":
            self.custom_title = titled(record.custom_title) or self.custom_title
        elif record.type == "ai-title":
            self.ai_title = titled(record.ai_title) or self.ai_title
        elif record.summary and record.leaf_uuid:
            leaf = mark(record.leaf_uuid)
            if leaf in seen:
                self.summary = titled(record.summary)
            else:
                self.summaries = (*self.summaries[-NAMES:], (leaf, titled(record.summary)))

    def spend(self, key: str, usage: Usage | None) -> Counted:
        """Counts what one API message has used so far, once, whatever number of records repeat it."""
        before = self.spent.get(key, NO_TOKENS)
        if usage is None:
            return before
        now = (
            usage.input_tokens or 0,
            usage.output_tokens or 0,
            usage.cache_read_input_tokens or 0,
            usage.cache_creation_input_tokens or 0,
        )
        if now == before:
            return before
        most = (_most(now[0], before[0]), _most(now[1], before[1]), _most(now[2], before[2]), _most(now[3], before[3]))
        if most != before:
            total = self.tokens
            self.tokens = (
                total[0] + most[0] - before[0],
                total[1] + most[1] - before[1],
                total[2] + most[2] - before[2],
                total[3] + most[3] - before[3],
            )
            if key:
                spent = {**self.spent, key: most}
                if len(spent) > _RECENT:
                    del spent[next(iter(spent))]
                self.spent = spent
        return most


def _most(now: int, before: int) -> int:
    return before if now < before else now if now < _NO_COUNT else before
