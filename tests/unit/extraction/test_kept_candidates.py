"""Candidates kept by an earlier version are still read: it had other names for where a proposal comes from."""

from dataclasses import replace

import msgspec
import pytest

from lerim.extraction.candidate import Candidate, decode_candidate
from scripted import agent, candidates, you


def proposed() -> Candidate:
    [found] = candidates(you("always use uv to install packages, never pip"), agent("Ok."), you("go on"))
    return found


@pytest.mark.parametrize(("former", "signal"), [("prompt", "prompt"), ("remark", "prompt"), ("diagnosis", "reply")])
def test_a_former_name_of_a_signal_is_read_as_todays(former: str, signal: str) -> None:
    kept = msgspec.json.encode(replace(proposed(), signal=former))  # type: ignore[arg-type]
    assert decode_candidate(kept) == replace(proposed(), signal=signal)  # type: ignore[arg-type]


@pytest.mark.parametrize("kept", [b"", b"[]", b"{}", b'{"signal": "a-new-one"}'])
def test_what_is_no_candidate_is_an_error_that_callers_know(kept: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode_candidate(kept)
