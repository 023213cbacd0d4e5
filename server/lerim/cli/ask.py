"""`lerim ask`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from lerim.assistant import Answer, Passage, Question, Sentence, SentenceEvent
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    interruptible,
    open_command_context,
    open_personal_context,
    output,
    with_error_exit,
)
from lerim.extraction import shorten
from lerim.models import describe_spent
from lerim.paths import Home

EXIT_CODES = {"done": 0, "partial": 3, "cancelled": 3}
BEGINNING = 240
"""Characters of a passage that are shown."""
MOST_LEFT = 20
"""So few of them are no line of their own."""


@with_error_exit
def ask_command(
    words: Annotated[list[str], typer.Argument(metavar="QUESTION", help="Any text.")],
    model: Annotated[
        str, typer.Option(metavar="none", help="“none”: use no model; show only what was found.")
    ] = "auto",
    everything: Annotated[
        bool, typer.Option("--all", help="Also archived memories, and those whose code has changed.")
    ] = False,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from this repository's memories and sessions, or from your own memories, and cite the
    sources."""
    from lerim.assistant import ask

    if model not in ("auto", "none"):
        todo = "use “none” or leave --model out; the settings say which model answers (roles.lead)"
        raise typer.BadParameter(f"There is no model {model!r}; {todo}.", param_hint="--model")
    at = open_personal_context() if own else open_command_context(repo)
    question = Question(" ".join(words), "none" if model == "none" else "auto", everything)

    def hear(said: SentenceEvent) -> None:
        if not as_json:
            output.print_line(_spoken(said.sentence))
            output.flush_output()

    with interruptible() as cancelled:
        answer = ask.answer_question(
            at.project, at.home, os.environ, question, hear, cancelled, lambda: datetime.now(UTC)
        )
    if as_json:
        output.show_json(answer)
    else:
        _show(answer, at.home)
    raise typer.Exit(EXIT_CODES[answer.state])


def _spoken(sentence: Sentence) -> str:
    numbers = "".join(f"[{one.number}]" for one in sentence.citations)
    return f"{output.escape_controls(sentence.text)} {numbers}"


def _show(answer: Answer, home: Home) -> None:
    """What the sentences rest on; without any, the passages."""
    if answer.message:
        output.print_line(output.escape_controls(answer.message))
    cited = {one.number for sentence in answer.sentences for one in sentence.citations}
    shown = [one for one in answer.passages if one.citation.number in cited] if cited else answer.passages
    if shown:
        output.print_line()
    for one in shown:
        _source(one, home, whole=not cited)
    if answer.left_out:
        named = "sentence" if answer.left_out == 1 else "sentences"
        were = "was" if answer.left_out == 1 else "were"
        output.print_line(f"{answer.left_out} {named} without a source {were} left out.")
    for spent in answer.spent:
        output.print_line(output.escape_controls(f"Asked {describe_spent(spent)}."))
    output.print_problems(answer.problems)


def _source(one: Passage, home: Home, *, whole: bool) -> None:
    citation = one.citation
    when = f", {one.time[:10]}" if one.time else ""
    lines = [f"{one.detail}{when}: {citation.title}", _opens(one, home)]
    if whole:
        lines[1:1] = _beginning(one.text, citation.title)
    output.show_item(f"[{citation.number}]", lines)


def _beginning(text: str, title: str) -> Iterator[str]:
    """The first lines of a passage, BEGINNING characters of whole words at most, without the title it stands under."""
    while title and text.startswith(title):
        text = text[len(title) :].lstrip(" .\n")
    left = BEGINNING
    for line in filter(str.strip, text.splitlines()):
        yield shorten(line.rstrip(), left)
        left -= len(line)
        if left < MOST_LEFT:
            return


def _opens(one: Passage, home: Home) -> str:
    """The command that shows it."""
    citation = one.citation
    if citation.kind == "memory":
        own = " --global" if Path(one.path).is_relative_to(home.memory) else ""
        return f"lerim memory show {citation.ref.removeprefix('m:')}{own}"
    return f"lerim sessions show {citation.session} --turn {citation.turn}"
