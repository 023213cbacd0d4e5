"""The explorer: a model that gathers evidence for a decision by reading files, memories and turns, one look at a time.
It changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import dspy

from lerim.assistant.answer_parser import escape_lines
from lerim.assistant.explorer_tools import ExplorerTools, LookResult
from lerim.assistant.signatures import ExploreSignature, Step
from lerim.errors import StoppedError
from lerim.extraction import ask_signature
from lerim.redaction import clean_text

MAX_LOOKS = 5
MAX_EVIDENCE_CHARS = 24_000
MAX_NOTE_CHARS = 600


def explore(
    lm: dspy.LM, tools: ExplorerTools, task: str, log: Callable[[str], None], max_looks: int = MAX_LOOKS
) -> str:
    """Let a model look at most `max_looks` times, and return what it saw, as it may be shown to a model. `log` is
    called with each look, but not with what it showed.

    Raises ModelError if no answer came, StoppedError, and any LerimError the engine raises.
    """
    observations: list[str] = []
    calls: set[str] = set()
    size = look_count = 0
    while look_count < max_looks:
        if tools.cancelled():
            raise StoppedError
        inputs = {"task": task, "seen": "\n\n".join(observations) or "nothing yet", "left": str(max_looks - look_count)}
        answer = ask_signature(lm, ExploreSignature, inputs, Step, think=False, retry=False)
        if not answer.items:
            log(f"its answer could not be read: {clean_text(answer.parse_error)[:200]}")
            break
        step = answer.items[0]
        if step.tool == "done":
            note = clean_text(step.note)[:MAX_NOTE_CHARS].strip()
            if note:
                observations.append(f"The explorer says:\n{escape_lines(note)}")
            log("done")
            break
        look_count += 1
        result = run_tool(tools, step)
        log(f"{result.call}: {result.count} found{f' ({clean_text(result.problem)})' if result.problem else ''}")
        if result.call in calls:
            break
        calls.add(result.call)
        shown = result.text[: max(0, MAX_EVIDENCE_CHARS - size)]
        size += len(shown)
        observations.append(f"{look_count}. {result.call}\n{escape_lines(shown or result.problem or 'nothing')}")
    return "\n\n".join(observations)


def run_tool(tools: ExplorerTools, step: Step) -> LookResult:
    """Run the tool that a step asks for."""
    match step.tool:
        case "read":
            return tools.read(step.path or step.glob, step.from_line, step.lines)
        case "glob":
            return tools.glob(step.glob or step.path or "repo/**")
        case _:
            return tools.grep(step.pattern, step.glob or step.path or "repo/**")
