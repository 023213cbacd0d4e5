"""The explorer: a model that looks at files, memories and turns, one at a time, for what tells. It changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import dspy

from lerim.assistant.escape import escape_lines
from lerim.assistant.signatures import ExploreSignature, Step
from lerim.assistant.tools import ExplorerTools, LookResult
from lerim.errors import StoppedError
from lerim.extraction import ask_signature
from lerim.redaction import clean_text

LOOKS = 5
EVIDENCE_CHARS = 24_000
NOTE_CHARS = 600


@dataclass(frozen=True, slots=True)
class ExplorerFindings:
    """What was seen, as a model may be shown it, and how many looks that took."""

    text: str
    looks: int


def explore(
    lm: dspy.LM, tools: ExplorerTools, task: str, log: Callable[[str], None], most: int = LOOKS
) -> ExplorerFindings:
    """Lets a model look at most so many times; `log` is told each look, not what it showed.

    Raises ModelError where no answer came, whatever LerimError the engine raises, StoppedError.
    """
    seen: list[str] = []
    asked: set[str] = set()
    size = looks = 0
    while looks < most:
        if tools.cancelled():
            raise StoppedError
        inputs = {"task": task, "seen": "\n\n".join(seen) or "nothing yet", "left": str(most - looks)}
        answer = ask_signature(lm, ExploreSignature, inputs, Step, think=False, retry=False)
        if not answer.items:
            log(f"its answer could not be read: {clean_text(answer.parse_error)[:200]}")
            break
        step = answer.items[0]
        if step.tool == "done":
            note = clean_text(step.note)[:NOTE_CHARS].strip()
            if note:
                seen.append(f"The explorer says:\n{escape_lines(note)}")
            log("done")
            break
        looks += 1
        found = run_look(tools, step)
        log(f"{found.asked}: {found.count} found{f' ({clean_text(found.problem)})' if found.problem else ''}")
        if found.asked in asked:
            break
        asked.add(found.asked)
        shown = found.text[: max(0, EVIDENCE_CHARS - size)]
        size += len(shown)
        seen.append(f"{looks}. {found.asked}\n{escape_lines(shown or found.problem or 'nothing')}")
    return ExplorerFindings("\n\n".join(seen), looks)


def run_look(tools: ExplorerTools, step: Step) -> LookResult:
    """Does one look."""
    match step.tool:
        case "read":
            return tools.read(step.path or step.glob, step.from_line, step.lines)
        case "glob":
            return tools.glob(step.glob or step.path or "repo/**")
        case _:
            return tools.grep(step.pattern, step.glob or step.path or "repo/**")
