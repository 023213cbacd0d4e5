"""Caches a model's answers, so that a sync that was killed or is repeated asks nothing twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from lerim import files
from lerim.errors import MemoryError_
from lerim.extraction.model.signatures import MemoryCandidate, MemoryExtractSignature
from lerim.patterns import compile_later
from lerim.redaction import redact_json

MAX_CACHED_ANSWERS = 200
MAX_ANSWER_BYTES = 1_000_000
TRUNCATED_MARK = "cut at the output limit:\n"
UNREPAIRED_MARK = "with quotes that are to be asked for once more:\n"
_ITEMS = TypeAdapter(list[MemoryCandidate])
_NAME = compile_later(r"^[0-9a-f]{64}\.json$")


class AnswerFiles:
    """The newest answers to what was asked, each in a file of `folder` (None: nothing is kept). `question` must say
    everything that the answer depends on, the model included."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def find(self, question: str) -> str | None:
        """Returns the answer as JSON, or None if there is none or it cannot be read."""
        if self._folder is None:
            return None
        try:
            return files.read_text(self._path(self._folder, question), MAX_ANSWER_BYTES)
        except MemoryError_:
            return None

    def store(self, question: str, answer: str, replaced: str = "") -> None:
        """Stores an answer, which must be JSON, deletes the one to the question `replaced`, and all but the newest
        `MAX_CACHED_ANSWERS`; callable from any thread. If the folder cannot be written, nothing is stored."""
        if self._folder is None:
            return
        try:
            files.make_folder(self._folder, 0o700)
            files.replace_file(self._path(self._folder, question), redact_json(answer), 0o600)
            if replaced:
                self._path(self._folder, replaced).unlink(missing_ok=True)
            cached_files = [path for path in self._folder.iterdir() if _NAME.match(path.name)]
            for path in sorted(cached_files, key=lambda path: path.stat().st_mtime_ns)[:-MAX_CACHED_ANSWERS]:
                path.unlink(missing_ok=True)
        except (OSError, MemoryError_):
            return  # at worst the model is asked again

    @staticmethod
    def _path(folder: Path, question: str) -> Path:
        return folder / f"{hashlib.sha256(question.encode('utf-8', 'surrogatepass')).hexdigest()}.json"


class WindowAnswerCache:
    """The answers of one model to windows of one project, in `folder` (None: nothing is cached)."""

    def __init__(self, folder: Path | None, model: str) -> None:
        self._files = AnswerFiles(folder)
        self._model = model

    def find(
        self, window: str, *, truncated: bool = False, unrepaired: bool = False
    ) -> tuple[MemoryCandidate, ...] | None:
        """Returns the cached answer to this window, or None if there is none or it cannot be read. `truncated`: an
        answer cut at the model's output limit. `unrepaired`: an answer with quotes that have not been repaired yet."""
        answer = self._files.find(self._question(window, truncated, unrepaired))
        try:
            return tuple(_ITEMS.validate_json(answer)) if answer is not None else None
        except ValidationError:
            return None

    def store(
        self, window: str, items: Sequence[MemoryCandidate], *, truncated: bool = False, unrepaired: bool = False
    ) -> None:
        """Stores an answer. A whole one replaces the unrepaired one."""
        replaced = "" if truncated or unrepaired else self._question(window, False, True)
        answer = _ITEMS.dump_json(list(items)).decode()
        self._files.store(self._question(window, truncated, unrepaired), answer, replaced)

    def _question(self, window: str, truncated: bool, unrepaired: bool) -> str:
        marks = f"{TRUNCATED_MARK if truncated else ''}{UNREPAIRED_MARK if unrepaired else ''}"
        return f"{self._model}\n{MemoryExtractSignature.instructions}\n{marks}{window}"
