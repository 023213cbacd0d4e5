"""Caches a model's answers to windows, so that a sync that was killed or is repeated asks nothing twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from lerim import files
from lerim.errors import MemoryError_
from lerim.extraction.model.signatures import MemoryCandidate, MemoryExtractSignature
from lerim.redaction import redact_json

KEPT = 200
MOST_BYTES = 1_000_000
CUT = "cut at the output limit:\n"
LOST = "with quotes that are to be asked for once more:\n"
_ITEMS = TypeAdapter(list[MemoryCandidate])
_NAME = re.compile(r"^[0-9a-f]{64}\.json$")


class WindowAnswerCache:
    """The answers of one model to windows of one project, in `folder` (None: nothing is cached)."""

    def __init__(self, folder: Path | None, model: str) -> None:
        self._folder = folder
        self._model = model

    def find(self, window: str, *, cut: bool = False, lost: bool = False) -> tuple[MemoryCandidate, ...] | None:
        """Returns the cached answer to this window, or None if there is none or it cannot be read. `cut`: an answer
        truncated at the model's output limit. `lost`: an answer with quotes that have not been repaired yet."""
        if self._folder is None:
            return None
        try:
            return tuple(_ITEMS.validate_json(files.read_text(self._path(window, cut, lost), MOST_BYTES)))
        except (MemoryError_, ValidationError):
            return None

    def store(self, window: str, items: Sequence[MemoryCandidate], *, cut: bool = False, lost: bool = False) -> None:
        """Stores an answer and deletes all but the newest `KEPT`; callable from any thread. If the folder cannot be
        written, nothing is stored."""
        if self._folder is None:
            return
        try:
            files.make_folder(self._folder, 0o700)
            files.replace_file(
                self._path(window, cut, lost), redact_json(_ITEMS.dump_json(list(items)).decode()), 0o600
            )
            if not cut and not lost:
                self._path(window, cut=False, lost=True).unlink(missing_ok=True)
            kept = [path for path in self._folder.iterdir() if _NAME.match(path.name)]
            for path in sorted(kept, key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
                path.unlink(missing_ok=True)
        except (OSError, MemoryError_):
            return  # at worst the model is asked again

    def _path(self, window: str, cut: bool, lost: bool) -> Path:
        assert self._folder is not None
        asked = (
            f"{self._model}\n{MemoryExtractSignature.instructions}\n{CUT if cut else ''}{LOST if lost else ''}{window}"
        )
        return self._folder / f"{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()}.json"
