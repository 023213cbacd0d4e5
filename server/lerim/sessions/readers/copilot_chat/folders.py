"""Finds the folders that VS Code's URIs and workspaces refer to."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from lerim.files import open_buffered
from lerim.sessions.readers.engine import parse_json

WORKSPACE_FILE_BYTES = 1024 * 1024
"""Maximum number of bytes read from a workspace file."""


def folder_of_address(uri: str) -> str:
    """Returns the path of a `file:` or `vscode-remote:` URI, as written on the machine it is on; '' for any other
    URI."""
    try:
        split = urlsplit(uri)
    except ValueError:
        return ""
    path = unquote(split.path, errors="replace")
    if not path or "\0" in path:
        return ""
    if split.scheme == "vscode-remote":
        return _normalize_path(path)
    if split.scheme != "file":
        return ""
    if split.netloc and split.netloc != "localhost":
        return rf"\\{unquote(split.netloc)}{path}".replace("/", "\\")
    return _normalize_path(path)


def _normalize_path(path: str) -> str:
    trimmed = path.rstrip("/") or "/"
    if len(path) > 2 and path[0] == "/" and path[1].isalpha() and path[2] == ":":
        drive = f"{trimmed[1:]}/" if len(trimmed) == 3 else trimmed[1:]
        return drive.replace("/", "\\")
    return trimmed


def find_workspace_folder(storage: Path) -> str:
    """Returns the folder that was open in a workspace's storage, the first one if there were several; '' if it is not
    recorded."""
    fields = _read_json_object(storage / "workspace.json")
    folder = fields.get("folder")
    if isinstance(folder, str):
        return folder_of_address(folder)
    workspace = fields.get("workspace") or fields.get("configuration")
    return _first_folder(folder_of_address(workspace)) if isinstance(workspace, str) else ""


def _first_folder(workspace: str) -> str:
    """Returns the first folder of a `.code-workspace` file on this machine, or the folder that contains the file if it
    lists none; '' if the file does not exist."""
    if not workspace:
        return ""
    parent = Path(workspace).parent
    folders = _read_json_object(Path(workspace)).get("folders")
    for entry in folders if isinstance(folders, list) else ():
        if isinstance(entry, dict):
            if isinstance(uri := entry.get("uri"), str) and (folder := folder_of_address(uri)):
                return folder
            if isinstance(path := entry.get("path"), str) and path and "\0" not in path:
                joined = parent / path
                return str(_resolve_dots(PurePosixPath(joined))) if joined.drive == "" else str(joined)
    return "" if folders is None and not Path(workspace).is_file() else str(parent)


def _resolve_dots(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part not in (".", ".."):
            parts.append(part)
    return PurePosixPath(*parts)


def _read_json_object(path: Path) -> dict[object, object]:
    try:
        with open_buffered(path) as file:
            found = parse_json(file.read(WORKSPACE_FILE_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
