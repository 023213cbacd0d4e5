"""`lerim ask`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from lerim.assistant import Answer, AnswerLine, Passage, Question, Sentence, SentenceEvent
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    EXIT_CODES,
    GlobalOption,
    JsonOption,
    MeaningOption,
    ModelChoice,
    RepoOption,
    describe_search_by_meaning,
    follow_events,
    interruptible,
    open_command_context,
    output,
    report_reading,
    stream_from_running_server,
    with_error_exit,
)
from lerim.errors import NoAnswerError, NotTakenError, StoppedError
from lerim.extraction import shorten
from lerim.memory import SPEAKER_NAMES, load_sentence_model
from lerim.models import describe_spent
from lerim.paths import Home
from lerim.times import format_day
from lerim.views import ProjectContext

MAX_PASSAGE_CHARACTERS = 240
"""Maximum number of characters that are shown of a passage."""
MIN_LINE_CHARACTERS = 20
"""No further line is shown if fewer characters than this remain."""


@with_error_exit
def ask_command(
    words: Annotated[list[str], typer.Argument(metavar="QUESTION", help="The question, in your own words.")],
    model: Annotated[
        ModelChoice, typer.Option(metavar="none", help="“none”: use no model; show only what was found.")
    ] = "auto",
    include_all: Annotated[
        bool, typer.Option("--all", help="Include inactive memories and memories whose code has changed.")
    ] = False,
    meaning: MeaningOption = False,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from this repository's memories and sessions, or from your personal memories, and cite the
    sources."""
    from lerim.assistant import answer_question

    if not " ".join(words).strip():
        raise typer.BadParameter("Ask something.", param_hint="QUESTION")
    context = open_command_context(repo, personal=personal)
    question = Question(" ".join(words), model, include_all)
    said: list[Sentence] = []

    def print_sentence(event: SentenceEvent) -> None:
        said.append(event.sentence)
        if not as_json:
            output.print_line(_format_sentence(event.sentence))
            output.flush_output()

    sentence_model = load_sentence_model() if meaning else None
    with interruptible() as interrupted:

        def cancelled() -> bool:
            return interrupted() or not output.is_output_read()

        def report(done: int, total: int) -> None:
            if cancelled():
                raise StoppedError
            report_reading(done, total)

        answer = None if meaning else _ask_server(context, question, print_sentence, cancelled)
        answer = answer or answer_question(
            *(context.project, context.home, os.environ, question, print_sentence, cancelled),
            clock=lambda: datetime.now(UTC),
            sentence_model=sentence_model,
            report=report,
        )
    if answer.state == "cancelled":
        answer = msgspec.structs.replace(answer, sentences=said)
    if as_json:
        output.show_json(answer)
    else:
        _show_answer(answer, context.home)
        if not (answer.passages or meaning) and context.project.memory_dir.is_dir():
            output.print_line(describe_search_by_meaning())
    raise typer.Exit(EXIT_CODES[answer.state])


def _ask_server(
    context: ProjectContext,
    question: Question,
    print_sentence: Callable[[SentenceEvent], None],
    cancelled: Callable[[], bool],
) -> Answer | None:
    """Returns the running server's answer; None if no running server can answer, or if it ended before its first
    sentence, which is safe because a question changes nothing.

    Also returns None once it is `cancelled`: the command then asks no model, and finds the sources of what was said.
    Raises LerimError.
    """
    body = {"text": question.text, "use_model": question.model == "auto", "everything": question.everything}
    decoder: msgspec.json.Decoder[SentenceEvent | AnswerLine] = msgspec.json.Decoder(SentenceEvent | AnswerLine)
    events = stream_from_running_server(context.home, ["ask"], body, decoder, context.project)
    has_begun = False
    try:
        for event in follow_events(events, cancelled) if events else ():
            if event is None:
                return None
            if isinstance(event, AnswerLine):
                return event.answer
            print_sentence(event)
            has_begun = True
    except (NotTakenError, NoAnswerError):
        if has_begun:
            raise
    return None


def _format_sentence(sentence: Sentence) -> str:
    numbers = "".join(f"[{citation.number}]" for citation in sentence.citations)
    return f"{output.escape_controls(sentence.text)} {numbers}"


def _show_answer(answer: Answer, home: Home) -> None:
    """Prints the passages that the answer cites, or all passages if it cites none."""
    if answer.message:
        output.print_line(output.escape_controls(answer.message))
    cited = {citation.number for sentence in answer.sentences for citation in sentence.citations}
    passages = (
        [passage for passage in answer.passages if passage.citation.number in cited] if cited else answer.passages
    )
    if passages:
        output.print_line()
    for passage in passages:
        _show_source(passage, home, with_text=not cited)
    if answer.left_out:
        noun = "sentence" if answer.left_out == 1 else "sentences"
        were = "was" if answer.left_out == 1 else "were"
        output.print_line(f"{answer.left_out} {noun} without a source {were} left out.")
    for spent in answer.spent:
        output.print_line(output.escape_controls(f"Called {describe_spent(spent)}."))
    output.print_problems(problem for problem in answer.problems if problem.message not in answer.message)


def _show_source(passage: Passage, home: Home, *, with_text: bool) -> None:
    citation = passage.citation
    when = f", {format_day(passage.time)}" if passage.time else ""
    what = f"{SPEAKER_NAMES[passage.role]}, {passage.detail}" if passage.role else passage.detail
    lines = [f"{what}{when}: {citation.title}", _format_show_command(passage, home)]
    if with_text:
        lines[1:1] = _first_lines(passage.text, citation.title)
    output.show_item(f"[{citation.number}]", lines)


def _first_lines(text: str, title: str) -> Iterator[str]:
    """Yields the first lines of a passage without its title: whole words, about MAX_PASSAGE_CHARACTERS in all."""
    title = title.removesuffix("…")
    while title and text.startswith(title):
        text = text[len(title) :].lstrip(" .…\n")
    remaining_characters = MAX_PASSAGE_CHARACTERS
    for line in filter(str.strip, text.splitlines()):
        yield shorten(line.rstrip(), remaining_characters)
        remaining_characters -= len(line)
        if remaining_characters < MIN_LINE_CHARACTERS:
            return


def _format_show_command(passage: Passage, home: Home) -> str:
    """Returns the command that shows the source of a passage."""
    citation = passage.citation
    if citation.kind == "memory":
        option = " --global" if Path(passage.path).is_relative_to(home.memory) else ""
        return f"lerim memory show {citation.ref.removeprefix('m:')}{option}"
    return f"lerim sessions show {citation.session} --turn {citation.turn}"
