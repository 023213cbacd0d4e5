"""The words a session uses as names: the programs it ran and the files it touched."""

from __future__ import annotations

import re

from lerim.facts import commands
from lerim.sessions.model import Turn

MOST = 400
_COMMON = frozenset(
    [
        "test",
        "tests",
        "run",
        "index",
        "main",
        "build",
        "docs",
        "src",
        "lib",
        "app",
        "utils",
        "types",
        "config",
        "setup",
        "start",
        "server",
        "client",
        "new",
        "list",
        "data",
        "base",
        "common",
        "core",
        "make",
        "code",
        "file",
        "files",
        "output",
        "input",
        "user",
        "users",
        "name",
        "names",
        "style",
        "styles",
        "page",
        "home",
        "model",
        "models",
        "view",
        "views",
        "api",
        "web",
        "all",
        "check",
        "update",
        "add",
        "get",
        "set",
        "use",
        "readme",
        "license",
        "license.md",
        "notes",
        "plan",
        "plans",
        "todo",
        "error",
        "errors",
        "report",
        "review",
        "search",
        "session",
        "sessions",
    ]
)
_WORD = re.compile(r"^[a-z][a-z0-9_.-]{2,40}$")


def names(known: list[str], turn: Turn) -> list[str]:
    """The known words with those of this turn added, newest last, bounded."""
    fresh: list[str] = []
    for call in turn.tool_calls:
        if call.kind == "shell" and call.command:
            command = commands.parse(call.command)
            if command.runner:
                fresh.append(command.words[0].lower())
        for path in call.paths[:4]:
            *folders, base = path.replace("\\", "/").lower().split("/")
            fresh += [base, base.rpartition(".")[0] or base, *folders[-1:]]
    new = [word for word in dict.fromkeys(fresh) if word not in known and word not in _COMMON and _WORD.match(word)]
    return [*known, *new][-MOST:] if new else known
