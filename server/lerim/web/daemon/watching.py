"""Watches the agents' stores for changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import watchfiles

from lerim.errors import LerimError
from lerim.paths import Home
from lerim.sessions import find_platform_roots

log = logging.getLogger("lerim.daemon")

GATHER_MILLISECONDS = 2_000
"""Changes within this time are one."""
STEP_MILLISECONDS = 500
LIST_AGAIN_SECONDS = 900.0
"""How often folders that appeared since are added, such as those of a newly installed agent."""


def list_watched_folders(environ: Mapping[str, str], home: Home) -> list[Path]:
    """Returns the folders that hold the stores of connected agents and exist; for a file, the folder around it."""
    try:
        roots = [root for places in find_platform_roots(environ, home).values() for root in places]
    except LerimError as error:
        log.warning("The agents' stores are not watched: %s", error.message)
        return []
    folders = {root if root.is_dir() else root.parent for root in roots if root.exists()}
    return sorted(folder for folder in folders if not any(other in folder.parents for other in folders))


async def watch_stores(environ: Mapping[str, str], home: Home, on_change: Callable[[], None]) -> None:
    """Calls `on_change` when a store changes or appears, until cancelled. If the system cannot watch, it says so in the
    log and calls `on_change` now and then."""
    known: list[Path] = []
    while True:
        folders = await asyncio.to_thread(list_watched_folders, environ, home)
        if folders != known:
            on_change()
        known = folders
        if not folders:
            await asyncio.sleep(LIST_AGAIN_SECONDS)
            continue
        try:
            async with asyncio.timeout(LIST_AGAIN_SECONDS):
                async for _ in watchfiles.awatch(
                    *folders,
                    watch_filter=None,
                    debounce=GATHER_MILLISECONDS,
                    step=STEP_MILLISECONDS,
                    rust_timeout=60_000,
                    ignore_permission_denied=True,
                ):
                    on_change()
        except TimeoutError:
            continue
        except (OSError, RuntimeError) as error:
            log.warning("The agents' stores cannot be watched: %s.", type(error).__name__)
            on_change()
            await asyncio.sleep(LIST_AGAIN_SECONDS)
