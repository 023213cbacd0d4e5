"""Finds OpenCode sessions that a person exported (`opencode export ID > session.json`).

OpenCode itself keeps no exports, so they are where the person put them: in the `export` folder of a store, or directly
in a folder that contains nothing else of OpenCode (one named with `lerim connect opencode --path FOLDER`). File names
are arbitrary; the session record at the beginning of an export identifies it.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path

from lerim.errors import Problem, error_reason
from lerim.files import open_buffered
from lerim.sessions.model import Transcript
from lerim.sessions.readers.engine import (
    encode_json,
    list_folder,
    parse_leading_json,
    parse_object,
    stamp_inode,
    stat_regular_file,
    without_nul,
)
from lerim.sessions.readers.opencode.records import OpenCodeInfo

EXPORT_FOLDER = "export"
_HEAD_BYTES = 64 * 1024
"""How many bytes at the beginning of an export are read: more than the session record, which comes first, takes up."""
_BEGINNING = re.compile(r'\s*\{\s*"info"\s*:\s*(?=\{)')
_DATA_FOLDER_NAMES = re.compile(r"storage|auth\.json|mcp-auth\.json|opencode[^/]{0,200}\.db")
"""Names that identify OpenCode's data folder. No file directly in it is opened to look for exports, because its own
files contain keys."""


def find_exports(root: Path, entries: list[os.DirEntry[str]], problems: list[Problem]) -> list[Transcript]:
    """Returns the exported sessions of a store, newest first, including several exports of one session. `entries`
    are the entries of the folder `root`."""
    is_data_folder = any(_DATA_FOLDER_NAMES.fullmatch(entry.name) for entry in entries)
    files = [*([] if is_data_folder else entries), *list_folder(root / EXPORT_FOLDER, problems)]
    exports = [one for entry in files if entry.name.endswith(".json") and (one := _read_export(entry, problems))]
    return sorted(exports, key=lambda one: one.mtime_ns, reverse=True)


def convert_to_utf8(data: bytes) -> bytes:
    """Returns JSON text as UTF-8 without a byte order mark: PowerShell's `>` writes UTF-16, other programs write a
    mark."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _read_export(entry: os.DirEntry[str], problems: list[Problem]) -> Transcript | None:
    """Returns the transcript of an exported file, under the session's own id; None for any other file."""
    file_stat = stat_regular_file("opencode", entry, problems)
    if file_stat is None:
        return None
    path = Path(entry.path)
    try:
        with open_buffered(path) as file:
            head = convert_to_utf8(file.read(_HEAD_BYTES)).decode("utf-8", "replace")
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            what = f"This file cannot be read: {error_reason(error)}"
            problems.append(Problem("unreadable", entry.path, what))
        return None
    opening = _BEGINNING.match(head)
    if opening is None:
        return None
    info = _decode_info(head, opening.end())
    cwd = without_nul(info.directory)
    session = without_nul(info.id)[:200] or path.stem
    return Transcript(
        platform="opencode",
        path=path,
        session_id=session,
        size=file_stat.st_size,
        mtime_ns=file_stat.st_mtime_ns,
        inode=stamp_inode(file_stat.st_ino, cwd),
        parent=parent if (parent := without_nul(info.parent_id)[:200]) != session else "",
        cwd=cwd,
    )


def _decode_info(head: str, start: int) -> OpenCodeInfo:
    """Decodes the session record that begins at `start`; returns an empty one if it is damaged, which is reported when
    the session is read."""
    try:
        return parse_object(encode_json(parse_leading_json(head[start:].encode())), OpenCodeInfo)
    except ValueError:
        return OpenCodeInfo()
