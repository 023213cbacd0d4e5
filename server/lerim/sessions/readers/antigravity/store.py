"""Finds and reads sessions of Antigravity, the successor of Gemini CLI: one log of steps per conversation under
`brain/`.

The conversations themselves are protobuf and are not read; the conversations without a log are reported in a single
problem.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from msgspec.structs import replace

from lerim.errors import Problem
from lerim.sessions.model import StoreContents, Tokens, Transcript, Turn, make_turn_id
from lerim.sessions.readers.antigravity.calls import (
    attach_step_result,
    close_antigravity_call,
    parse_antigravity_call,
    unwrap_argument,
)
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    add_transcript,
    cut_blocks,
    find_text,
    list_folder,
    list_objects,
    list_subfolders,
    parse_fields,
    parse_json_or_none,
    parse_timestamp,
    read_log_records,
    read_start,
    split_usage,
    stat_regular_file,
    sum_session,
    sum_tokens,
    tag_content,
    text_outside_blocks,
    without_nul,
)

_LOG_NAMES = ("transcript_full.jsonl", "transcript.jsonl")
"""The names of a conversation's logs: the full log, and the one to read if there is no full log, in which the
arguments of calls are JSON inside strings."""
_CWD = re.compile(rb'"Cwd"\s{0,10}:\s{0,10}("(?:[^"\\]|\\.){1,1000}")')
_CONTEXT_TAGS = ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "lerim-memories")
_REQUEST = "USER_REQUEST"

_HISTORY_BYTES = 8 * 1024 * 1024
"""How many bytes of `history.jsonl` are read."""


class AntigravityStep(msgspec.Struct, gc=False):
    """One step of a conversation."""

    step_index: int | None = None
    source: str | None = ""
    type: str | None = ""
    status: str | None = ""
    created_at: str | None = ""
    content: str | None = ""
    thinking: str | None = ""
    tool_calls: msgspec.Raw = JSON_NULL
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None


def is_antigravity_log(path: Path) -> bool:
    """Returns whether a path is one of Antigravity's logs."""
    return path.name in _LOG_NAMES


def find_conversations(root: Path, contents: StoreContents) -> None:
    """Adds the conversations with a log under `antigravity*/brain`, and a problem for everything that cannot be
    read."""
    for product in list_subfolders(root, contents.problems):
        if product.name.startswith("antigravity"):
            folders = _read_workspaces(product)
            for conversation in list_subfolders(product / "brain", contents.problems):
                _add_log(conversation, folders.get(conversation.name, ""), contents)
            _report_skipped(product / "conversations", contents)


def _read_workspaces(product: Path) -> dict[str, str]:
    """Returns the folder of each conversation according to `history.jsonl`, the only file that names it; empty if that
    cannot be read."""
    folders: dict[str, str] = {}
    for line in read_start(product / "history.jsonl", _HISTORY_BYTES).split(b"\n"):
        entry = parse_fields(line)
        native_id, workspace = find_text(entry, "conversationId"), find_text(entry, "workspace")
        if native_id and workspace:
            folders[native_id] = workspace[:4096]
    return folders


def _add_log(folder: Path, cwd: str, contents: StoreContents) -> None:
    for folder_path in (folder / ".system_generated" / "logs", folder):
        entries = {entry.name: entry for entry in list_folder(folder_path, contents.problems)}
        for name in _LOG_NAMES:
            file_stat = stat_regular_file("gemini", entries[name], contents.problems) if name in entries else None
            if file_stat is not None and file_stat.st_size:
                add_transcript(contents, "gemini", entries[name], folder.name, cwd=cwd)
                return


def _report_skipped(folder: Path, contents: StoreContents) -> None:
    entries = list_folder(folder, contents.problems)
    stems = {entry.name.partition(".")[0] for entry in entries if entry.name.endswith((".pb", ".db"))}
    if count := len(stems - {one.session_id for one in contents.transcripts}):
        what = (
            f"{count} Antigravity {'conversation is' if count == 1 else 'conversations are'} kept in a form that only"
            " Antigravity reads, and left out. Conversations with a log under brain/ are read."
        )
        contents.problems.append(Problem("skipped", str(folder), what))


