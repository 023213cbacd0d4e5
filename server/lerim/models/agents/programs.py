"""Installed coding agents as models: where their programs are, and how to ask each one without tools.

Nothing here starts a program: agents are found by checking files. The arguments and variables below were checked
against the real programs (docs/decisions/0023): the model is offered no tool that reads, runs or fetches anything,
files mentioned in a transcript are not read, and no session is saved if the program can turn that off. Only Cursor's
program was not tested.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from lerim.errors import ModelGoneError, Problem
from lerim.paths import codex_roots, copilot_roots, user_home
from lerim.process import find_executable
from lerim.sessions import Platform

DEFAULT_MODEL = "default"
"""The model name that means the agent's default model."""
SYSTEM_PROMPT = "Answer the one message you are given, in text alone. There are no tools, files or commands."


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """A coding agent that can be asked as a model. `platform` is the name of its session format; `plan` is the
    subscription with which the person pays for it; `key_variables` are the variables that make it bill an API key
    instead; `model` is used if the settings name none. `policy` is the path, relative to the folder it runs in, and
    the text of a file that takes its tools away."""

    name: str
    program: str
    platform: Platform
    plan: str
    key_variables: tuple[str, ...] = ()
    model: str = DEFAULT_MODEL
    is_tested: bool = True
    policy: tuple[str, str] | None = None


AGENTS: Mapping[str, AgentProgram] = {
    "claude-code": AgentProgram(
        "Claude Code", "claude", "claude", "your Claude plan", ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "sonnet"
    ),
    "codex": AgentProgram("Codex", "codex", "codex", "your ChatGPT plan", ("CODEX_API_KEY",)),
    "gemini-cli": AgentProgram(
        "Gemini CLI",
        "gemini",
        "gemini",
        "your Google account's quota",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "flash",  # with its default, it first asks another model which one to use
        policy=("../gemini-cli.toml", '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'),
    ),
    "opencode": AgentProgram("OpenCode", "opencode", "opencode", "the plan or key configured in OpenCode"),
    "copilot-cli": AgentProgram("GitHub Copilot CLI", "copilot", "copilot", "your Copilot plan"),
    "cursor-agent": AgentProgram(
        "Cursor's agent",
        "cursor-agent",
        "cursor",
        "your Cursor plan",
        ("CURSOR_API_KEY",),
        is_tested=False,
        policy=(
            ".cursor/cli.json",
            '{"permissions": {"allow": [], '
            '"deny": ["Shell(*)", "Read(**)", "Write(**)", "WebFetch(*)", "Mcp(*:*)"]}}\n',
        ),
    ),
}
"""Agents by their provider name in the settings, in the order in which they are offered."""


@dataclass(frozen=True, slots=True)
class AgentInvocation:
    """How an agent is started: its arguments, variables to set, and variables to remove from the environment."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


def describe_payment(provider: str, environ: Mapping[str, str]) -> str:
    """Describes how an agent's answers are paid for, to be shown before the person chooses it."""
    agent = AGENTS[provider]
    key = next((name for name in agent.key_variables if environ.get(name, "").strip()), "")
    payment = f"bills the key in {key}" if key else f"uses {agent.plan}"
    return payment if agent.is_tested else f"{payment}; not tested by us"


def find_program(
    provider: str,
    environ: Mapping[str, str],
    platform: str = sys.platform,
    there: Callable[[str], bool] = lambda path: os.path.isfile(path) and os.access(path, os.X_OK),  # noqa: PTH113
) -> str | None:
    """Returns the full path of an agent's program, found on PATH or in the folders that installers use. An editor
    started from the desktop often has a shorter PATH than a terminal."""
    is_windows = platform == "win32"
    on_path = next((value for name, value in environ.items() if (name.upper() if is_windows else name) == "PATH"), "")
    searched_path = (";" if is_windows else ":").join([on_path, *map(str, install_folders(environ, platform))])
    other_variables = {name: value for name, value in environ.items() if not (is_windows and name.upper() == "PATH")}
    return find_executable(AGENTS[provider].program, {**other_variables, "PATH": searched_path}, platform, there)


