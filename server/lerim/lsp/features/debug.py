"""`Lerim: Show Debug Information`: what a bug report needs, without the text of any memory or transcript."""

from __future__ import annotations

import platform
import sys

from lerim import __version__
from lerim.lsp.protocol import DebugView, NoParams, RootView
from lerim.lsp.window import Sidecar, count_candidates, resident_mb


async def collect_debug_information(sidecar: Sidecar, _params: NoParams) -> DebugView:
    """Collects versions, paths and counts."""
    roots = [
        RootView(
            uri,
            repo.project.key,
            repo.project.name,
            len(repo.references),
            await sidecar.run_in_thread(count_candidates, sidecar, repo),
        )
        for repo in await sidecar.repos.load()
        for uri in repo.uris
    ]
    return DebugView(
        version=__version__,
        python=platform.python_version(),
        executable=sys.executable,
        platform=platform.platform(),
        home=str(sidecar.home.root),
        roots=roots,
        memory_mb=resident_mb(),
        start_ms=sidecar.start_ms,
    )
