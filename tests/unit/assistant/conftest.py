"""A desk whose person has the key of a model that is no provider's own, as the servers of tests are."""

from __future__ import annotations

import pytest

from chat_server import KEY
from desk import Desk


@pytest.fixture
def desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("LERIM_MODEL_KEY", KEY)
    return desk
