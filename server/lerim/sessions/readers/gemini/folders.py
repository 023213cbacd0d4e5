"""Finds the working folder of a Gemini CLI session: its store names it by a SHA-256 hash, by a slug, or not at all."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from lerim.files import open_buffered, read_regular_file
from lerim.sessions.readers.engine import parse_json

PATH_CHARACTERS = 4096
_HASH = re.compile(r"[0-9a-f]{64}")
_OWN_HASH = re.compile(rb'"projectHash"\s{0,20}:\s{0,20}"([0-9a-f]{64})"')
_INSIDE = rb'((?:[^"\\\]\n]|\\[^n]){1,1000})'
_WORKSPACE = re.compile(rb"Workspace Directories:\*\*\\n\s{0,10}- " + _INSIDE)
_NAMED = (
    re.compile(rb"\[current working directory " + _INSIDE),
    re.compile(rb'"(?:filePath|file_path|absolute_path|dir_path)"\s{0,20}:\s{0,20}"' + _INSIDE),
)
_TRIED = 200


def folders_by_hash(folders: Sequence[str]) -> dict[str, str]:
    """Returns the folders by the hashes that Gemini CLI may name their stores after."""
    return {name: folder for folder in folders for name in _names(folder)}


def _names(folder: str) -> Iterator[str]:
    spelled = [folder]
    if PureWindowsPath(folder).drive:
        spelled += [folder.lower(), folder.replace("/", "\\"), folder[:1].upper() + folder[1:]]
    for one in dict.fromkeys(spelled):
        yield hashlib.sha256(one.encode("utf-8", "surrogatepass")).hexdigest()


def load_slugs(root: Path) -> dict[str, str]:
    """Reads `projects.json` and returns the folders by the names of their stores; empty if it is missing or broken."""
    try:
        told = parse_json(read_regular_file(root / "projects.json"))
    except (OSError, ValueError):
        return {}
    projects = told.get("projects") if isinstance(told, dict) else None
    if not isinstance(projects, dict):
        return {}
    return {slug: folder for folder, slug in projects.items() if isinstance(slug, str) and isinstance(folder, str)}


def read_project_root(store: Path) -> str:
    """Returns the folder named in a store's `.project_root`; '' if there is none."""
    try:
        with open_buffered(store / ".project_root") as file:
            return file.read(PATH_CHARACTERS).decode("utf-8", "replace").strip().replace("\0", "")
    except OSError:
        return ""


def infer_folder(text: bytes, store: str = "") -> str:
    """Returns the folder that the records mention and whose hash they contain (or `store` is); else the first workspace
    directory of the session; '' if there is neither."""
    found = _OWN_HASH.search(text)
    wanted = found[1].decode() if found else store if _HASH.fullmatch(store) else ""
    workspaces = [_plain(one[1]) for one in _WORKSPACE.finditer(text)][:1]
    if wanted:
        tried: set[str] = set()
        for one in (*workspaces, *_paths(text)):
            for folder in _upwards(one):
                if folder in tried:
                    break
                tried.add(folder)
                if wanted in _names(folder):
                    return folder
    return workspaces[0] if workspaces else ""


def _paths(text: bytes) -> Iterator[str]:
    seen: set[bytes] = set()
    for pattern in _NAMED:
        for one in pattern.finditer(text):
            if len(seen) < _TRIED and one[1] not in seen:
                seen.add(one[1])
                yield _plain(one[1])


def _plain(inside: bytes) -> str:
    """Decodes the inside of a JSON string; returns '' if it is invalid."""
    try:
        said = json.loads(b'"' + inside + b'"', strict=False)
    except ValueError:
        return ""
    return str(said).encode("utf-8", "replace").decode()


def _upwards(path: str) -> Iterator[str]:
    pure: PurePath = PureWindowsPath(path) if PureWindowsPath(path).drive else PurePosixPath(path)
    if pure.is_absolute() and "\0" not in path:
        yield from (str(one) for one in (pure, *pure.parents)[:40])
