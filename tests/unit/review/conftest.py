"""Candidates to put before the review."""

import pytest

from reviews import Make, made_candidate


@pytest.fixture
def make() -> Make:
    """`make(title, body, turn=…, minutes=…)` is a candidate of its own turn."""
    return made_candidate
