"""Sends a question to a model in one plain request and parses the answer as it is streamed."""

from __future__ import annotations

from collections.abc import Sequence

from lerim.assistant.answer_parser import INSTRUCTIONS, AnswerParser, render_prompt
from lerim.assistant.answers import Passage
from lerim.models import Engine, Model, count_tokens, stream_answer

OVERHEAD_TOKENS = 1_500
"""Tokens reserved for what is sent besides the passages."""


def send_question(
    engine: Engine, model: Model, question: str, passages: Sequence[Passage], parser: AnswerParser
) -> None:
    """Ask a model the question with as many of the passages, best first, as fit into its window. The answer is fed to
    `parser`.

    Raises ModelError if there is no answer or it breaks off; what was parsed until then remains valid.
    """
    shown = fit_passages(question, passages, engine.window_tokens)
    prompt = render_prompt(question, shown)
    is_complete = False
    try:
        is_complete = stream_answer(engine, model, INSTRUCTIONS, prompt, parser.feed, "lead")
    finally:
        parser.end(is_complete=is_complete)


def fit_passages(question: str, passages: Sequence[Passage], tokens: int) -> list[Passage]:
    """Return the first passages that fit into a window of `tokens` together, at least one."""
    fitting: list[Passage] = []
    tokens_left = tokens - OVERHEAD_TOKENS - count_tokens(question)
    for passage in passages:
        tokens_left -= count_tokens(passage.text) + 30
        if fitting and tokens_left < 0:
            break
        fitting.append(passage)
    return fitting
