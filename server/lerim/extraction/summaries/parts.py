"""What a model told of a session's parts, kept: in the session's state from one sync to the next, and each answer by
what was shown, the question and the model, so that what was paid for once is never paid for again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import dspy
from pydantic import BaseModel, ValidationError

from lerim import files
from lerim.errors import MemoryError_
from lerim.extraction.summaries.signatures import SessionPart
from lerim.redaction import redact_json
from lerim.sessions import SummaryTurn

VERSION = 1
KEPT = 200
MOST_BYTES = 1_000_000
_NAME = re.compile(r"^[0-9a-f]{64}\.json$")


class SummaryParts(BaseModel):
    """The parts of a session that were told so far by `model`; `sent` is the number of the last turn in them, and
    `turn` its id."""

    version: int = VERSION
    model: str = ""
    sent: int = -1
    turn: str = ""
    parts: list[SessionPart] = []


def unpack_parts(state: bytes | None, model: str, turns: Sequence[SummaryTurn]) -> SummaryParts:
    """What was told before; nothing where another model told it, or the session is not the same any more."""
    fresh = SummaryParts(model=model)
    if not state:
        return fresh
    try:
        found = SummaryParts.model_validate_json(state)
    except ValidationError:
        return fresh
    same = any(turn.number == found.sent and turn.id == found.turn for turn in turns)
    return found if found.version == VERSION and found.model == model and same else fresh


class SummaryAnswerCache:
    """The answers of one model to what it was shown of sessions of one project, in `folder`."""

    def __init__(self, folder: Path, model: str) -> None:
        self._folder = folder
        self._model = model

    def find(self, signature: type[dspy.Signature], shown: str) -> SessionPart | None:
        """What was answered to this; None where it was not asked, or what is there cannot be read."""
        try:
            return SessionPart.model_validate_json(files.read_text(self._path(signature, shown), MOST_BYTES))
        except (MemoryError_, ValidationError):
            return None

    def keep(self, signature: type[dspy.Signature], shown: str, part: SessionPart) -> None:
        """Keeps an answer, and the newest few of all. A folder that cannot be written keeps nothing."""
        try:
            files.make_folder(self._folder, 0o700)
            files.replace_file(self._path(signature, shown), redact_json(part.model_dump_json()), 0o600)
            kept = [path for path in self._folder.iterdir() if _NAME.match(path.name)]
            for path in sorted(kept, key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
                path.unlink()
        except (OSError, MemoryError_):
            return  # it costs a second call at most

    def _path(self, signature: type[dspy.Signature], shown: str) -> Path:
        asked = f"{self._model}\n{signature.instructions}\n{SessionPart.model_json_schema()}\n{shown}"
        return self._folder / f"{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()}.json"
