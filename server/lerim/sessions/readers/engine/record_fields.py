"""Reads the fields of records that agents store as plain JSON: texts, lists, numbers, times, addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import Tokens
from lerim.sessions.readers.engine.fields import without_nul
from lerim.sessions.readers.engine.lenient_json import Shape, parse_json_or_none, parse_object, split_json_array

_IMPLAUSIBLE_COUNT = 1 << 48
_IMPLAUSIBLE_TIME = 1e14
_URI = re.compile(r"([a-z][a-z0-9+.-]{1,30})://([^/]{0,2000})(/?.*)", re.DOTALL)
_DRIVE = re.compile(r"/?[A-Za-z]:(?:[/\\]|$)")
_WSL_HOSTS = ("wsl.localhost", "wsl$")


def parse_fields(data: bytes | str | msgspec.Raw) -> dict[str, object]:
    """Parses a JSON object, or a string that contains one as JSON; returns {} for anything else."""
    value = parse_json_or_none(data)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = parse_json_or_none(value)
    return value if isinstance(value, dict) else {}


def find_text(fields: Mapping[str, object], *names: str) -> str:
    """Returns the first of the named fields that contains a non-empty text; '' if there is none."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return without_nul(value)
    return ""


def find_object(fields: Mapping[str, object], name: str) -> dict[str, object]:
    """Returns a field that is an object; {} if there is none."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def list_texts(value: object) -> tuple[str, ...]:
    """Returns the texts in a list; empty if `value` is not a list."""
    return tuple(without_nul(one) for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def join_texts(value: object) -> str:
    """Returns a text, or the texts in a list separated by commas; '' for anything else."""
    return without_nul(value) if isinstance(value, str) else ", ".join(list_texts(value))


def list_objects(value: object) -> list[dict[str, object]]:
    """Returns the objects in a list; empty if `value` is not a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def parse_objects(data: bytes | msgspec.Raw, shape: type[Shape]) -> list[Shape]:
    """Returns the objects in a JSON array as `shape`; leaves out everything else."""
    objects: list[Shape] = []
    for raw in split_json_array(data):
        try:
            objects.append(parse_object(raw, shape))
        except ValueError:
            continue
    return objects


def file_name(path: str) -> str:
    """Returns the last part of a path of any system."""
    return (PureWindowsPath(path) if "\\" in path else PurePosixPath(path)).name


def plausible_count(number: float | None) -> int:
    """Returns a count as an integer; 0 if it is missing or implausible."""
    return int(number) if number and 0 < number < _IMPLAUSIBLE_COUNT else 0


def split_usage(sent: float | None, output: float | None, read: float | None, written: float | None = 0) -> Tokens:
    """Returns the tokens of an answer. `sent` includes those that were read from a cache or written to it."""
    counts = Tokens(*map(plausible_count, (sent, output, read, written)))
    return replace(
        counts,
        input=max(0, counts.input - counts.cache_read - counts.cache_write),
        cache_read=min(counts.input, counts.cache_read),
    )


def milliseconds_to_time(milliseconds: float | None) -> datetime | None:
    """Converts milliseconds since 1970; returns None if they are missing or implausible."""
    if not milliseconds or not 0 < milliseconds < _IMPLAUSIBLE_TIME:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def vscode_uri_to_path(uri: str) -> str:
    """Returns the path that a URI of VS Code (or a path) refers to on the machine it belongs to; '' if it refers to no
    file.

    `vscode-remote://ssh-remote%2Bhost/srv/app` becomes `/srv/app`: sessions of remote folders are stored on the
    editor's side.
    """
    if is_windows_path(uri) or uri.startswith(("/", "\\")):
        return _normalize_path(uri)
    parts = _URI.fullmatch(uri)
    if parts is None or parts[1] not in ("file", "vscode-remote", "vscode-local"):
        return ""
    host, path = unquote(parts[2]), unquote(parts[3])
    if "\0" in path:
        return ""
    if parts[1] == "vscode-remote" or host in ("", "localhost"):
        return _normalize_path(path)
    if host.lower() in _WSL_HOSTS:
        return "/" + path.strip("/").partition("/")[2]
    return f"\\\\{host}" + path.replace("/", "\\")


def is_windows_path(path: str) -> bool:
    """Returns whether a path begins with a drive or a server."""
    return bool(_DRIVE.match(path)) or path.startswith("\\\\")


def _normalize_path(path: str) -> str:
    if _DRIVE.match(path):
        drive, rest = path.lstrip("/")[:2], path.lstrip("/")[2:].replace("/", "\\").rstrip("\\")
        return drive + (rest or "\\")
    return path.rstrip("/") or "/" if path.startswith("/") else path
