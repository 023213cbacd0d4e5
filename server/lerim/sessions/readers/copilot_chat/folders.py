"""Finds the folders that VS Code's workspaces refer to."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from lerim.files import open_buffered
from lerim.sessions.readers.engine import parse_json, uri_to_path

WORKSPACE_FILE_BYTES = 1024 * 1024
"""Maximum number of bytes read from a workspace file."""


def find_workspace_folder(storage: Path) -> str:
    """Returns the folder that was open in a workspace's storage, the first one if there were several; '' if it is not
    recorded."""
    fields = _read_json_object(storage / "workspace.json")
    folder = fields.get("folder")
    if isinstance(folder, str):
        return uri_to_path(folder)
    workspace = fields.get("workspace") or fields.get("configuration")
    return _first_folder(uri_to_path(workspace)) if isinstance(workspace, str) else ""


def _first_folder(workspace: str) -> str:
    """Returns the first folder of a `.code-workspace` file on this machine, or the folder that contains the file if it
    lists none; '' if the file does not exist."""
    if not workspace:
        return ""
    parent = Path(workspace).parent
    folders = _read_json_object(Path(workspace)).get("folders")
    for entry in folders if isinstance(folders, list) else ():
        if isinstance(entry, dict):
            if isinstance(uri := entry.get("uri"), str) and (folder := uri_to_path(uri)):
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