def install_folders(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """Returns the folders in which installers put agents' programs, besides PATH."""
    home = user_home(environ, platform)
    home_folders = (
        home / ".local" / "bin",
        home / ".claude" / "local",
        home / ".opencode" / "bin",
        home / ".bun" / "bin",
    )
    if platform == "win32":
        app_data = PureWindowsPath(environ.get("APPDATA", ""))
        return (*home_folders, app_data / "npm") if app_data.is_absolute() else home_folders
    return (
        *home_folders,
        home / ".npm-global" / "bin",
        PurePosixPath("/opt/homebrew/bin"),
        PurePosixPath("/usr/local/bin"),
    )


def build_invocation(provider: str, model: str, environ: Mapping[str, str]) -> AgentInvocation:
    """Returns how to start an agent that answers one question from its standard input, without tools.

    Raises ModelGoneError if the agent's settings name a tool server that cannot be turned off, or if the model's
    name would be read as an option.
    """
    if model.startswith("-"):
        todo = "Correct roles.extract.model; “” means the agent's default."
        raise ModelGoneError(f"{AGENTS[provider].name} does not offer the model {model!r}.", todo=todo)
    model_option = () if model == DEFAULT_MODEL else (model,)
    return _INVOCATIONS[provider](model_option, environ)


def _build_claude(model: tuple[str, ...], _environ: Mapping[str, str]) -> AgentInvocation:
    arguments = ["-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--no-session-persistence"]
    arguments += [
        "--disable-slash-commands",
        "--setting-sources",
        "user",
        "--no-chrome",
        "--system-prompt",
        SYSTEM_PROMPT,
    ]
    variables = {
        "CLAUDE_CODE_SAFE_MODE": "1",  # no hooks, plugins or CLAUDE.md; the account and the model stay the same
        "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",  # otherwise a `@path` in a transcript would send that file
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",  # otherwise a refused key is retried for minutes
        "DISABLE_AUTOUPDATER": "1",
    }
    # The first three are set in a terminal inside Claude Code itself.
    removed = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_FORCE_SESSION_PERSISTENCE")
    return AgentInvocation((*arguments, *_option("--model", model)), variables, removed)


_CODEX_DISABLED_FEATURES = (
    "apps",
    "browser_use",
    "browser_use_external",
    "code_mode_host",
    "computer_use",
    "goals",
    "hooks",
    "image_generation",
    "in_app_browser",
    "memories",
    "multi_agent",
    "plugins",
    "shell_snapshot",
    "shell_tool",
    "skill_search",
    "tool_suggest",
    "unified_exec",
    "view_image",
    "workspace_dependencies",
)
"""Codex features that offer tools or run programs. Codex ignores unknown names."""
_CODEX_SETTINGS = (
    "web_search=disabled",
    "notify=[]",
    "agents.enabled=false",
    "skills.include_instructions=false",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    "include_collaboration_mode_instructions=false",
    "project_doc_max_bytes=0",
)


def _build_codex(model: tuple[str, ...], environ: Mapping[str, str]) -> AgentInvocation:
    servers = [f"mcp_servers.{name}.enabled=false" for name in _list_codex_servers(environ)]
    arguments = ["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never"]
    for setting in (*_CODEX_SETTINGS, *servers):
        arguments += ["-c", setting]
    for feature in _CODEX_DISABLED_FEATURES:
        arguments += ["--disable", feature]
    return AgentInvocation((*arguments, *_option("--model", model), "-"))


def _build_gemini(model: tuple[str, ...], _environ: Mapping[str, str]) -> AgentInvocation:
    policy = AGENTS["gemini-cli"].policy
    assert policy is not None
    arguments = ["--output-format", "json", "--approval-mode", "default", "--skip-trust", "--extensions", "none"]
    arguments += ["--allowed-mcp-server-names", "none", "--policy", policy[0]]
    return AgentInvocation((*arguments, *_option("--model", model)), {"NO_COLOR": "1"})


def _build_opencode(model: tuple[str, ...], _environ: Mapping[str, str]) -> AgentInvocation:
    settings = {
        "tools": {"*": False},
        "permission": {"*": "deny"},
        "share": "disabled",
        "autoupdate": False,
        "snapshot": False,
    }
    variables = {
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        "OPENCODE_DB": ":memory:",  # so that no session is saved
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }
    arguments = ("run", "--format", "json", "--pure", "--title", "Lerim", *_option("--model", model))
    return AgentInvocation(arguments, variables, ("OPENCODE_PERMISSION", "OPENCODE_AUTO_SHARE"))


def _build_copilot(model: tuple[str, ...], environ: Mapping[str, str]) -> AgentInvocation:
    arguments = ["--output-format", "json", "--available-tools=none", "--disable-builtin-mcps", "--stream", "off"]
    arguments += ["--no-custom-instructions", "--no-auto-update", "--no-ask-user", "--no-remote", "--no-remote-export"]
    arguments += ["--log-level", "none"]
    for name in _list_copilot_servers(environ):
        arguments += ["--disable-mcp-server", name]
    return AgentInvocation((*arguments, *_option("--model", model)), removed=("COPILOT_ALLOW_ALL",))


def _build_cursor(model: tuple[str, ...], _environ: Mapping[str, str]) -> AgentInvocation:
    arguments = ("--print", "--output-format", "json", "--mode", "ask", "--sandbox", "enabled", "--trust")
    return AgentInvocation((*arguments, *_option("--model", model)), {"NO_COLOR": "1"})


_INVOCATIONS: Mapping[str, Callable[[tuple[str, ...], Mapping[str, str]], AgentInvocation]] = {
    "claude-code": _build_claude,
    "codex": _build_codex,
    "gemini-cli": _build_gemini,
    "opencode": _build_opencode,
    "copilot-cli": _build_copilot,
    "cursor-agent": _build_cursor,
}


def _option(name: str, value: tuple[str, ...]) -> tuple[str, ...]:
    return (name, *value) if value else ()


_SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


def _list_codex_servers(environ: Mapping[str, str]) -> list[str]:
    """Returns the MCP servers in the person's Codex settings. An invalid file counts as none, because Codex itself
    fails on it."""
    path = Path(codex_roots(environ)[0]) / "config.toml"
    try:
        servers = tomllib.loads(path.read_text(encoding="utf-8")).get("mcp_servers", {})
    except (OSError, ValueError):
        return []
    return _check_server_names(servers, path, "Codex")


def _list_copilot_servers(environ: Mapping[str, str]) -> list[str]:
    """Returns the MCP servers in the person's Copilot CLI settings. An invalid file counts as none, as in Copilot
    CLI itself."""
    path = Path(copilot_roots(environ)[0]) / "mcp-config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return _check_server_names(config.get("mcpServers", {}) if isinstance(config, dict) else {}, path, "Copilot CLI")


def _check_server_names(servers: object, path: Path, agent: str) -> list[str]:
    names = [str(name) for name in servers] if isinstance(servers, dict) else []
    for name in names:
        if not _SERVER_NAME.fullmatch(name):
            raise ModelGoneError(
                f"{agent} has an MCP server {name!r}, which cannot be turned off for Lerim's questions.",
                where=str(path),
                todo="Rename it with only letters, digits, - and _, or choose another model.",
            )
    return names


def missing_program_problem(provider: str, where: str) -> Problem:
    """Returns the problem for a chosen agent whose program is not on this machine."""
    agent = AGENTS[provider]
    message = f"The program `{agent.program}` of {agent.name} was not found, so no model was used."
    return Problem("model-gone", where, f"{message} Install it, or put its folder on PATH.")
