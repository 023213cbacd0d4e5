"""Keeps the memory of long-running processes small, because glibc does not by itself return memory that is no longer
needed."""

from __future__ import annotations

import gc
import sys


def release_heap() -> None:
    """Returns unused heap memory to the system, which glibc would keep after reading thousands of files."""
    gc.collect()
    _call_libc("malloc_trim", 0)


def settle_heap() -> None:
    """Returns unused memory to the system, and excludes all existing objects from garbage collection: they stay in
    use, and requests would have to wait while the collector scans them."""
    release_heap()
    gc.freeze()


def limit_malloc_arenas() -> None:
    """Makes all threads allocate from one malloc arena: with one per thread, glibc keeps memory that nobody uses."""
    _call_libc("mallopt", -8, 1)  # M_ARENA_MAX


def _call_libc(name: str, *arguments: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    call = getattr(ctypes.CDLL(None), name, None)
    if call is not None:
        call(*arguments)
