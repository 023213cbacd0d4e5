"""Finds environment errors that recur in several sessions and drafts a candidate for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

from lerim.extraction.candidate import Candidate
from lerim.extraction.confidence import candidate_confidence
from lerim.extraction.facts import commands, output_lines, wording
from lerim.extraction.quote_check import verify_quote
from lerim.extraction.signals import Quote, git_steps
from lerim.memory import Evidence
from lerim.patterns import compile_later
from lerim.redaction import clean_text, find_flags, show_hidden
from lerim.sessions import Friction, Platform, ToolCall, Turn

_STANDING = compile_later(r"already (?:used by|checked out|in use)|Permission denied|Could not read from remote")
_PATH = compile_later(r"(?:[A-Za-z]:)?(?:[\\/][\w.@~+-]{1,80}){2,20}")
_UNIT = r"(?:[nµum]?s|secs?|seconds?|m|mins?|minutes?|h|hours?|[kmg]i?b|b|bytes?|%)"
_NUMBER = rf"[-+]?\d{{1,40}}(?:[.,:t-]\d{{1,40}}){{0,8}}(?:z|\s?{_UNIT}(?![a-z0-9]))?"
_VARIES = compile_later(rf"(?i:(?:0x[0-9a-f]{{1,40}}|\b[0-9a-f]{{7,64}}\b|{_NUMBER})\s?){{1,20}}")
"""Hashes, addresses, times, and numbers with their units, one or several in a row."""
_WORD = compile_later(r"[a-z]{3,40}")
_MAX_ERROR_CHARS = 160


def error_fingerprint(error: str) -> str:
    """Returns the fingerprint of an error line without what varies, or "" if too few words are left to distinguish it
    from others."""
    plain = _leave_out_varying(output_lines.strip_control_characters(error)).lower()
    if len(_WORD.findall(plain)) < 3:
        return ""
    return hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _leave_out_varying(error: str) -> str:
    """Returns the first words of an error line, with an ellipsis for each folder, number and hash: the same words,
    whichever session met the error."""
    one_line = wording.squeeze_spaces(error)
    return wording.squeeze_spaces(_VARIES.sub("… ", _PATH.sub("…", one_line)))[:_MAX_ERROR_CHARS].strip()


def find_frictions(turn: Turn, session: str) -> Iterator[Friction]:
    """Yields the environment errors (tools, permissions, hooks, not wrong code) that the commands of one turn ran
    into."""
    for call in turn.tool_calls:
        error = _find_error(call)
        quote = verify_quote(Quote(error, turn.id, "tool"), call.output) if error else ""
        name = error_fingerprint(quote)
        if name:
            command = commands.parse_command(call.command)
            verb = git_steps.git_verb(call.command)
            text = f"git {verb}" if verb else command.text.partition("\n")[0]
            text = output_lines.missing_command(quote) or text
            shown = wording.shorten(show_hidden(clean_text(text)), 60).replace("`", "'")
            yield Friction(name, quote, shown, session, turn.id, turn.time.timestamp() if turn.time else 0.0)


def _find_error(call: ToolCall) -> str:
    if call.kind != "shell" or call.status != "error" or not call.command:
        return ""
    if stopped := git_steps.hook_refusal(call):
        return stopped
    error = output_lines.error_line(call.output)
    return error if output_lines.ENVIRONMENT.search(error) or _STANDING.search(error) else ""


def draft_friction(now: Friction, before: list[Friction], platform: Platform) -> Candidate:
    """Returns the candidate for an error that earlier sessions also ran into."""
    all_of = sorted([*before, now], key=lambda one: one.time)
    first = all_of[0]
    error = _leave_out_varying(first.message)  # so that the claim is recognized, whichever session is read first
    start = f"`{first.command}` fails" if len(first.command) <= 30 else f"`{first.command.split()[0]}` fails"
    title = f"{start} in session after session: {error}"
    body = f"`{first.command}` met “{error}” in more than one session, and each of them spent time on it."
    evidence = tuple(Evidence(one.message, one.turn_id, "tool") for one in (first, *all_of[1:][-2:]))
    marks = find_flags(title, body)
    return Candidate(
        primitive="learning",
        kind="friction",
        title=wording.shorten(clean_text(title), wording.MAX_RULE_TITLE_CHARS),
        body=body,
        confidence=candidate_confidence("met", accepted=False, repeated=len(all_of) - 2, flagged=bool(marks)),
        tags=(),
        references=(),
        evidence=evidence,
        platform=platform,
        session=now.session_id,
        turn=now.turn_id,
        time=datetime.fromtimestamp(now.time, UTC),
        signal="friction",
        flags=marks,
    )
