"""Whether Codex runs our hooks: it does so only once the person trusts them, and keeps that in its `config.toml`.

It is read, never written: trust is the person's to give, with `/hooks` in Codex.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lerim.agents.entries import JsonHooks
from lerim.agents.json_text import UneditableError
from lerim.agents.plan import read_config
from lerim.agents.toml_text import find_table
from lerim.errors import LerimError


def are_hooks_trusted(hooks_file: Path, hooks_text: str, entry: JsonHooks, config_file: Path) -> bool:
    """Returns whether Codex has stored trust for each of our hooks in a file.

    The key of a hook is `<path>:<event>:<group>:<hook>`. Whether the trust is for this very hook only Codex can tell: a
    hook that was changed by hand since may still be skipped.
    """
    try:
        config = read_config(config_file, None)
        state = find_table(config or "", ("hooks", "state"))
    except (LerimError, UneditableError):
        return False
    positions = entry.find_positions(hooks_text)
    return bool(positions) and all(_is_trusted(state or {}, hooks_file, *position) for position in positions)


def _is_trusted(state: dict[str, Any], hooks_file: Path, event: str, group: int) -> bool:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
    for path in {str(hooks_file), str(hooks_file.resolve())}:
        entry = state.get(f"{path}:{name}:{group}:0")
        if isinstance(entry, dict) and entry.get("trusted_hash") and entry.get("enabled") is not False:
            return True
    return False
