"""An environment of a test's own: its home, no settings, agents' stores or keys of the machine, and a fixed git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

GIT_SETTINGS = {"init.defaultBranch": "main", "protocol.file.allow": "always", "core.autocrlf": "false"}
FOREIGN = (
    "LERIM_CONFIG",
    "OPENROUTER_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "ZAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "LERIM_DATABASE_URL",
    "LERIM_EDITOR",
    "LERIM_MODEL_KEY",
    "LERIM_TEAM",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "OPENCODE_DB",
    "APPDATA",
    "VSCODE_PORTABLE",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
)


def isolate(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Makes this folder the home. Nothing is created inside it, so that tests see what Lerim creates."""
    for name in FOREIGN:
        patch.delenv(name, raising=False)
    for name, folder in {
        "HOME": home,
        "USERPROFILE": home,
        "LERIM_HOME": home / ".lerim",
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_CACHE_HOME": home / ".cache",
    }.items():
        patch.setenv(name, str(folder))
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.setenv("GIT_CONFIG_COUNT", str(len(GIT_SETTINGS)))
    for number, (key, value) in enumerate(GIT_SETTINGS.items()):
        patch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        patch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    for who in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{who}_NAME", "A Tester")
        patch.setenv(f"GIT_{who}_EMAIL", "tester@example.invalid")
