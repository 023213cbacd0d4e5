"""`file:` URIs on every platform."""

from __future__ import annotations

from lerim.lsp.boundary.uris import path_to_uri, uri_to_path


def test_a_file_uri_has_a_path_and_others_have_none() -> None:
    for uri, platform, path in (
        ("file:///home/me/%E6%97%A5.py", "linux", "/home/me/日.py"),
        ("file:///C:/Users/me/a.py", "win32", "C:\\Users\\me\\a.py"),
    ):
        assert str(uri_to_path(uri, platform)) == path
    for uri in ("untitled:Untitled-1", "git:/a.py?%7B%7D", "file:relative", "file:///a%00b", "file://[bad/a", ""):
        assert uri_to_path(uri, "linux") is None, uri
    assert uri_to_path("file:///home/me", "win32") is None


def test_a_path_has_the_uri_the_editor_writes() -> None:
    for path, platform, uri in (
        ("/home/me/a b#1.py", "linux", "file:///home/me/a%20b%231.py"),
        ("C:\\Users\\me\\a.py", "win32", "file:///c%3A/Users/me/a.py"),
        ("\\\\server\\share\\a.py", "win32", "file://server/share/a.py"),
    ):
        assert path_to_uri(path, platform) == uri
        assert str(uri_to_path(uri, platform)) == path
