"""`python -m lerim lsp`: takes stdio for the protocol before anything is imported that could print, then serves."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from lerim.process import claim_streams

IGNORED = ("--stdio", "--clientProcessId=")
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
    sys.setswitchinterval(SWITCH_SECONDS)

    from lerim.lsp.logs import start_logging
    from lerim.lsp.server import create_server
    from lerim.lsp.sidecar import Sidecar
    from lerim.paths import Home

    handler = start_logging()
    sidecar: Sidecar = create_server(Home.of(os.environ), os.environ, handler=handler, began=began)
    sidecar.server.start_io(source, output)
    sidecar.stop()
    os._exit(0)
