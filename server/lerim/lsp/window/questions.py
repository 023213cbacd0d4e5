"""The questions of one job that the editor is asked: several at once, each taken back when nobody waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from lerim.lsp.boundary import error_location
from lerim.models import EditorAnswer, EditorAnswerPart, EditorCancellation, EditorQuestion, EditorRefusal

log = logging.getLogger("lerim.jobs")

Asker = Callable[[EditorQuestion, bool, Callable[[str], None]], Awaitable[EditorAnswer | EditorRefusal]]
"""Asks the editor on behalf of a job; the flag says whether the person asked for that job. What is called last hears
the answer as it comes, where the question wants that."""


@dataclass(slots=True)
class JobQuestions:
    """One job's open questions. `answer` hands a line down to the job."""

    asker: Asker
    explicit: bool
    answer: Callable[[EditorAnswer | EditorAnswerPart | EditorRefusal], None]
    _open: dict[int, asyncio.Task[None]] = field(default_factory=dict)

    def take(self, line: EditorQuestion | EditorCancellation) -> None:
        """A line of the job: a question begins, or one is not waited for any more."""
        if isinstance(line, EditorCancellation):
            if task := self._open.pop(line.id, None):
                task.cancel()
            return
        task = self._open[line.id] = asyncio.create_task(self._ask(line))
        task.add_done_callback(lambda _task: self._open.pop(line.id, None))

    def end(self) -> None:
        """The job is over: what is still asked is taken back."""
        for task in list(self._open.values()):
            task.cancel()

    async def _ask(self, line: EditorQuestion) -> None:
        try:
            answer = await self.asker(line, self.explicit, lambda text: self.answer(EditorAnswerPart(line.id, text)))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # or the job would wait until its time is up
            log.error("Asking the editor failed: %s at %s.", type(error).__name__, error_location(error))
            answer = EditorRefusal(line.id, "failed")
        self.answer(answer)
