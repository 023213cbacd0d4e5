"""Settings with one role as a test wants it, and no other layer."""

from __future__ import annotations

import os
from dataclasses import replace

from lerim.config import load
from lerim.config.load import Settings
from lerim.config.providers import Role
from lerim.models.choose import choose_model
from lerim.models.model import Model
from lerim.paths import Home


def settings(role: Role) -> Settings:
    """The defaults, with this for every role."""
    found, problems = load.load_settings({}, Home.from_environ(os.environ))
    assert problems == []
    return replace(found, roles=dict.fromkeys(found.roles, role))


def model(role: Role, **environ: str) -> Model:
    """The model of a role that names one that can be asked."""
    found, problems = choose_model(
        "extract", settings(role), {"LERIM_HOME": os.environ["LERIM_HOME"], **environ}, None, {}
    )
    assert problems == []
    assert found is not None
    return found
