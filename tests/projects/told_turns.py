"""Turns as the catalog tells them, built for tests of summaries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lerim.sessions.catalog.summary_turns import SummaryTurn
from lerim.sessions.model import Role, ToolCall, TurnKind
from lerim.sessions.tables.turn_text import parse_stored_calls, render_calls

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def turn(number: int, text: str, *made: ToolCall, kind: TurnKind = "reply") -> SummaryTurn:
    shown = tuple(parse_stored_calls(render_calls(made)))
    paths = tuple(sorted({path.removeprefix("./") for call in made for path in call.paths}))
    when = START + timedelta(minutes=number)
    role: Role = "assistant" if kind == "reply" else "user"
    return SummaryTurn(f"{number:012x}", number, role, kind, when, "/home/ana/app", "main", text, shown, paths)


def prompt(number: int, text: str) -> SummaryTurn:
    return turn(number, text, kind="prompt")


def shell(command: str, **how: object) -> ToolCall:
    return ToolCall("", "Bash", "shell", **{"status": "ok", "exit_code": 0, "command": command, **how})  # type: ignore[arg-type]


def edit(path: str, **how: object) -> ToolCall:
    return ToolCall("", "Edit", "edit", **{"status": "ok", "paths": (path,), **how})  # type: ignore[arg-type]
