"""Which memories the person had to repeat although agents had been given them before: kept from one computation of the
benefit to the next, because reading the sessions again takes seconds. It can be deleted at any time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from lerim import files
from lerim.errors import LerimError, Problem

FILE_NAME = "repeats.json"
MAX_FILE_BYTES = 4_000_000


def save_repeats(private_dir: Path, counts: Mapping[str, int]) -> list[Problem]:
    """Keeps how often the person repeated each memory, by id. Returns a problem if that cannot be written."""
    kept = {memory: count for memory, count in sorted(counts.items()) if count}
    path = private_dir / FILE_NAME
    if not kept and files.is_absent(path):
        return []
    try:
        files.replace_file(path, msgspec.json.encode(kept).decode(), 0o600, flush=False)
    except LerimError as error:
        return [error.problem(str(path), code="benefit")]
    return []


def load_repeats(private_dir: Path) -> dict[str, int]:
    """Returns how often the person repeated each memory, by id, as last computed; nothing if that is not known."""
    path = private_dir / FILE_NAME
    if files.is_absent(path):
        return {}
    try:
        return msgspec.json.decode(files.read_text(path, MAX_FILE_BYTES), type=dict[str, int])
    except (LerimError, msgspec.MsgspecError):
        return {}  # it is made again by the next computation
