"""A desk for what is redacted in whole syncs."""

from __future__ import annotations

from pathlib import Path

import pytest

from desk import Desk
from lerim.paths import Home


@pytest.fixture
def desk(repo: Path, isolated: Path) -> Desk:
    return Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")
