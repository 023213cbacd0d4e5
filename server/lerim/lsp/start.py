"""`python -m lerim lsp`: claims stdio for the protocol before importing anything that could print, then serves."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec

from lerim.streams import claim_streams

IGNORED_ARGUMENTS = ("--stdio", "--clientProcessId=")
HASH_MODULES = (
    "_md5",
    "_sha1",
    "_sha3",
    "_blake2",
    *(("_sha2",) if sys.version_info >= (3, 12) else ("_sha256", "_sha512")),
)
"""Python's built-in hash modules, which it may have been built without."""
SWITCH_SECONDS = 0.001
"""How long a thread may hold the interpreter while the editor waits for an answer (Python's default is 5 ms)."""


def main(arguments: Sequence[str]) -> int:
    """Serves until the editor closes the connection. Returns only if the arguments are wrong."""
    started_at = time.monotonic()
    unknown_arguments = [argument for argument in arguments if not argument.startswith(IGNORED_ARGUMENTS)]
    if unknown_arguments:
        sys.stderr.write(f"usage: lerim lsp (no arguments; not {unknown_arguments[0][:80]!r})\n")
        return 2
    source, output = claim_streams()
    import_without_openssl()
    sys.setswitchinterval(SWITCH_SECONDS)

    from lerim.errors import HomeError
    from lerim.lsp.boundary import start_logging
    from lerim.lsp.server import create_failing_server, create_server
    from lerim.lsp.window import Sidecar
    from lerim.paths import Home

    handler = start_logging()
    try:
        home = Home.from_environ(os.environ)
    except HomeError as error:
        create_failing_server(error).serve(source, output)
        os._exit(1)
    sidecar: Sidecar = create_server(home, os.environ, handler=handler, started_at=started_at)
    sidecar.server.serve(source, output)
    sidecar.stop()
    os._exit(0)


def import_without_openssl() -> None:
    """Imports modules that would load OpenSSL (5 MB) without it, since the sidecar only talks to the editor. Code that
    needs OpenSSL later (asking a local server for its models) can still import it."""
    names = ("ssl", "_hashlib") if all(map(find_spec, HASH_MODULES)) else ("ssl",)
    blocked = {name: None for name in names if name not in sys.modules}
    sys.modules.update(blocked)  # type: ignore[arg-type] # as documented: None cannot be imported
    import asyncio  # noqa: F401
    import hashlib  # noqa: F401
    import hmac  # noqa: F401

    for name in blocked:
        del sys.modules[name]
