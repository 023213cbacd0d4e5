"""Settings with one role as a test wants it, and no other layer."""

from __future__ import annotations

import os
from dataclasses import replace

from lerim import config
from lerim.config import Settings
from lerim.models.choose import choose
from lerim.models.model import Model
from lerim.models.providers import Role
from lerim.paths import Home


def settings(role: Role) -> Settings:
    """The defaults, with this for every role."""
    found, problems = config.load({}, Home.of(os.environ))
    assert problems == []
    return replace(found, roles=dict.fromkeys(found.roles, role))


def model(role: Role, **environ: str) -> Model:
    """The model of a role that names one that can be asked."""
    found, problems = choose("extract", settings(role), {"LERIM_HOME": os.environ["LERIM_HOME"], **environ}, None, {})
    assert problems == []
    assert found is not None
    return found
