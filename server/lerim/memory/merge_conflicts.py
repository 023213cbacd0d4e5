"""Detects git's conflict markers in memory files, and reads each side."""

from __future__ import annotations

from lerim.code_fences import next_fence

_OURS, _BASE, _MIDDLE, _THEIRS = "<<<<<<<", "|||||||", "=======", ">>>>>>>"


def split_conflict(text: str) -> tuple[str, str] | None:
    """Returns the whole text as each branch had it; None if there is no complete set of conflict markers.

    Markers in a code block of a memory are part of its text.
    """
    if _OURS not in text:
        return None
    ours: list[str] = []
    theirs: list[str] = []
    inside = ""
    fence, has_conflict = "", False
    for line in text.splitlines(keepends=True):
        mark = line[:7] if line[7:8] in ("", " ", "\r", "\n") else ""
        if not inside:
            fence = next_fence(line, fence)
        if mark == _OURS and not inside and not fence:
            inside = _OURS
        elif inside == _OURS and mark == _BASE:
            inside = _BASE
        elif inside in (_OURS, _BASE) and mark == _MIDDLE:
            inside = _MIDDLE
        elif inside == _MIDDLE and mark == _THEIRS:
            inside, has_conflict = "", True
        else:
            if inside in ("", _OURS):
                ours.append(line)
            if inside in ("", _MIDDLE):
                theirs.append(line)
    return ("".join(ours), "".join(theirs)) if has_conflict and not inside else None
