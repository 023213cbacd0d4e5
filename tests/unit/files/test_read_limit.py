"""Files are read within a limit, whatever happens to them meanwhile."""

import sys
from pathlib import Path

import pytest

from lerim.errors import MemoryError_
from lerim.files import read_text


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has files whose size is only known once they are read")
def test_a_file_that_turns_out_larger_than_the_limit_is_refused_and_not_cut() -> None:
    assert read_text(Path("/proc/self/comm"), 1_000)
    with pytest.raises(MemoryError_, match="larger than"):
        read_text(Path("/proc/self/status"), 10)
