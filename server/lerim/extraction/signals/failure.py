"""A command that failed and has not passed since, and the draft of what got it to pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from lerim.extraction.facts import printed
from lerim.extraction.signals.draft import Basis, Draft, Quote
from lerim.memory import LearningKind
from lerim.sessions import Turn


@dataclass
class CommandFailure:
    """A command that failed and has not passed since; `turn` holds no tool calls but the failing one's facts."""

    command: str
    folder: str
    variables: tuple[str, ...]
    error: str
    output: str
    turn: str
    attempts: int = 1
    own: bool = False
    files: list[str] = field(default_factory=list)
    added: list[tuple[str, str]] = field(default_factory=list)
    installed: str = ""
    cause: str = ""
    cause_turn: str = ""
    refused: tuple[str, str] = ("", "")

    @property
    def causes(self) -> tuple[Quote, ...]:
        """What the agent said of the cause, if anything."""
        return (Quote(self.cause, self.cause_turn, "assistant", self.cause),) if self.cause else ()


def draft_lesson(
    failure: CommandFailure,
    turn: Turn,
    output: str,
    *,
    kind: LearningKind,
    title: str,
    body: str,
    artifacts: tuple[str, ...],
    basis: Basis = "fixed",
    said: tuple[Quote, ...] = (),
    references: tuple[str, ...] = (),
) -> Draft:
    """What `turn` shows, in which it passed: quotes are the error, what was `said`, and the line of `output` that
    says so."""
    passed = printed.pass_line(output)
    return Draft(
        signal="fixed-command",
        basis=basis,
        primitive="learning",
        kind=kind,
        title=title,
        body=body,
        turn=replace(turn, tool_calls=()),
        quotes=(
            Quote(failure.error, failure.turn, "tool", failure.output),
            *said,
            *((Quote(passed, turn.id, "tool"),) if passed else ()),
        ),
        artifacts=artifacts,
        references=references,
    )
