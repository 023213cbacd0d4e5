"""Finds the working folder of a session of Gemini CLI: its store names it by a SHA-256 hash, by a slug, or not at
all."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from lerim.sessions.model import Transcript
from lerim.sessions.readers.engine import find_object, parse_fields, read_start

_PATH_BYTES = 4096
_PROJECTS_BYTES = 16 * 1024 * 1024
_HASH = re.compile(r"[0-9a-f]{64}")
_OWN_HASH = re.compile(rb'"projectHash"\s{0,20}:\s{0,20}"([0-9a-f]{64})"')
_STRING_CONTENT = rb'((?:[^"\\\]\n]|\\[^n]){1,1000})'
_WORKSPACE = re.compile(rb"Workspace Directories:\*\*\\n\s{0,10}- " + _STRING_CONTENT)
_PATH_PATTERNS = (
    re.compile(rb"\[current working directory " + _STRING_CONTENT),
    re.compile(rb'"(?:filePath|file_path|absolute_path|dir_path)"\s{0,20}:\s{0,20}"' + _STRING_CONTENT),
)
_TRIED_PATHS = 200
_SEARCHED_BYTES = 1024 * 1024
"""How many bytes of each of a session's files are searched for its working folder."""


def folders_by_hash(folders: Sequence[str]) -> dict[str, str]:
    """Returns the folders by the hashes that Gemini CLI may name their stores after."""
    return {name: folder for folder in folders for name in _folder_hashes(folder)}


def _folder_hashes(folder: str) -> Iterator[str]:
    spellings = [folder]
    if PureWindowsPath(folder).drive:
        spellings += [folder.lower(), folder.replace("/", "\\"), folder[:1].upper() + folder[1:]]
    for spelling in dict.fromkeys(spellings):
        yield hashlib.sha256(spelling.encode("utf-8", "surrogatepass")).hexdigest()


def load_slugs(root: Path) -> dict[str, str]:
    """Reads `projects.json` and returns the folders by the names of their stores; empty if it is missing or broken."""
    projects = find_object(parse_fields(read_start(root / "projects.json", _PROJECTS_BYTES)), "projects")
    return {slug: folder for folder, slug in projects.items() if isinstance(slug, str)}


def read_project_root(store: Path) -> str:
    """Returns the folder named in a store's `.project_root`; '' if there is none."""
    content = read_start(store / ".project_root", _PATH_BYTES)
    return content.decode("utf-8", "replace").strip().replace("\0", "")


def find_session_folder(transcript: Transcript) -> str:
    """Returns the working folder of a session, from the beginning of its files; "" if they do not name it."""
    return transcript.cwd or _infer_folder(transcript.path, _SEARCHED_BYTES)


def _infer_folder(session: Path, size: int) -> str:
    """Returns the working folder of a session. If the session contains the hash of its folder, or its store is named
    by it, this is the folder with that hash among the paths in the first `size` bytes of each of the session's
    files. Otherwise, or if no path matches, it is the session's first workspace directory; '' if there is none."""
    text = b"".join(read_start(one, size) for one in dict.fromkeys((session, session.with_suffix(".jsonl"))))
    store = next((parent.parent.name for parent in session.parents if parent.name == "chats"), "")
    match = _OWN_HASH.search(text)
    wanted_hash = match[1].decode() if match else store if _HASH.fullmatch(store) else ""
    workspaces = [_decode_string_content(path[1]) for path in _WORKSPACE.finditer(text)][:1]
    if wanted_hash:
        tried: set[str] = set()
        for path in (*workspaces, *_find_paths(text)):
            for folder in _list_parents(path):
                if folder in tried:
                    break
                tried.add(folder)
                if wanted_hash in _folder_hashes(folder):
                    return folder
    return workspaces[0] if workspaces else ""


def _find_paths(text: bytes) -> Iterator[str]:
    seen: set[bytes] = set()
    for pattern in _PATH_PATTERNS:
        for match in pattern.finditer(text):
            if len(seen) < _TRIED_PATHS and match[1] not in seen:
                seen.add(match[1])
                yield _decode_string_content(match[1])


def _decode_string_content(content: bytes) -> str:
    """Decodes the inside of a JSON string; returns '' if it is invalid."""
    try:
        decoded = json.loads(b'"' + content + b'"', strict=False)
    except ValueError:
        return ""
    return str(decoded).encode("utf-8", "replace").decode()


def _list_parents(path: str) -> Iterator[str]:
    pure: PurePath = PureWindowsPath(path) if PureWindowsPath(path).drive else PurePosixPath(path)
    if pure.is_absolute() and "\0" not in path:
        yield from (str(one) for one in (pure, *pure.parents)[:40])
