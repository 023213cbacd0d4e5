"""Settings with one role as a test wants it, and no other layer."""

from __future__ import annotations

import os
from dataclasses import replace

from lerim.config import load
from lerim.config.load import Settings
from lerim.config.providers import Role
from lerim.paths import Home


def settings(role: Role) -> Settings:
    """The defaults, with this for every role."""
    found, problems = load.load_settings({}, Home.from_environ(os.environ))
    assert problems == []
    return replace(found, roles=dict.fromkeys(found.roles, role))
