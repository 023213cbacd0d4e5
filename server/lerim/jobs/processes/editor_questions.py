"""Forwards a job's questions to the editor: several at once, each cancelled when the job no longer waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from lerim.errors import error_location
from lerim.models import EditorAnswer, EditorAnswerPart, EditorCancellation, EditorQuestion, EditorRefusal

log = logging.getLogger("lerim.jobs")

EditorAsker = Callable[[EditorQuestion, bool, Callable[[str], None]], Awaitable[EditorAnswer | EditorRefusal]]
"""Asks the editor on behalf of a job. The flag says whether the person started the job; the callback gets the answer
piece by piece if the question streams."""


@dataclass(slots=True)
class JobQuestions:
    """The open questions of one job. `send_answer` sends a line to the job."""

    ask_editor: EditorAsker
    explicit: bool
    send_answer: Callable[[EditorAnswer | EditorAnswerPart | EditorRefusal], None]
    _open: dict[int, asyncio.Task[None]] = field(default_factory=dict)

    def handle_line(self, line: EditorQuestion | EditorCancellation) -> None:
        """Handles a line of the job, which starts or cancels a question."""
        if isinstance(line, EditorCancellation):
            if task := self._open.pop(line.id, None):
                task.cancel()
            return
        task = self._open[line.id] = asyncio.create_task(self._ask(line))
        task.add_done_callback(lambda _task: self._open.pop(line.id, None))

    def cancel_all(self) -> None:
        """Cancels all open questions, when the job has ended."""
        for task in list(self._open.values()):
            task.cancel()

    async def _ask(self, line: EditorQuestion) -> None:
        try:
            answer = await self.ask_editor(
                line, self.explicit, lambda text: self.send_answer(EditorAnswerPart(line.id, text))
            )
        except asyncio.CancelledError:
            raise
        except Exception as error:  # without an answer the job would wait until its timeout
            log.error("Asking the editor failed: %s at %s.", type(error).__name__, error_location(error))
            answer = EditorRefusal(line.id, "failed")
        self.send_answer(answer)
