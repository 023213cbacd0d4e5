"""Sessions written in a line a turn, and what extraction proposes from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lerim.extraction.candidate import Candidate, DroppedSignal, Withdrawal
from lerim.extraction.pipeline import Extraction
from lerim.sessions.model import FileEdit, QuestionAnswer, ToolCall, ToolStatus, Turn

ROOT = "/home/kim/shop"
START = datetime(2026, 7, 1, 9, tzinfo=UTC)


def you(text: str, **changes: Any) -> Turn:
    return replace(Turn("", 0, "user", "prompt", text, START, ROOT), **changes)


def agent(text: str = "", *calls: ToolCall, **changes: Any) -> Turn:
    return replace(Turn("", 0, "assistant", "reply", text, START, ROOT, tool_calls=calls), **changes)


def ran(command: str, output: str = "", code: int | None = 0) -> ToolCall:
    status: ToolStatus = "error" if code else "ok"
    return ToolCall(f"run-{command}", "Bash", "shell", status, command=command, output=output, exit_code=code)


def edited(path: str, old: str = "", new: str = "x = 1\n") -> ToolCall:
    whole = f"{ROOT}/{path}"
    return ToolCall(f"edit-{path}", "Edit", "edit", "ok", paths=(whole,), edits=(FileEdit(whole, old, new),))


def denied(command: str, feedback: str) -> ToolCall:
    return ToolCall(f"no-{command}", "Bash", "shell", "denied", command=command, feedback=feedback)


def asked(question: str, options: tuple[str, ...], answer: str) -> ToolCall:
    return ToolCall("ask", "AskUserQuestion", "ask", "ok", answers=(QuestionAnswer(question, options, answer),))


def planned(plan: str, status: ToolStatus = "ok") -> ToolCall:
    return ToolCall("plan", "ExitPlanMode", "plan", status, plan=plan)


def numbered(turns: Iterable[Turn], start: int = 0) -> list[Turn]:
    return [
        replace(turn, id=f"{number:012x}", ordinal=number, time=START + timedelta(minutes=number))
        for number, turn in enumerate(turns, start)
    ]


def extraction(state: bytes | None = None, exists: Callable[[str], bool] | None = None) -> Extraction:
    return Extraction(Path(ROOT), "session-1", "claude", state, exists=exists)


def outcome(*turns: Turn, settled: bool = True) -> list[Candidate | DroppedSignal | Withdrawal]:
    [found] = passes(turns, settled=settled)
    return found


def passes(*parts: Iterable[Turn], settled: bool = True) -> list[list[Any]]:
    """The candidates, dropped signals and withdrawals that each part of a session yields. Each part is read in a pass
    of its own; the last pass has settled."""
    out: list[list[Candidate | DroppedSignal | Withdrawal]] = []
    state, start = None, 0
    for number, part in enumerate(parts, 1):
        reading = extraction(state)
        turns = numbered(part, start)
        for turn in turns:
            reading.feed(turn)
        out.append(reading.finish(settled or 1 < number == len(parts)))
        state, start = reading.state(), start + len(turns)
    return out


def candidates(*turns: Turn, settled: bool = True) -> list[Candidate]:
    return [item for item in outcome(*turns, settled=settled) if isinstance(item, Candidate)]


def titles(*turns: Turn, settled: bool = True) -> list[str]:
    return [item.title for item in candidates(*turns, settled=settled)]


def reasons(*turns: Turn) -> list[str]:
    return [item.reason for item in outcome(*turns) if isinstance(item, DroppedSignal)]
