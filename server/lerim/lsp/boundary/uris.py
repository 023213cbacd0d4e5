"""`file:` URIs and paths, for every platform, as data. Other schemes (`untitled:`, `git:`, …) have no path."""

from __future__ import annotations

import re
import sys
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from urllib.parse import quote, unquote, urlsplit

DRIVE = re.compile(r"/[A-Za-z]:")
SAFE = "/~!$&'()*+,;=@"


def to_path(uri: str, platform: str = sys.platform) -> PurePath | None:
    """The path of a `file:` URI; None for another scheme or a broken URI. Drive letters become upper case."""
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
    if not DRIVE.match(path):
        return None
    return PureWindowsPath(path[1].upper() + path[2:])


def from_path(path: PurePath | str, platform: str = sys.platform) -> str:
    """The `file:` URI of an absolute path, as VS Code writes it (drive letter in lower case, its colon escaped)."""
    if platform != "win32":
        return "file://" + quote(str(path).encode("utf-8", "surrogateescape"), safe=SAFE)
    text = PureWindowsPath(path).as_posix()
    if text.startswith("//"):
        return "file:" + quote(text, safe=SAFE)
    return "file:///" + quote(text[0].lower() + text[1:], safe=SAFE)
