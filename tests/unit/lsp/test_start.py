"""What the sidecar does without."""

import subprocess
import sys

from hang import HANG
from window import server_environ

HIDDEN = "import sys; from lerim.lsp.start import import_without_openssl; import_without_openssl(); "


def ran(code: str) -> str:
    command = [sys.executable, "-P", "-c", HIDDEN + code]
    return subprocess.run(
        command, env=server_environ(), check=True, capture_output=True, text=True, timeout=HANG
    ).stdout


def test_openssl_and_the_readers_of_sessions_are_not_loaded_for_what_the_editor_asks() -> None:
    modules = (
        "lerim.lsp.server, lerim.lsp.features.watching, lerim.lsp.features.language.hovers_in_documents,"
        " lerim.lsp.features.language.symbols, lerim.lsp.features.checking.diagnostics,"
        " lerim.memory.freshness.drift, lerim.memory.search.memory_search"
    )
    assert (
        ran(f"import {modules}; print({{'ssl', '_hashlib', 'lerim.sessions.readers'}} & {{*sys.modules}})") == "set()\n"
    )


def test_hashes_are_the_same_import_without_openssl_and_what_needs_it_has_it() -> None:
    known = "hashlib.sha256(b'a').hexdigest()[:8], hashlib.md5(b'a', usedforsecurity=False).hexdigest()[:8]"
    assert ran(f"import hashlib; print({known})") == "ca978112 0cc175b9\n"
    assert ran("import http.client; print(http.client.HTTPSConnection.__name__)") == "HTTPSConnection\n"
