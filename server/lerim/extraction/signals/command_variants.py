"""Finds what other than an edit made a failing command pass: a variant of the command (with a wrapper, a flag, a
variable, another folder or script), or the removal of a setting that the agent wrote and the tool refused by name."""

from __future__ import annotations

import posixpath
import re

from lerim.extraction.facts import Command, output_lines, wording
from lerim.extraction.signals.command_failure import CommandFailure, draft_lesson
from lerim.extraction.signals.draft import Draft, Quote, Scene
from lerim.patterns import compile_later
from lerim.sessions import ToolCall, Turn

MAX_WRAPPER_WORDS = 3
"""Maximum number of words that a program which runs another one has before that one: `docker compose exec`."""
_OTHER_USES = "add help i info install list remove search show uninstall update upgrade view why"
_NOT_RUNNING = frozenset(_OTHER_USES.split())
"""Subcommands with which a package manager does something other than running a program: `pip install pytest` is no
way to run `pytest`."""
_FORM = compile_later(r"(?:[wx]|\d[\d.]*)?\Z")
"""Matches the endings of other names of the same program: `gradlew`, `pipx`, `python3.12`."""
_PACKAGE_MANAGERS = frozenset(("npm", "pnpm", "yarn", "bun"))
_MACHINE = frozenset({"PATH", "HOME", "PWD", "SHELL", "TMPDIR", "TEMP", "LANG", "TERM"})  # specific to one machine
_USAGE = compile_later(
    r"[Uu]nknown|[Uu]nrecognized|[Ii]nvalid (?:option|argument|choice)|not recognized|not found|No module named"
    r"|Cannot find|[Mm]issing|required|permission|denied|not set|[Rr]equires?|refused|unsupported|Unsupported|must"
    r"|locked|[Tt]imed? ?out|memory|frozen|workspace|not allowed"
)
_UNKNOWN = compile_later(
    r"\b(?:unrecogni[sz]ed|unknown|invalid|unsupported|unexpected|undefined|no such|not a valid|"
    r"does not support)\s(?:top-level\s|config(?:uration)?\s)?(?:key|option|property|properties|"
    r"field|setting|attribute|parameter|rule|section|input|table)"
    r"(?:\(s\)|s)?\b[^'\"`\n]{0,40}['\"`](?P<name>[A-Za-z_][\w.@/-]{1,60})['\"`]",
    re.IGNORECASE,
)
_KEY = compile_later(r"[\"']?(?P<key>[A-Za-z_][\w.-]{1,60})[\"']?\s{0,3}[:=]")


def draft_variant(scene: Scene, turn: Turn, call: ToolCall, command: Command, failure: CommandFailure) -> Draft | None:
    """Returns the draft for a command that passed in place of `failure`, or None if it is not a variant of it."""
    if not (output_lines.ENVIRONMENT.search(failure.output) or _USAGE.search(failure.error)):
        return None
    if command.text == failure.command:
        form = _find_variable_change(scene, turn, command, failure)
    else:
        form = _find_command_change(command, failure)
    if not form:
        return None
    title, how = form
    if len(title) > wording.MAX_RULE_TITLE_CHARS:
        return None
    return draft_lesson(
        failure,
        turn,
        call.output,
        basis="replaced",
        kind="procedure",
        title=title,
        body=f"`{failure.command}` failed with “{failure.error}”. {how}",
        statements=(Quote(command.text, turn.id, "assistant"),),
        artifacts=(failure.command, command.text),
    )


def _find_variable_change(
    scene: Scene, turn: Turn, command: Command, failure: CommandFailure
) -> tuple[str, str] | None:
    new = [item for item in command.variables if item not in failure.variables]
    if len(new) == 1 and not failure.variables:
        name = new[0].split("=", 1)[0]
        if name == "PATH":
            return _find_assigned_path(command.text.split()[0], new[0])
        if name in _MACHINE:
            return None
        return f"`{command.text}` needs `{name}` to be set", f"It passed with `{name}` set for it."
    if command.folder == failure.folder or not re.search(
        r"[Ss]cript|package\.json|manifest|Cargo\.toml|go\.mod|pyproject|Makefile|module", failure.output
    ):
        return None
    folder = scene.locate(command.folder, turn.cwd) if command.folder else ""
    if folder:
        return f"Run `{command.text}` in `{folder}/`", f"It passed when run in `{folder}/`."
    if command.folder and not scene.locate(f"{command.folder}/x", turn.cwd).count("/"):
        return f"Run `{command.text}` in the repository's root", "It passed when run in the root of the repository."
    return None


