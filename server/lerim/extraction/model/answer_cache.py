"""Caches the answers of a model, so that a sync that was killed or is repeated neither asks nor pays for anything
twice."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from lerim import files
from lerim.errors import MemoryError_
from lerim.models import dspy
from lerim.patterns import compile_later
from lerim.redaction import redact_json

MAX_CACHED_ANSWERS = 200
MAX_ANSWER_BYTES = 1_000_000
_NAME = compile_later(r"^[0-9a-f]{64}\.json$")
Answer = TypeVar("Answer", bound=BaseModel)


class AnswerCache(Generic[Answer]):
    """The newest answers of one model about the sessions of one project, each in a file of `folder` (None: nothing
    is kept). An answer is found by the model, the instructions, the JSON schema of `answer_type` (docstrings
    included), and the text that the model was shown."""

    def __init__(self, folder: Path | None, model: str, answer_type: type[Answer]) -> None:
        self._folder = folder
        self._model = model
        self._type = answer_type

    def find(self, signature: type[dspy.Signature], text: str) -> Answer | None:
        """Returns the answer about this text, or None if there is none or it cannot be read."""
        if self._folder is None:
            return None
        try:
            return self._type.model_validate_json(
                files.read_text(self._path(self._folder, signature, text), MAX_ANSWER_BYTES)
            )
        except (MemoryError_, ValidationError):
            return None

    def store(self, signature: type[dspy.Signature], text: str, answer: Answer) -> None:
        """Stores an answer, from any thread, and deletes all but the newest `MAX_CACHED_ANSWERS`. If the folder cannot
        be written, nothing is stored."""
        if self._folder is None:
            return
        try:
            files.make_folder(self._folder, 0o700)
            content = redact_json(answer.model_dump_json())
            files.replace_file(self._path(self._folder, signature, text), content, 0o600)
            cached_files = [path for path in self._folder.iterdir() if _NAME.match(path.name)]
            for path in sorted(cached_files, key=lambda path: path.stat().st_mtime_ns)[:-MAX_CACHED_ANSWERS]:
                path.unlink(missing_ok=True)
        except (OSError, MemoryError_):
            return  # at worst, the model is asked again

    def _path(self, folder: Path, signature: type[dspy.Signature], text: str) -> Path:
        asked = f"{self._model}\n{signature.instructions}\n{self._type.model_json_schema()}\n{text}"
        return folder / f"{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()}.json"
