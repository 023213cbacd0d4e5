"""Converts between `file:` URIs and paths of any platform. Other schemes (`untitled:`, `git:`, …) have no path."""

from __future__ import annotations

import re
import sys
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from urllib.parse import quote, unquote, urlsplit

DRIVE_PATTERN = re.compile(r"/[A-Za-z]:")
SAFE_CHARACTERS = "/~!$&'()*+,;=@"


def uri_to_path(uri: str, platform: str = sys.platform) -> PurePath | None:
    """Returns the path of a `file:` URI; None for another scheme or an invalid URI. Drive letters become upper case."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="surrogateescape")
    except ValueError:
        return None
    if parts.scheme != "file" or not path.startswith("/") or "\0" in path:
        return None
    if platform != "win32":
        return None if parts.netloc not in ("", "localhost") else PurePosixPath(path)
    if parts.netloc:
        return PureWindowsPath(f"//{unquote(parts.netloc)}{path}")
    if not DRIVE_PATTERN.match(path):
        return None
    return PureWindowsPath(path[1].upper() + path[2:])


def path_to_uri(path: PurePath | str, platform: str = sys.platform) -> str:
    """Returns the `file:` URI of an absolute path, as VS Code writes it (drive letter in lower case, its colon
    escaped)."""
    if platform != "win32":
        return "file://" + quote(str(path).encode("utf-8", "surrogateescape"), safe=SAFE_CHARACTERS)
    text = PureWindowsPath(path).as_posix()
    if text.startswith("//"):
        return "file:" + quote(text, safe=SAFE_CHARACTERS)
    return "file:///" + quote(text[0].lower() + text[1:], safe=SAFE_CHARACTERS)
