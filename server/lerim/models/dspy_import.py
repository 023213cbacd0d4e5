"""Imports dspy in little more than half of the usual time. Import it from here.

For each optional package that is not installed, dspy calls `inspect.stack`, which reads the source of all modules on
the import stack only to find one file and line. While this module imports dspy, `inspect.stack` reads no source.
"""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def _leave_out_source_lines() -> Iterator[None]:
    original = inspect.stack
    inspect.stack = _list_frames
    try:
        yield
    finally:
        inspect.stack = original


def _list_frames(context: int = 1) -> list[inspect.FrameInfo]:
    frames: list[inspect.FrameInfo] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        frames.append(inspect.FrameInfo(frame, code.co_filename, frame.f_lineno, code.co_name, None, None))
        frame = frame.f_back
    return frames


with _leave_out_source_lines():
    import dspy  # noqa: TID251
    from dspy import lm15  # noqa: TID251

__all__ = ["dspy", "lm15"]
