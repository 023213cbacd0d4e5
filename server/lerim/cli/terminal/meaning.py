"""The option `--meaning` of `lerim ask` and `lerim memory search`."""

from __future__ import annotations

from typing import Annotated

import typer

from lerim.cli.terminal import output
from lerim.memory import INSTALL_SENTENCE_MODEL, is_sentence_model_installed

MeaningOption = Annotated[
    bool,
    typer.Option(
        "--meaning",
        help="After memories with all the words, show those that mean something similar; needs `lerim[meaning]`.",
    ),
]


def describe_search_by_meaning() -> str:
    """Returns a sentence that offers to search by meaning, and says what has to be installed for it."""
    if is_sentence_model_installed():
        return "`--meaning` also finds memories that mean something similar."
    return f"To find memories that mean something similar: {INSTALL_SENTENCE_MODEL}, then `--meaning`."


def report_reading(done: int, total: int) -> None:
    """Reports from time to time how many memories are still to be read for their meaning, if there are many."""
    if done % 320 == 0 and total > 50:
        output.print_note(
            f"Reading memories for their meaning, once: {done:,} of {total:,}. Ctrl-C keeps what is done."
        )
