"""A desk whose person has the key of a model that is no provider's own, as the servers of tests are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chat_server import KEY
from desk import Desk
from lerim.models import engine


@pytest.fixture
def desk(desk: Desk, repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("LERIM_MODEL_KEY", KEY)
    yield desk
    leaks = [
        path
        for path in (*isolated.rglob("*"), *repo.rglob("*"))
        if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    assert leaks == []


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets an engine of this process try again after milliseconds, for tests of what happens after its waits."""
    monkeypatch.setattr(engine, "BACK_OFF_SECONDS", (0.01, 0.04))
