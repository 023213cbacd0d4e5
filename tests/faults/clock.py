"""A clock that is wrong: of a whole process and its children, whatever library asks for the time."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    if (id == CLOCK_REALTIME) now->tv_sec += atol(getenv("LERIM_TEST_CLOCK_AHEAD"));
    return result;
}
time_t time(time_t *kept) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (kept) *kept = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}
"""


def clock_ahead(seconds: int) -> dict[str, str]:
    """The environment of a process whose clock is so many seconds ahead, or behind. The true one where no C compiler
    is."""
    if not seconds or not sys.platform.startswith("linux") or shutil.which("cc") is None:
        return {**os.environ}
    return os.environ | {"LD_PRELOAD": str(_library()), "LERIM_TEST_CLOCK_AHEAD": str(seconds)}


@functools.cache
def _library() -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "clock.c").write_text(SOURCE, encoding="utf-8")
    command = ["cc", "-shared", "-fPIC", "-o", str(folder / "clock.so"), str(folder / "clock.c"), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "clock.so"
