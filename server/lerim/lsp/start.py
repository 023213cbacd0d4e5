"""`python -m lerim lsp`: takes stdio for the protocol before anything is imported that could print, then serves."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec

from lerim.process import claim_streams

IGNORED = ("--stdio", "--clientProcessId=")
HASHES = ("_md5", "_sha1", "_sha3", "_blake2", *(("_sha2",) if sys.version_info >= (3, 12) else ("_sha256", "_sha512")))
"""Python's own hashes, which it may have been built without."""
SWITCH_SECONDS = 0.001
"""How long a thread of ours may hold the interpreter while the editor waits for an answer (Python's own: 5 ms)."""


def main(arguments: Sequence[str]) -> int:
    """Serves until the editor is gone; returns only for wrong arguments."""
    began = time.monotonic()
    wrong = [argument for argument in arguments if not argument.startswith(IGNORED)]
    if wrong:
        sys.stderr.write(f"usage: lerim lsp (no arguments; not {wrong[0][:80]!r})\n")
        return 2
    source, output = claim_streams()
    without_openssl()
    sys.setswitchinterval(SWITCH_SECONDS)

    from lerim.errors import HomeError
    from lerim.lsp.boundary import start_logging
    from lerim.lsp.server import create_server, refuse_all
    from lerim.lsp.window import Sidecar
    from lerim.paths import Home

    handler = start_logging()
    try:
        home = Home.of(os.environ)
    except HomeError as error:
        refuse_all(error).serve(source, output)
        os._exit(1)
    sidecar: Sidecar = create_server(home, os.environ, handler=handler, began=began)
    sidecar.server.serve(source, output)
    sidecar.stop()
    os._exit(0)


def without_openssl() -> None:
    """Imports what would load OpenSSL, 5 MB, without it: the sidecar speaks to nobody but the editor. Whatever needs it
    later (asking a server of this machine for its models) can import it."""
    names = ("ssl", "_hashlib") if all(map(find_spec, HASHES)) else ("ssl",)
    hidden = {name: None for name in names if name not in sys.modules}
    sys.modules.update(hidden)  # type: ignore[arg-type] # as documented: None cannot be imported
    import asyncio  # noqa: F401
    import hashlib  # noqa: F401
    import hmac  # noqa: F401

    for name in hidden:
        del sys.modules[name]
