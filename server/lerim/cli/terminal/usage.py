"""Prints usage errors. With `--json` or `--format json` in the arguments, they are printed as JSON like every other
error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import typer
from typer.core import TyperGroup

from lerim.cli.terminal import output
from lerim.errors import UsageError

_VALUE_TEXTS = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "must be a number",
    "Input should be ": "must be ",
}
"""Phrases in the messages about invalid values, with the words that the command line uses instead."""
_CLICK_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__mro__[1])
"""The base class of all usage errors, for which typer has no public name."""


class CommandGroup(TyperGroup):
    """A group of commands. Without a command it prints its help and exits with 0."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Returns the arguments that are left for the command."""
        return super().parse_args(ctx, args or (["--help"] if self.no_args_is_help else args))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Returns a command whose help shows its arguments without their Python types."""
        command = super().get_command(ctx, cmd_name)
        for parameter in getattr(command, "params", ()):
            if parameter.param_type_name == "argument":
                cast(Any, parameter).display_type_rich = _no_type
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list of commands in the help, each with its whole first sentence, which typer would cut off at
        the end of the line."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, command.get_short_help_str(limit=1000)) for name, command in commands if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _no_type(ctx: Any) -> str:
    return ""


class RootCommandGroup(CommandGroup):
    """The root command. If the output is not JSON, it behaves as in typer."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command. The messages of usage errors are rephrased in Lerim's words."""
        try:
            return super().invoke(ctx)
        except _CLICK_USAGE_ERROR as error:
            usage_error = cast(Any, error)
            for theirs, ours in _VALUE_TEXTS.items():
                usage_error.message = usage_error.message.replace(theirs, ours, 1)
            if isinstance(error, typer.BadParameter) and not usage_error.param and not usage_error.param_hint:
                # It is about several options: click would put "Invalid value" before it, and name none.
                raise cast(Any, _CLICK_USAGE_ERROR)(usage_error.message, usage_error.ctx) from error
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first argument names; the error for an unknown one names the groups that have
        it."""
        try:
            return super().resolve_command(ctx, args)
        except _CLICK_USAGE_ERROR as error:
            groups = self.commands.items()
            meant = [f"lerim {name} {args[0]}" for name, group in groups if args[0] in getattr(group, "commands", ())]
            if meant:
                choices = " or ".join(filter(None, (", ".join(meant[:-1]), meant[-1])))
                cast(Any, error).message = f"No such command {args[0]!r}. Did you mean {choices}?"
            raise

    def main(self, args: Sequence[str] | None = None, *rest: Any, **more: Any) -> Any:
        """Runs the command line and ends the process with its exit code."""
        if not _is_json_wanted(sys.argv[1:] if args is None else args):
            return super().main(args, *rest, **more)
        try:
            code = super().main(args, *rest, **{**more, "standalone_mode": False})
        except _CLICK_USAGE_ERROR as error:
            usage_error = _make_usage_error(error)
            output.show_error(usage_error, as_json=True)
            code = usage_error.exit_code
        except typer.Abort:
            code = 1
        sys.exit(code or 0)


def _is_json_wanted(args: Sequence[str]) -> bool:
    return "--json" in args or "--format=json" in args or ("--format", "json") in pairwise(args)


def _make_usage_error(error: Any) -> UsageError:
    path = error.ctx.command_path if error.ctx else "lerim"
    message = error.format_message()
    return UsageError(message.partition("\n")[0] or "A command is missing.", where=path, todo=f"See `{path} --help`.")
