"""Collects what was done in a session from the catalog, exchange by exchange: changed files, commands and their
results, commits, choices, refusals. Nothing is interpreted or guessed; what is not recorded is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lerim.extraction.facts import parse_command, shorten, squeeze_spaces
from lerim.extraction.signals import find_git_steps
from lerim.patterns import compile_later
from lerim.redaction import clean_text
from lerim.sessions import QuestionAnswer, StoredCall, SummaryTurn

RunOutcome = Literal["passed", "failed", "ran"]
ActionKind = Literal["committed", "pushed", "opened", "merged", "chose", "denied", "interrupted"]
MAX_COMMAND_CHARS = 70
MAX_MESSAGE_CHARS = 120
_DESCRIBED = compile_later(r"\n(?![A-Z_]{1,40}=)[A-Z][^\n]{0,300}\Z")
"""Matches the agent's description of a command, which follows the command."""
_HEREDOC = compile_later(r"(?:<<-?\s?['\"]?\w{1,20}['\"]?|@['\"])\n\s{0,8}([^\n]{1,300})")
"""Matches a message of several lines, passed as a heredoc or here-string."""
_SAYING = compile_later(r"\s(?:-[a-z]{0,3}m|--message)[ =]{1,3}(?:\"((?:[^\"\\]|\\[\s\S]){1,400})|'([^']{1,400}))")
_ESCAPED = compile_later(r"\\([\"\\$`])")
_STEPS = compile_later(r"\s{0,3}(?:&&|;|\n|\|\|)\s{0,3}")


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A project command that was run, and its result, which is `ran` if the result was not recorded."""

    name: str
    outcome: RunOutcome
    turn: str


@dataclass(frozen=True, slots=True)
class SessionAction:
    """A commit with its message, a push, a pull request, a merge, a choice by the person, or a refusal."""

    kind: ActionKind
    text: str
    turn: str


@dataclass(slots=True)
class SummaryExchange:
    """A person's message and all replies to it. `prompt` is None if the session begins with a reply.

    `changed_files` maps repo-relative paths to the turns that changed them, `read_files` maps other paths named in tool
    calls to one turn."""

    prompt: SummaryTurn | None
    replies: list[SummaryTurn] = field(default_factory=list)
    changed_files: dict[str, list[str]] = field(default_factory=dict)
    read_files: dict[str, str] = field(default_factory=dict)
    runs: list[CommandRun] = field(default_factory=list)
    actions: list[SessionAction] = field(default_factory=list)


Locate = Callable[[str, str], str]


def split_exchanges(
    turns: Iterable[SummaryTurn], locate: Locate, *, records_results: bool = True
) -> list[SummaryExchange]:
    """Returns the exchanges of a session. `locate` maps a path as named in a tool call, and a working folder, to a
    repo-relative path, or to "" if the path is outside the repository. `records_results`: the agent records the
    result of every command."""
    out: list[SummaryExchange] = []
    for turn in turns:
        if turn.role == "user":
            out.append(SummaryExchange(turn))
        elif not out:
            out.append(SummaryExchange(None))
        exchange = out[-1]
        if turn.role != "user":
            exchange.replies.append(turn)
            for call in turn.calls:
                _add_call(exchange, turn, call, locate, records_results)
    return out


def _add_call(
    exchange: SummaryExchange, turn: SummaryTurn, call: StoredCall, locate: Locate, records_results: bool
) -> None:
    if call.status in ("denied", "interrupted"):
        exchange.actions.append(SessionAction(call.status, _describe_call(call, turn, locate), turn.id))
        return
    if call.text.startswith("$ "):
        exchange.actions += _find_git_actions(call, turn.id)
        exchange.runs += _parse_runs(call, turn.id, records_results)
    elif call.changes_files:
        if call.status == "ok":
            for path in _locate_named_paths(call, turn, locate):
                exchange.changed_files.setdefault(path, []).append(turn.id)
    elif turn.paths and call.status == "ok" and (named := _locate_named_paths(call, turn, locate)):
        exchange.read_files |= dict.fromkeys(named, turn.id)
    elif answers := call.answers:
        exchange.actions += [SessionAction("chose", _describe_answer(one), turn.id) for one in answers]


def _locate_named_paths(call: StoredCall, turn: SummaryTurn, locate: Locate) -> list[str]:
    return [found for path in call.find_named_paths(turn.paths) if (found := locate(path, turn.cwd))]


def _describe_answer(answer: QuestionAnswer) -> str:
    question = _shorten_clean(answer.question.removesuffix("?"), MAX_MESSAGE_CHARS - 1)
    return f"“{question}?”: “{_shorten_clean(answer.answer, MAX_MESSAGE_CHARS)}”"


def _describe_call(call: StoredCall, turn: SummaryTurn, locate: Locate) -> str:
    first = call.text.partition("\n")[0]
    if first.startswith("$ "):
        return f"`{_shorten_clean(first[2:], MAX_COMMAND_CHARS)}`"
    named = _locate_named_paths(call, turn, locate)
    return (
        f"a change of `{named[0]}`"
        if named and call.changes_files
        else f"`{_shorten_clean(first.partition(' ')[0], MAX_COMMAND_CHARS)}`"
    )


def _find_git_actions(call: StoredCall, turn: str) -> Iterator[SessionAction]:
    command = _DESCRIBED.sub("", call.text.removeprefix("$ "))
    if call.status != "ok" or call.exit_code:
        return
    for kind, end in find_git_steps(command).items():
        yield SessionAction(kind, _find_commit_message(command[end : end + 1_000]) if kind == "committed" else "", turn)


def _find_commit_message(arguments: str) -> str:
    option, lines = _SAYING.search(arguments), _HEREDOC.search(arguments)
    if option is not None and (lines is None or option.end() <= lines.start()):
        return _shorten_clean((_ESCAPED.sub(r"\1", option[1] or "") or option[2]).split("\n")[0], MAX_MESSAGE_CHARS)
    return _shorten_clean(lines[1], MAX_MESSAGE_CHARS) if lines is not None else ""


def _parse_runs(call: StoredCall, turn: str, records_results: bool) -> Iterator[CommandRun]:
    if call.status not in ("ok", "error"):
        return
    script = _DESCRIBED.sub("", call.text.removeprefix("$ ")).replace("\\\n", " ")
    first, _, more = script.partition("\n")
    command = parse_command(first)
    steps = [parse_command(step) for step in _STEPS.split(command.text)[:6]]
    names = [_shorten_clean(step.text, MAX_COMMAND_CHARS) for step in steps if step.is_project_command]
    if not names:
        return
    alone = call.status == "error" or not more.strip()  # the result of a script is that of its last line
    failed = call.status == "error" or bool(call.exit_code)
    sure = records_results and not command.filtered and "|" not in command.text and ";" not in command.text
    outcome: RunOutcome = "ran" if not alone else "failed" if failed else "passed" if sure else "ran"
    yield CommandRun(" && ".join(names), outcome, turn)


def _shorten_clean(text: str, most: int) -> str:
    return shorten(squeeze_spaces(clean_text(text)[:2_000]).replace("`", "'"), most)


def find_last_runs(exchanges: Sequence[SummaryExchange]) -> list[CommandRun]:
    """Returns the last run of each command, in order."""
    last: dict[str, CommandRun] = {}
    for exchange in exchanges:
        for one in exchange.runs:
            last.pop(one.name, None)
            last[one.name] = one
    return list(last.values())
