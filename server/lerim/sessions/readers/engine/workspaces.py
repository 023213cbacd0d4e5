"""Finds the folders that workspaces of VS Code, and of editors derived from it, refer to."""

from __future__ import annotations

import ntpath
import posixpath
from pathlib import Path

from lerim.json_comments import strip_json_comments
from lerim.sessions.readers.engine.record_fields import (
    find_text,
    is_windows_path,
    list_objects,
    parse_fields,
    vscode_uri_to_path,
)
from lerim.sessions.readers.engine.session_files import read_start

_WORKSPACE_FILE_BYTES = 1024 * 1024
"""Maximum number of bytes read from a workspace file."""


def find_workspace_folder(storage: Path) -> str:
    """Returns the folder that was open in a workspace's storage, the first one if there were several; '' if it is not
    recorded."""
    fields = parse_fields(read_start(storage / "workspace.json", _WORKSPACE_FILE_BYTES))
    if folder := vscode_uri_to_path(find_text(fields, "folder")):
        return folder
    return find_first_folder(vscode_uri_to_path(find_text(fields, "workspace", "configuration")))


def find_first_folder(workspace: str) -> str:
    """Returns the first folder that a workspace file on this machine lists, else the folder that contains the
    `.code-workspace` file; '' for a workspace that was never saved and lists none."""
    if not workspace:
        return ""
    system = ntpath if is_windows_path(workspace) else posixpath
    parent = system.dirname(workspace)
    text = read_start(Path(workspace), _WORKSPACE_FILE_BYTES).decode("utf-8", "replace")
    for entry in list_objects(parse_fields(strip_json_comments(text)).get("folders")):
        if folder := vscode_uri_to_path(find_text(entry, "uri")):
            return folder
        if path := find_text(entry, "path"):
            return str(system.normpath(system.join(parent, path)))
    return parent if workspace.endswith(".code-workspace") else ""
