"""Finds the folders that VS Code's URIs and workspaces refer to."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from lerim.files import open_buffered
from lerim.sessions.readers.engine import parse_json

FILE_SIZE_LIMIT = 1024 * 1024
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
        return _native(path)
    if split.scheme != "file":
        return ""
    if split.netloc and split.netloc != "localhost":
        return rf"\\{unquote(split.netloc)}{path}".replace("/", "\\")
    return _native(path)


def _native(path: str) -> str:
    trimmed = path.rstrip("/") or "/"
    if len(path) > 2 and path[0] == "/" and path[1].isalpha() and path[2] == ":":
        drive = f"{trimmed[1:]}/" if len(trimmed) == 3 else trimmed[1:]
        return drive.replace("/", "\\")
    return trimmed


def find_workspace_folder(storage: Path) -> str:
    """Returns the folder that was open in a workspace's storage, the first one if there were several; '' if it is not
    recorded."""
    told = _read(storage / "workspace.json")
    folder = told.get("folder")
    if isinstance(folder, str):
        return folder_of_address(folder)
    several = told.get("workspace") or told.get("configuration")
    return _first(folder_of_address(several)) if isinstance(several, str) else ""


def _first(workspace: str) -> str:
    """Returns the first folder of a `.code-workspace` file on this machine, or the folder that contains the file if it
    lists none; '' if the file does not exist."""
    if not workspace:
        return ""
    around = Path(workspace).parent
    folders = _read(Path(workspace)).get("folders")
    for one in folders if isinstance(folders, list) else ():
        if isinstance(one, dict):
            if isinstance(uri := one.get("uri"), str) and (folder := folder_of_address(uri)):
                return folder
            if isinstance(path := one.get("path"), str) and path and "\0" not in path:
                joined = around / path
                return str(_plain(PurePosixPath(joined))) if joined.drive == "" else str(joined)
    return "" if folders is None and not Path(workspace).is_file() else str(around)


def _plain(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part not in (".", ".."):
            parts.append(part)
    return PurePosixPath(*parts)


def _read(path: Path) -> dict[object, object]:
    try:
        with open_buffered(path) as file:
            found = parse_json(file.read(FILE_SIZE_LIMIT))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
