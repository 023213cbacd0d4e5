"""The texts that Lerim installs as whole files: the skill, and the plugin of OpenCode."""

from __future__ import annotations

import re
from importlib import resources

SKILL_NAME = "project-memory"
"""The skill's name in the plugin folder."""


def skill_text(name: str) -> str:
    """Returns the skill under a name; agents want it to be that of its folder."""
    return re.sub(r"(?m)^name: .*$", f"name: {name}", _read_file("SKILL.md"), count=1)


def opencode_plugin_text() -> str:
    """Returns the plugin that runs the hook program for OpenCode, which has no hooks of its own."""
    return _read_file("opencode_plugin.js")


def _read_file(name: str) -> str:
    return resources.files("lerim.agents").joinpath("files", name).read_text(encoding="utf-8")