def _find_command_cwd(step: AntigravityStep) -> str:
    """Returns the folder in which a command of a step runs, or ''."""
    match = _CWD.search(bytes(step.tool_calls))
    cwd = unwrap_argument(parse_json_or_none(msgspec.Raw(match[1]))) if match else ""
    return without_nul(cwd)[:4096] if isinstance(cwd, str) else ""


def load_conversation(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads the conversation in a log. Raises OSError."""
    problems: list[Problem] = []
    steps = list(read_log_records(transcript.path, AntigravityStep, problems))
    cwd = transcript.cwd or next(filter(None, map(_find_command_cwd, steps)), "")
    is_subagent = bool(steps) and not any(_is_prompt(step) for step in steps)
    turns, parent = _build_turns(transcript, steps, cwd, is_subagent=is_subagent, brief=brief)
    return LoadedSession(
        session=sum_session(
            transcript,
            turns,
            parent=parent if is_subagent else "",
            tokens=sum_tokens(turns) if any(step.input_tokens is not None for step in steps) else None,
            times=(parse_timestamp(step.created_at) for step in steps),
        ),
        turns=turns,
        problems=problems,
    )


def _is_prompt(step: AntigravityStep) -> bool:
    return step.source == "USER_EXPLICIT" or step.type == "USER_INPUT"


def _build_turns(
    transcript: Transcript, steps: list[AntigravityStep], cwd: str, *, is_subagent: bool, brief: bool
) -> tuple[list[Turn], str]:
    turns: list[Turn] = []
    open_calls: list[int] = []
    parent = ""
    is_wrapped = transcript.path.name == _LOG_NAMES[-1]
    for index, step in enumerate(steps):
        number = index if step.step_index is None else step.step_index
        turn_id, time = make_turn_id("gemini", f"{transcript.session_id}:{number}"), parse_timestamp(step.created_at)
        if _is_prompt(step) or step.source == "SYSTEM":
            text = "" if is_subagent or not _is_prompt(step) else _typed_text(step.content or "")
            if text:
                turns.append(Turn(turn_id, len(turns), "user", "prompt", text, time, cwd))
                open_calls = []
        elif step.type == "PLANNER_RESPONSE":
            records = list_objects(parse_json_or_none(step.tool_calls))
            requested = [parse_antigravity_call(one, brief=brief, is_wrapped=is_wrapped) for one in records]
            cwd = next((one.cwd for one in reversed(requested) if one.cwd), cwd)
            parent = next((one.recipient for one in requested if one.recipient), parent)
            open_calls = list(range(len(requested)))
            answer = Turn(
                turn_id,
                len(turns),
                "assistant",
                "reply",
                without_nul(cut_blocks(step.content or "")),
                time,
                cwd,
                reasoning="" if brief else without_nul(cut_blocks(step.thinking or "")),
                tool_calls=tuple(one.call for one in requested),
                tokens=_count_tokens(step),
                sidechain=is_subagent,
            )
            turns.append(answer)
        elif open_calls:
            calls = list(turns[-1].tool_calls)
            at = open_calls.pop(0)
            calls[at] = attach_step_result(calls[at], step.status or "", step.content or "", brief=brief)
            turns[-1] = replace(turns[-1], tool_calls=tuple(calls))
    for at, turn in enumerate(turns[:-1]):
        turns[at] = replace(turn, tool_calls=tuple(map(close_antigravity_call, turn.tool_calls)))
    return turns, parent


def _typed_text(content: str) -> str:
    text = text_outside_blocks(content, _CONTEXT_TAGS)
    return without_nul(tag_content(text, _REQUEST, last=True) if f"<{_REQUEST}>" in text else text.strip())


def _count_tokens(step: AntigravityStep) -> Tokens:
    return split_usage(step.input_tokens, step.output_tokens, step.cache_read_tokens)
