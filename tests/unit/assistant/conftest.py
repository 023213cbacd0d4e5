"""A desk whose person has the key of a model that is no provider's own, as the servers of tests are."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat_server import KEY
from desk import Desk
from lerim.paths import Home


@pytest.fixture
def desk(repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("LERIM_MODEL_KEY", KEY)
    return Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")
