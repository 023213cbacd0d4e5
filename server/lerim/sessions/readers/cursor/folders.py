"""Finds the folder a Cursor chat belongs to, from URIs of local, WSL and remote folders and from indirect
references."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from lerim.sessions.readers.cursor.records import ComposerHead, Uri
from lerim.sessions.readers.engine import (
    find_first_folder,
    find_text,
    find_workspace_folder,
    is_windows_path,
    parse_fields,
    read_start,
    vscode_uri_to_path,
)

SIDE_FILE_BYTES = 64 * 1024
"""How many bytes of a small file next to a store are read."""
_NOT_SLUG = re.compile(r"[^A-Za-z0-9]+")


def folder_of_uri(uri: Uri | str | None) -> str:
    """Returns the path of a location as the editor stores it."""
    if uri is None or isinstance(uri, str):
        return vscode_uri_to_path(uri or "")
    if uri.scheme in ("", None, "file") and uri.fs_path:
        return vscode_uri_to_path(uri.fs_path)
    return vscode_uri_to_path(uri.external or "") or vscode_uri_to_path(uri.path or uri.fs_path or "")


def folder_of_head(head: ComposerHead, storage: Path) -> str:
    """Returns the folder that a composer or its head names. `storage` is the `workspaceStorage` folder, where workspace
    ids are looked up."""
    window, found = head.workspace_identifier, ""
    if window is not None:  # its URI, its workspace file, or its workspace id
        found = folder_of_uri(window.uri) or find_first_folder(folder_of_uri(window.config))
        found = found or _folder_of_workspace_id(window.id or "", storage)
    if not found and head.agent_location is not None and head.agent_location.environment is not None:
        found = folder_of_uri(head.agent_location.environment.uri)
    return found


def _folder_of_workspace_id(identifier: str, storage: Path) -> str:
    """Returns the folder of a workspace id; '' if it is not a valid id or its storage is gone."""
    return find_workspace_folder(storage / identifier) if re.fullmatch(r"[A-Za-z0-9-]{1,100}", identifier) else ""


def folder_of_project(folder: Path, folders: Sequence[str]) -> str:
    """Returns the folder that a folder in `~/.cursor/projects` is named after, from its `.workspace-trusted` file or a
    known folder; '' if none or several match."""
    trusted = find_text(parse_fields(read_start(folder / ".workspace-trusted", SIDE_FILE_BYTES)), "workspacePath")
    if trusted and cursor_slug(trusted) == cursor_slug(folder.name):
        return trusted
    found = {one for one in folders if cursor_slug(one) == cursor_slug(folder.name)}
    return found.pop() if len(found) == 1 else ""


def cursor_slug(path: str) -> str:
    """Returns the name Cursor derives from a folder's path: lowercase letters and digits, with a dash for anything
    else."""
    return _NOT_SLUG.sub("-", path).strip("-").lower()


def folders_by_digest(folders: Sequence[str]) -> dict[str, str]:
    """Returns known folders by the MD5 digest under which Cursor's command line files their chats."""
    return {hashlib.md5(one.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(): one for one in folders}


def common_folder(paths: Iterable[str]) -> str:
    """Returns the deepest folder that contains all files given by absolute paths; '' if that is the root or there is
    none."""
    shared: tuple[str, ...] | None = None
    path_type: type[PurePath] = PurePosixPath
    for path in paths:
        parsed = _parse_path(path)
        if not parsed.is_absolute():
            continue
        parts = parsed.parent.parts
        if shared is None:
            shared, path_type = parts, type(parsed)
        elif path_type is type(parsed):
            common = 0
            while common < min(len(shared), len(parts)) and shared[common] == parts[common]:
                common += 1
            shared = shared[:common]
    return str(path_type(*shared)) if shared is not None and len(shared) > 1 else ""


def _parse_path(path: str) -> PurePath:
    return PureWindowsPath(path) if is_windows_path(path) else PurePosixPath(path)
