"""Chooses the file for the block of memories about the whole project: one that as many agents as possible read.

Which agent reads which file at its start was measured with the agents themselves. Two files with the same text are
never written, because some agents read several of them: GitHub Copilot's command line reads `AGENTS.md`, `CLAUDE.md`
and `GEMINI.md`. The only file that Lerim creates is `AGENTS.md`: a new `CLAUDE.md` would keep Claude Code from
reading `AGENTS.md`, and for OpenCode it is the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lerim.export.managed_block import find_block
from lerim.export.project_files import (
    AGENT_SIGNS,
    AGENTS,
    CLAUDE,
    CLAUDE_FOLDER,
    CLAUDE_LOCAL,
    GEMINI,
    GEMINI_SETTINGS,
    ProjectFiles,
)
from lerim.export.rule_files import FOLDERS, RuleFormat
from lerim.sessions import PLATFORM_NAMES, Platform

_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_IMPORT = re.compile(r"(?<![\w@`])@(?:\./|\.\./)?AGENTS\.md\b")
_CLAUDE_KINDS = (CLAUDE, CLAUDE_FOLDER, CLAUDE_LOCAL)


@dataclass(frozen=True, slots=True)
class StartFile:
    """A file that agents read at their start: its path from the root, and the agents that read it."""

    path: str
    readers: frozenset[Platform]


def find_agents(found: ProjectFiles, with_sessions: Iterable[Platform]) -> frozenset[Platform]:
    """Returns the agents that are used here: those that have sessions in the project, and those that left files in
    it."""
    by_files = (agent for agent, some in AGENT_SIGNS.items() if any(n in found.signs or found.exists(n) for n in some))
    return frozenset((*with_sessions, *by_files))


def choose_start_file(found: ProjectFiles, used: frozenset[Platform]) -> StartFile:
    """Returns the file for the block: the one that already has the block, or else the one that most of the agents
    used here read, or else `AGENTS.md`."""
    candidates = list(_list_candidates(found))
    return min(
        candidates,
        key=lambda one: (not _has_block(found, one.path), -len(one.readers & used), candidates.index(one)),
    )


def choose_rule_formats(found: ProjectFiles, used: frozenset[Platform]) -> list[RuleFormat]:
    """Returns the formats of rules files that the agents used here read, but never two formats that the same agent
    would read."""
    formats: list[RuleFormat] = []
    if "claude" in used or any(path.startswith(f"{FOLDERS['claude']}/") for path in found.texts):
        formats.append("claude")
    if "cursor" in used:
        formats.append("cursor")
    if "claude" not in formats and "copilot" in used:
        formats.append("copilot")
    return formats


def describe_unserved(found: ProjectFiles, used: frozenset[Platform], start: StartFile) -> list[str]:
    """Returns, for each agent used here that does not read the start file, a sentence that says how it can."""
    claude_file = next((name for name in _CLAUDE_KINDS if found.exists(name)), "")
    remedies: dict[Platform, str] = {
        "claude": f"add a line `@AGENTS.md` to {claude_file}" if claude_file else "",
        "gemini": (
            "add a line `@./AGENTS.md` to GEMINI.md"
            if found.exists(GEMINI)
            else 'add `"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}` to .gemini/settings.json'
        ),
    }
    move = f"move the text of {start.path} to AGENTS.md and leave `@./AGENTS.md` in it"
    sentences = []
    for agent in sorted(used - start.readers):
        how = remedies.get(agent, "") if start.path == AGENTS else move
        sentences.append(f"{PLATFORM_NAMES[agent]} does not read {start.path}{f': {how}' if how else ''}.")
    return sentences


def _list_candidates(found: ProjectFiles) -> Iterable[StartFile]:
    claude_files = [name for name in _CLAUDE_KINDS if found.exists(name)]
    claude_imports = any(_imports_agents(found, name) for name in claude_files)
    gemini_imports = _imports_agents(found, GEMINI) or AGENTS in found.texts.get(GEMINI_SETTINGS, "")
    readers: set[Platform] = {"codex", "copilot", "cursor", "opencode"}
    readers |= {"claude"} if claude_imports or not claude_files or _target(found, AGENTS) in claude_files else set()
    readers |= {"gemini"} if gemini_imports else set()
    own = [
        *(name for name in (CLAUDE, CLAUDE_FOLDER) if found.exists(name) and not _imports_agents(found, name)),
        *([GEMINI] if found.exists(GEMINI) and not gemini_imports else []),
    ]
    if found.exists(AGENTS):
        yield StartFile(_target(found, AGENTS), frozenset(readers))
    for name in own:
        if _target(found, AGENTS) == name:
            continue  # AGENTS.md is a link to it
        others: dict[str, set[Platform]] = {
            CLAUDE: {"claude", "copilot", *(() if found.exists(AGENTS) else ("opencode",))},
            CLAUDE_FOLDER: {"claude"},
            GEMINI: {"gemini", "copilot"},
        }
        yield StartFile(_target(found, name), frozenset(others[name]))
    if not found.exists(AGENTS) and not any(name in own for name in (CLAUDE, CLAUDE_FOLDER)):
        yield StartFile(AGENTS, frozenset(readers))


def _target(found: ProjectFiles, name: str) -> str:
    return found.links.get(name, name)


def _imports_agents(found: ProjectFiles, name: str) -> bool:
    """Returns whether a start file includes `AGENTS.md`, or is a link to it."""
    if found.links.get(name) == AGENTS:
        return True
    text = found.texts.get(_target(found, name), "")
    return bool(_IMPORT.search(_CODE.sub("", text)))


def _has_block(found: ProjectFiles, path: str) -> bool:
    return find_block(found.texts.get(path, "")) is not None
