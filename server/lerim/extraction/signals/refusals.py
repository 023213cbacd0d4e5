"""Finds a setting that the agent wrote, the tool refused by name, and the agent then removed so that the tool
passed."""

from __future__ import annotations

import posixpath
import re

from lerim.extraction.facts import wording
from lerim.extraction.signals.draft import Draft
from lerim.extraction.signals.failure import CommandFailure, draft_lesson
from lerim.sessions import ToolCall, Turn

_UNKNOWN = re.compile(
    r"\b(?:unrecogni[sz]ed|unknown|invalid|unsupported|unexpected|undefined|no such|not a valid|"
    r"does not support)\s(?:top-level\s|config(?:uration)?\s)?(?:key|option|property|properties|"
    r"field|setting|attribute|parameter|rule|section|input|table)"
    r"(?:\(s\)|s)?\b[^'\"`\n]{0,40}['\"`](?P<name>[A-Za-z_][\w.@/-]{1,60})['\"`]",
    re.IGNORECASE,
)
_KEY = re.compile(r"[\"']?(?P<key>[A-Za-z_][\w.-]{1,60})[\"']?\s{0,3}[:=]")


def find_refused_setting(error: str, written: list[tuple[str, str]]) -> tuple[str, str]:
    """Returns the setting that an error refuses and the file the agent wrote it to, or two empty strings."""
    match = _UNKNOWN.search(error)
    if match is None:
        return "", ""
    name = match["name"]
    file = next((path for path, line in reversed(written) if name in line), "")
    return (name, file) if file else ("", "")


def draft_refused_setting(
    turn: Turn, call: ToolCall, failure: CommandFailure, written: list[tuple[str, str]]
) -> Draft | None:
    """Returns the lesson that the file does not accept the setting, and what was written instead."""
    name, file = failure.refused
    lines = [line for path, line in written if path == file]
    wrote = max((at for at, line in enumerate(lines) if name in line), default=-1)
    keys = [match["key"] for line in lines[wrote + 1 :] if (match := _KEY.match(line))]
    if file not in failure.files:
        return None  # it passed without the setting being removed
    tool = wording.shorten(failure.command, 40)
    used = f"It passed with `{keys[-1]}` instead." if keys else "It passed without it."
    return draft_lesson(
        failure,
        turn,
        call.output,
        kind="pitfall",
        title=f"`{posixpath.basename(file)}` takes no `{name}`: `{tool}` refuses it",
        body=f"`{failure.command}` failed with “{failure.error}” after `{name}` was written into `{file}`. {used}",
        artifacts=(failure.command, name, file),
        references=(file,),
    )
