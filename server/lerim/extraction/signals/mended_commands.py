"""Finds commands that failed and then passed: the same command after edits, or another one in its place.

Exit codes decide, not what anybody says. Open failures are kept from turn to turn and across syncs. If the agent
itself broke and repaired something in the same session, that is work rather than a lesson, and yields nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lerim.extraction.facts import (
    Command,
    commands,
    find_artifacts,
    find_sentences,
    output_lines,
    strip_emphasis,
    wording,
)
from lerim.extraction.signals import command_variants, git_steps
from lerim.extraction.signals.command_failure import CommandFailure, draft_lesson
from lerim.extraction.signals.draft import Draft, Scene, find_edited_files
from lerim.extraction.signals.next_words import is_commit_made
from lerim.patterns import compile_later
from lerim.sessions import ToolCall, Turn

MAX_OPEN_FAILURES = 6  # failures kept at a time
MAX_WRITTEN_LINES = 40  # lines kept as written by the agent
MAX_OWN_FILES = 300  # files kept as changed by the agent in this session
_CONFIG = compile_later(
    r"(?:\.(?:toml|ya?ml|json|jsonc|ini|cfg|conf|env|lock|mod|gradle|properties|xml)|(?:^|/)(?:Makefile|Dockerfile|"
    r"Justfile|\.[\w.-]{2,40}|"
    r"[\w.-]{1,40}\.config\.[cm]?[jt]s|conftest\.py|setup\.py|requirements[\w.-]{0,20}\.txt|tsconfig[\w.-]{0,20}))$"
)
_KEY = compile_later(r"^[+\s]{0,40}[\"']?(?P<key>[A-Za-z_][\w.-]{1,60})[\"']?\s{0,3}[:=]\s{0,3}(?P<value>.{0,120})$")
_ENTRY = compile_later(r"^(?:- )?[\"'](?P<entry>[^\"'\s]{2,40})[\"']$")
_ORDINARY = frozenset(("error", "errors", "failed", "cannot", "with", "from", "this", "that", "have", "must", "not"))
_NAMED = compile_later(
    r"\b(?!Assertion)[A-Z]\w{2,40}(?:Error|Exception)\b|\b(?:database is locked|import cycle|E[A-Z]{5,12})\b"
)
_EMPTY = compile_later(
    r"\b(?:issue|problem|cause|reason|error) (?:is|was) (?:now |very |quite |pretty )?(?:clear|obvious|simple|found|"
    r"known|fixed|"
    r"gone|here|there|solved|understood|likely|probably)\b|^(?:i|let me|let's|now i|next)\b(?!.*\bbecause\b)",
    re.IGNORECASE,
)
"""Matches sentences that mention a cause without naming it, or that announce the next step."""
_CAUSE = compile_later(
    r"\b(?:because|root cause|the (?:issue|problem|cause|reason|error) (?:is|was)|turns out|due to|needs? to|"
    r"requires?|missing|expects?|must be)\b",
    re.IGNORECASE,
)


@dataclass
class FailureWatch:
    """The open failures of a session, the files the agent has changed in it, and the lines it wrote last."""

    failures: list[CommandFailure] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    written: list[tuple[str, str]] = field(default_factory=list)

    def process_turn(self, scene: Scene, turn: Turn) -> Iterator[Draft]:
        """Takes one turn of the model and yields the drafts it settles. Turns must be passed once each, in order."""
        self._store_cause(turn)
        for call in turn.tool_calls:
            if call.kind in ("edit", "write") and call.status == "ok":
                self._record_edit(scene, turn, call)
            elif call.kind == "shell" and call.command:
                yield from self._record_run(scene, turn, call)

    def _store_cause(self, turn: Turn) -> None:
        if not self.failures or not turn.text:
            return
        last = self.failures[-1]
        text = turn.text[:3_000]
        for piece in find_sentences(text):
            said = text[piece.start : piece.end]
            line = strip_emphasis(said)
            if (
                piece.kind != "quote"
                and 20 < len(line) <= 200
                and not line.endswith((":", "?"))
                and _CAUSE.search(line)
                and not _EMPTY.search(line)
                and not wording.is_hedged(line)
                and _is_about_failure(line, last)
            ):
                last.cause, last.cause_turn = said, turn.id
                return

    def _record_edit(self, scene: Scene, turn: Turn, call: ToolCall) -> None:
        for path in find_edited_files(scene, call, turn.cwd):
            self.written = [*self.written, *((path, line[:200]) for line in _added_lines(call, MAX_WRITTEN_LINES))][
                -MAX_WRITTEN_LINES:
            ]
            for failure in self.failures:
                if path not in failure.files:
                    failure.files.append(path)
                    failure.own = failure.own or path in self.own
                if len(failure.added) < 6:
                    failure.added += [(path, line) for line in _added_lines(call)][:3]
            if path not in self.own:
                self.own = [*self.own, path][-MAX_OWN_FILES:]

    def _record_run(self, scene: Scene, turn: Turn, call: ToolCall) -> Iterator[Draft]:
        if git_steps.git_verb(call.command):
            yield from self._record_hook_run(turn, call)
            return
        command = commands.parse_command(call.command)
        if not command.is_project_command:
            return
        result = commands.command_outcome(call, command)
        if result == "failed":
            self._record_failure(turn, call, command)
        elif result == "passed":
            for failure in [item for item in self.failures if _may_be_variant(item.command, command.text)]:
                resolution = self._resolve_failure(scene, turn, call, command, failure)
                if resolution is not None:
                    self.failures.remove(failure)
                    if isinstance(resolution, Draft):
                        yield resolution

    def _record_hook_run(self, turn: Turn, call: ToolCall) -> Iterator[Draft]:
        """Handles a commit or push: one stopped by a hook stays open until one goes through."""
        command = git_steps.plain_git_command(call)
        if error := git_steps.hook_refusal(call):
            self._open_failure(turn, call, command, error)
        elif is_commit_made(call):
            for failure in [item for item in self.failures if item.command == command.text]:
                self.failures.remove(failure)
                lesson = None if git_steps.is_hook_skipped(call) else _draft_edit_fix(turn, call, failure)
                if lesson is not None and _is_config_only(failure):  # otherwise the code was fixed, as intended
                    yield lesson

    def _record_failure(self, turn: Turn, call: ToolCall, command: Command) -> None:
        self._open_failure(turn, call, command, output_lines.error_line(call.output))

    def _open_failure(self, turn: Turn, call: ToolCall, command: Command, error: str) -> None:
        same = next(
            (item for item in self.failures if item.command == command.text and item.variables == command.variables),
            None,
        )
        if same is not None:
            same.attempts += 1
        if same is not None or not error:
            return
        names = {posixpath.basename(path) for path in self.own}
        own = any(name in call.output for name in names if len(name) > 3)
        at = max(0, call.output.find(error) - 400)
        failure = CommandFailure(
            command.text, command.folder, command.variables, error, call.output[at : at + 1_500], turn.id, own=own
        )
        failure.refused = command_variants.find_refused_setting(error, self.written)
        self.failures = [*self.failures, failure][-MAX_OPEN_FAILURES:]

    def _resolve_failure(
        self, scene: Scene, turn: Turn, call: ToolCall, command: Command, failure: CommandFailure
    ) -> Draft | bool | None:
        """Returns a draft, True if the failure is resolved but teaches nothing, or None if it is still open."""
        same = command.text == failure.command
        if same and failure.refused[0]:
            return command_variants.draft_refused_setting(turn, call, failure, self.written) or True
        if same and command.variables == failure.variables and (failure.files or command.folder == failure.folder):
            return _draft_edit_fix(turn, call, failure) or True
        if failure.own or failure.files:
            return True if same else None
        return command_variants.draft_variant(scene, turn, call, command, failure)


def _added_lines(call: ToolCall, most: int = 3) -> list[str]:
    out: list[str] = []
    for edit in call.edits:
        before = {_strip_line(line) for line in edit.old[:4_000].split("\n")}
        after = [_strip_line(line) for line in edit.new[:4_000].split("\n")]
        out += [line for line in after if line and line not in before]
    return out[:most]


def _may_be_variant(failed: str, passed: str) -> bool:
    """Returns whether one command may be a form of the other: at least one of the first two words of the failed
    command is in the one that passed."""
    return any(word in passed for word in failed.split()[:2])


def _strip_line(line: str) -> str:
    return line.strip().rstrip(",")


def _is_about_failure(line: str, failure: CommandFailure) -> bool:
    words = {word for word in re.findall(r"[A-Za-z_]\w{3,40}", failure.error.lower()) if word not in _ORDINARY}
    return bool(find_artifacts(line)) or any(word in line.lower() for word in words)


def _draft_edit_fix(turn: Turn, call: ToolCall, failure: CommandFailure) -> Draft | None:
    if failure.own or not 0 < len(failure.files) <= 2:
        return None
    config = _is_config_only(failure)
    environment = bool(output_lines.ENVIRONMENT.search(f"{failure.error}\n{failure.output}"))
    if commands.parse_command(failure.command).is_style_check and not config:
        return None
    named = bool(_NAMED.search(failure.error))
    if not (config or (failure.cause and (environment or named))):
        return None
    title = _make_title(failure, config)
    if not title:
        return None
    return draft_lesson(
        failure,
        turn,
        call.output,
        kind="pitfall",
        title=title,
        body=_make_body(failure, config),
        statements=failure.causes,
        artifacts=(failure.command, *failure.files),
        references=tuple(failure.files),
    )


def _is_config_only(failure: CommandFailure) -> bool:
    return all(_CONFIG.search(path) for path in failure.files)


def _find_added_setting(failure: CommandFailure) -> tuple[str, str]:
    """Returns the single setting that was added to fix the failure as (key, whole line), or two empty strings."""
    keys = [(match["key"], line) for _, line in failure.added if len(line) <= 100 and (match := _KEY.match(line))]
    return keys[0] if len({key for key, _ in keys}) == 1 else ("", "")


def _find_added_entries(failure: CommandFailure) -> tuple[str, ...]:
    """Returns the added entries if an edit only added entries to a list (patterns, names)."""
    found = [_ENTRY.match(line) for _, line in failure.added]
    names = tuple(dict.fromkeys(match["entry"] for match in found if match))
    return names if names and all(found) else ()


def _make_title(failure: CommandFailure, config: bool) -> str:
    name, command = output_lines.error_name(failure.error), wording.shorten(failure.command, 50)
    how = f" with {name}" if name else ""
    file = failure.files[0] if len(failure.files[0]) <= 34 else posixpath.basename(failure.files[0])
    key, _ = _find_added_setting(failure) if config else ("", "")
    line = failure.added[0][1].replace("`", "") if config and len(failure.added) == 1 else ""
    entries = _find_added_entries(failure) if config else ()
    listed = wording.join_names([wording.code_span(entry) for entry in entries])
    forms = (
        f"`{command}` needs {listed} listed in `{file}`" if entries else "",
        f"`{command}` needs `{key}` in `{file}`" if key else "",
        f"`{command}` needs `{line}` in `{file}`" if line and not key else "",
        f"`{command}` fails{how} unless `{file}` is right" if config else "",
        f"`{command}` failed{how} because of `{file}`",
        f"{name} in `{command}` came from `{file}`" if name else "",
    )
    return next((form for form in forms if form and len(form) <= wording.MAX_RULE_TITLE_CHARS), "")


def _make_body(failure: CommandFailure, config: bool) -> str:
    files = wording.join_names([wording.code_span(path) for path in failure.files])
    tries = f" {failure.attempts} times" if failure.attempts > 1 else ""
    parts = [f"`{failure.command}` failed{tries} with “{failure.error}”."]
    _, line = _find_added_setting(failure) if config else ("", "")
    if config and not line and len(failure.added) == 1:
        line = failure.added[0][1]
    parts.append(f"The same command passed after {files} {'was' if len(failure.files) == 1 else 'were'} changed.")
    if line:
        parts.append(f"The line that was added: `{line.replace('`', '')}`.")
    if failure.cause:
        parts.append(f"Said of the cause then: “{strip_emphasis(failure.cause)}”")
    return " ".join(parts)
