"""The command line as a person calls it, in this process."""

import functools
import json
from typing import Any

from typer import testing
from typer.testing import CliRunner, Result

from lerim.cli.app import make_app

app = make_app()
# Building all commands takes three quarters of the time of a call: in this process they are built once.
testing._get_command = functools.cache(testing._get_command)  # type: ignore[attr-defined]


def run(*arguments: str, typed: str | bytes | None = None) -> Result:
    """Calls `lerim` with these arguments, and with what is typed into it."""
    return CliRunner().invoke(app, list(arguments), input=typed, catch_exceptions=False)


def answer(*arguments: str, code: int = 0, typed: str | bytes | None = None) -> Any:
    """What a command prints with --json, once it ended with this code."""
    result = run(*arguments, "--json", typed=typed)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)
