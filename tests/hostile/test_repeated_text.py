"""Text that repeats what a rule looks for a thousand times. The work may grow with its length, but no faster."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from lerim.redaction.redact import redact_secrets


def count_calls(function: Callable[[str], object], text: str) -> int:
    """How many functions are called for this text, those of Python itself included."""
    calls = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function(text)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize(
    "part",
    [
        "password=",
        "password=[redacted:password] ",
        'password:\nsend "a9$kQz!x77" ',
        "kind: Secret\n",
        "kind: secret\ndata:\n",
        "kind: secret\n data: a\n",
        "secret=",
        "key: ",
        '{"password":"',
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "\\",
        "---\n",
    ],
)
def test_redaction_does_four_times_the_work_for_four_times_the_text(part: str) -> None:
    few, many = part * 500, part * 2000
    redact_secrets(part * 400)  # what is compiled or found once
    assert count_calls(redact_secrets, many) < 6 * count_calls(redact_secrets, few)
