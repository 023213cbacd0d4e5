"""Opens closed standard streams, and reserves them for a protocol. Imports almost nothing, so that `lerim mcp`
starts at once."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO


def open_closed_streams() -> None:
    """Opens standard streams that were closed when this process started (`lerim sync >&-`) as the null device, so that
    writing to them does nothing, and no file gets their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserves stdin and stdout for a protocol; returns (input, output) on new file descriptors.

    Afterwards fd 1 is stderr and fd 0 is the null device, so that nothing this process or a child prints or reads can
    corrupt the protocol.
    """
    output = os.fdopen(os.dup(1), "wb", 0x10000)
    source = os.fdopen(os.dup(0), "rb", 0x10000)
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdout = sys.stderr
    return source, output
