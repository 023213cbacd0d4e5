"""Commands that failed and have not passed since, and the drafts of what made them pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from lerim.extraction.facts import output_lines
from lerim.extraction.signals.draft import Basis, Draft, Quote
from lerim.memory import LearningKind
from lerim.sessions import Turn


@dataclass
class CommandFailure:
    """A command that failed and has not passed since. `turn` is the id of the turn it failed in."""

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
    cause: str = ""
    cause_turn: str = ""
    refused: tuple[str, str] = ("", "")

    @property
    def causes(self) -> tuple[Quote, ...]:
        """The agent's words about the cause, if any."""
        return (Quote(self.cause, self.cause_turn, "assistant"),) if self.cause else ()


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
    statements: tuple[Quote, ...] = (),
    references: tuple[str, ...] = (),
) -> Draft:
    """Returns the lesson from `turn`, in which the command passed. Its quotes are the error, `statements`, and the line
    of `output` that reports success."""
    passed = output_lines.pass_line(output)
    return Draft(
        signal="fixed-command",
        basis=basis,
        primitive="learning",
        kind=kind,
        title=title,
        body=body,
        turn=replace(turn, tool_calls=()),
        quotes=(
            Quote(failure.error, failure.turn, "tool"),
            *statements,
            *((Quote(passed, turn.id, "tool"),) if passed else ()),
        ),
        artifacts=artifacts,
        references=references,
    )
