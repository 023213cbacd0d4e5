"""A heading is proposed only if it states something by itself."""

from __future__ import annotations

import pytest

from scripted import agent, candidates, you

TASK = "Please refactor the parser.\n\n"


def titles(prompt: str) -> list[str]:
    return [one.title for one in candidates(you(prompt), agent("Done."), you("ok thanks"), agent("You're welcome."))]


@pytest.mark.parametrize("heading", ["## Rules", "## Never do this", "### Always do this before pushing"])
def test_a_heading_that_only_points_to_what_is_below_it_is_not_proposed(heading: str) -> None:
    assert titles(f"{TASK}{heading}\n\n```\nmake lint\n```") == []


def test_a_heading_that_states_a_rule_is_proposed() -> None:
    assert titles(f"{TASK}## Never commit to main\n\nThe branch is protected.") == ["Never commit to main"]