def _find_assigned_path(program: str, assignment: str) -> tuple[str, str] | None:
    """Returns title and body text for the folder that had to be added to PATH for a program to be found."""
    parts = re.split(r"(?<=[^:;]{2}):(?=[/$~.])|;", assignment.partition("=")[2].strip("\"'"))
    folders = [part for part in parts if part and "$" not in part and "%" not in part]
    if len(folders) != 1:
        return None
    return (
        f"`{program}` is not on the PATH: it lies in `{folders[0]}`",
        f"It passed with `{folders[0]}` added to `PATH`.",
    )


def _find_command_change(command: Command, failure: CommandFailure) -> tuple[str, str] | None:
    old, new = failure.command.split(), list(command.words)
    passed = f"`{command.text}` passed instead."
    if Command(failure.command).has_wrapper and new == old[1:]:
        return f"Run `{new[0]}` without `{old[0]}`: `{old[0]}` refuses `{' '.join(new[:2])}`", passed
    program = new[: len(new) - len(old) + 1]
    if 0 < len(program) <= MAX_WRAPPER_WORDS + 1 and sorted(new[len(program) :]) == sorted(old[1:]):
        title = _describe_program(old[0], program, command.text)
        return (title, passed) if title else None
    extra = [word for word in new if word not in old]
    if (
        new[: min(2, len(old))] == old[:2]
        and 0 < len(extra) <= 2
        and all(word in new for word in old)
        and extra[0].startswith("-")
    ):
        return f"`{wording.shorten(failure.command, 48)}` needs `{' '.join(extra)}`", passed
    here = "cript" in failure.error and command.folder == failure.folder and old[0] == new[0]
    if here and _find_script(old) and _find_script(old).partition(":")[0] == _find_script(new).partition(":")[0]:
        return f"Run `{command.text}`, not `{failure.command}`", passed
    return None


def _describe_program(old: str, new: list[str], command: str) -> str:
    """Returns the title for a program that was called in another way, or in another variety (`python3`, `pnpm`); "" for
    another program."""
    if new[-1].rpartition("/")[2] != old:
        shorter, longer = sorted((old.removeprefix("./"), new[0].removeprefix("./")), key=len)
        is_form = longer.startswith(shorter) and bool(_FORM.match(longer, len(shorter)))
        is_variety = len(new) == 1 and (is_form or _PACKAGE_MANAGERS.issuperset((shorter, longer)))
        return f"Use `{new[0]}`, not `{old}`: `{command}`" if is_variety else ""
    if len(new) == 1 and new[0].startswith("/"):
        return f"`{old}` is not on the PATH: it lies in `{new[0].rpartition('/')[0]}`"
    return f"Run `{' '.join(new)}`, not `{old}`" if _NOT_RUNNING.isdisjoint(new[:-1]) else ""


def _find_script(words: list[str]) -> str:
    """Returns the script a package manager runs (`npm run test:unit` → `test:unit`), or "" for anything longer."""
    rest = [word for word in words[1:] if word != "run"]
    return rest[0] if len(rest) == 1 and not rest[0].startswith("-") else ""


def find_refused_setting(error: str, written: list[tuple[str, str]]) -> tuple[str, str]:
    """Returns the setting that an error refuses and the file the agent wrote it to, or two empty strings."""
    match = _UNKNOWN.search(error)
    if match is None:
        return "", ""
    name = match["name"]
    file = next((path for path, line in reversed(written) if name in line), "")
    return (name, file) if file else ("", "")


def draft_refused_setting(
    turn: Turn, call: ToolCall, failure: CommandFailure, written: list[tuple[str, str]]
) -> Draft | None:
    """Returns the lesson that the file does not accept the setting, and what was written instead."""
    name, file = failure.refused
    lines = [line for path, line in written if path == file]
    wrote = max((at for at, line in enumerate(lines) if name in line), default=-1)
    keys = [match["key"] for line in lines[wrote + 1 :] if (match := _KEY.match(line))]
    if file not in failure.files:
        return None  # it passed without the setting being removed
    tool = wording.shorten(failure.command, 40)
    used = f"It passed with `{keys[-1]}` instead." if keys else "It passed without it."
    return draft_lesson(
        failure,
        turn,
        call.output,
        kind="pitfall",
        title=f"`{posixpath.basename(file)}` takes no `{name}`: `{tool}` refuses it",
        body=f"`{failure.command}` failed with “{failure.error}” after `{name}` was written into `{file}`. {used}",
        artifacts=(failure.command, name, file),
        references=(file,),
    )
