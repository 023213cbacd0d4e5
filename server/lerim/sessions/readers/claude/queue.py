"""Recognizes prompts typed while the agent was busy: each counts as one prompt, even if several records contain it.

Since 2.1.96 such a prompt is an attachment. Before that, only the log of the queue contains it: a prompt that was
enqueued and then removed went to the model in the middle of its work. (A dequeued prompt is repeated as an ordinary
user record, and a popped one went back into the person's input line.)
"""

from __future__ import annotations

from lerim.sessions.readers.claude.human import parse_queue_content
from lerim.sessions.readers.claude.records import ClaudeRecord
from lerim.sessions.readers.claude.tally import ClaudeTally
from lerim.sessions.readers.engine import TranscriptTally, TypedText, short_hash

_ATTACHED_SINCE = (2, 1, 96)
_QUEUE_LIMIT = 16
_PROMPT_LIMIT = 20_000


def apply_queue_operation(tally: ClaudeTally, record: ClaudeRecord) -> TypedText | None:
    """Applies a queue operation to the tally. Returns the prompt if no other record contains it."""
    if record.operation == "enqueue":
        typed = parse_queue_content(record.content)
        text = typed.text if typed and len(typed.text) <= _PROMPT_LIMIT else ""
        tally.queue = (*tally.queue[1 - _QUEUE_LIMIT :], text)
    elif record.operation == "popAll":
        tally.queue = ()
    elif record.operation in ("dequeue", "remove") and tally.queue:
        typed = parse_queue_content(record.content)
        index = tally.queue.index(typed.text) if typed and typed.text in tally.queue else 0
        text, tally.queue = tally.queue[index], (*tally.queue[:index], *tally.queue[index + 1 :])
        if record.operation == "remove" and text and _lacks_attachments(tally.version):
            return parse_queue_content(text)
    return None


def _lacks_attachments(version: str) -> bool:
    parts = version.split(".")[:3]
    if len(parts) < 3 or not all(part.isdecimal() and len(part) < 9 for part in parts):
        return False
    return tuple(int(part) for part in parts) < _ATTACHED_SINCE


def register_queued_prompt(tally: TranscriptTally, typed: TypedText) -> bool:
    """Returns whether a queued prompt is new. If it is, a user record that repeats it later does not count as new."""
    digest = short_hash(typed.text)
    if not tally.answered and (digest in tally.queued_hashes or digest == tally.last_prompt_hash):
        return False
    tally.queued_hashes = (*tally.queued_hashes[1 - _QUEUE_LIMIT :], digest)
    return True


def consume_queued_repeat(tally: TranscriptTally, typed: TypedText, source: str | None) -> bool:
    """Returns whether a user record repeats a queued prompt: either it says so itself, or the model has not answered in
    between."""
    if not tally.queued_hashes or not (source == "queued" or not tally.answered):
        return False
    digest = short_hash(typed.text)
    if digest not in tally.queued_hashes:
        return False
    at = tally.queued_hashes.index(digest)  # the same words may have been queued twice
    tally.queued_hashes = (*tally.queued_hashes[:at], *tally.queued_hashes[at + 1 :])
    return True
