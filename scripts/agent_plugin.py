"""Generate the plugin folder `agents/`, which gives memories to coding agents that load plugins (`make docs`).

It has what `lerim agents install` writes into the agents' own files: the MCP server, the hooks and the skill. It has no
`plugin.json` at its root: two of the agents would then leave out the hooks and the MCP server.

With `--check` nothing is written, and the exit code is 1 if the folder is out of date (`make lint`).
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from lerim import __version__
from lerim.agents.config_files import skill_text
from lerim.agents.hook_events import HookWriter
from lerim.agents.json_text import Json
from lerim.agents.launcher import mcp_command
from lerim.paths import Home

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / "agents"
SKILL_NAME = "project-memory"
WRITTEN_BY_HAND = {"README.md"}


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` compare them. Return 1 if they differ."""
    wanted = list_plugin_files(__version__)
    present = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.is_file()}
    if arguments != ["--check"]:
        for name, text in wanted.items():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_text(text, encoding="utf-8")
        return 0
    different = {name for name, text in wanted.items() if name not in present or read(present[name]) != text}
    different |= set(present) - set(wanted) - WRITTEN_BY_HAND
    for name in sorted(different):
        print(f"agents/{name} is not what Lerim would write: run `make docs`.")
    return int(bool(different))


def list_plugin_files(version: str) -> Mapping[str, str]:
    """Returns the text of each file of the plugin folder, by its path in there."""
    home = Home(Path("/home/.lerim"), Path("/home"))  # the usual home: commands then say $HOME
    command, *arguments = mcp_command("project", "linux", home)
    words: list[Json] = [*arguments]
    servers: dict[str, Json] = {"lerim": {"command": command, "args": words}}
    description = "What was decided and learned in your repositories, reviewed by you, for your coding agents."
    about: dict[str, Json] = {"name": "lerim", "version": version, "description": description}
    parts: dict[str, Json] = {
        "skills": "./skills/",
        "hooks": "./hooks/hooks.json",
        "mcpServers": "./.mcp.json",
    }
    hooks: Json = {event: [group] for event, group in HookWriter("linux", home).plugin().items()}
    return {
        ".claude-plugin/plugin.json": _format({**about, "license": "Apache-2.0"}),
        ".codex-plugin/plugin.json": _format({**about, **parts}),
        "gemini-extension.json": _format({"name": "lerim", "version": version, "mcpServers": servers}),
        ".mcp.json": _format({"mcpServers": servers}),
        "hooks/hooks.json": _format({"hooks": hooks}),
        f"skills/{SKILL_NAME}/SKILL.md": skill_text(SKILL_NAME),
    }


def _format(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def read(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
