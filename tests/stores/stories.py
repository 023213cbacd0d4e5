"""One story of a person and an agent, told in steps that every agent's store can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = Literal["web", "served", "shell", "read", "agent"]
"""Where a text came from that is not the person's."""


@dataclass(frozen=True)
class Said:
    """The person typed this."""

    text: str


@dataclass(frozen=True)
class Told:
    """The agent answered this."""

    text: str


@dataclass(frozen=True)
class Ran:
    command: str
    output: str
    code: int = 0


@dataclass(frozen=True)
class Changed:
    """An edit, or a file written where `old` is empty. `refused` is what the person said when they refused it."""

    file: str
    old: str
    new: str
    refused: str = ""


@dataclass(frozen=True)
class Chose:
    question: str
    options: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Planned:
    """A plan the person approved."""

    plan: str


@dataclass(frozen=True)
class Brought:
    """What a call brought back, or failed with: a page, an MCP server's tool, a command, a file, a subagent."""

    by: Source
    output: str
    failed: bool = False


Step = Said | Told | Ran | Changed | Chose | Planned | Brought

BEFORE = '[tool.pytest.ini_options]\ntestpaths = ["t"]\n'
IMPORT_ERROR = (
    "ImportError while importing test module 't/test_shop.py'.\nE   ModuleNotFoundError: No module named 'shop'\n"
    "ERROR t/test_shop.py\n1 error in 0.10s"
)
PLAN = "# Keep the rates in SQLite\n\n## Approach\n- Store the rates in SQLite, because the site is often down.\n"
REFUSED = "connect ECONNREFUSED 127.0.0.1:{port} (database of the shop)"

FIRST: tuple[Step, ...] = (
    Said("Always use uv to install packages, never pip."),
    Told("Understood."),
    Said("Read the config in src/app.py"),
    Told("I will use os.path in src/app.py."),
    Said("No, use pathlib instead of os.path in src/app.py."),
    Changed("src/app.py", "import os", "import pathlib"),
    Told("Done."),
    Said("the tests do not run"),
    Ran("uv run pytest -q", IMPORT_ERROR, 2),
    Told("The package is not found."),
    Changed("pyproject.toml", BEFORE, BEFORE + 'pythonpath = ["src"]\n'),
    Ran("uv run pytest -q", "3 passed in 0.1s"),
    Said("great, now add a cache"),
    Chose("Which database should we use for the cache?", ("Redis", "DuckDB"), "DuckDB"),
    Changed("src/cache.py", "", "import duckdb\n"),
    Said("good, plan the rates"),
    Planned(PLAN),
    Changed("src/rates.py", "", "import sqlite3\n"),
    Told("Built."),
    Said("fine, log the rates too"),
    Changed("src/log.py", "", "print(1)\n", refused="No, use structlog instead of print in src/log.py."),
    Changed("src/log.py", "", "import structlog\n"),
    Told("It logs."),
    Said("perfect, run the tests of the shop"),
    Ran("npm test", f"Error: {REFUSED.format(port=5432)}", 1),
    Told("They do not run."),
    Said("leave it, fix the check in src/checks.py"),
    Changed("src/checks.py", "limit of the quota check", "shared quota check"),
    Told("Fixed."),
    Said("could you see if it is easy to extract the quota check so both `api` and `cli` share it?"),
    Told(
        "### Option 1: One helper in `checks.py`\n...\n### Option 2: Keep both\n...\n\n"
        "Would you like Option 1, or is Option 2 better?"
    ),
)
SECOND: tuple[Step, ...] = (
    Said("Run the tests again, please"),
    Ran("npm test", f"Error: {REFUSED.format(port=5433)}", 1),
    Told("They still do not run."),
    Said("leave it for today"),
    Told("Fine."),
)
