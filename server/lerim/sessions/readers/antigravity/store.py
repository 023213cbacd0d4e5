"""Finds and reads sessions of Antigravity, the successor of Gemini CLI: one log of steps per conversation under
`brain/`.

The conversations themselves are protobuf and are not read; those without a log are reported once.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from lerim.errors import Problem
from lerim.files import make_unreadable_error, open_buffered
from lerim.sessions.model import NO_TOKENS, Tokens, ToolCall, Transcript, Turn, make_turn_id
from lerim.sessions.readers.antigravity.tools import (
    attach_step_result,
    close_antigravity_call,
    parse_antigravity_call,
    unwrap_argument,
)
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LineStream,
    LoadedSession,
    count_final_turns,
    cut_blocks,
    is_folder,
    list_folder,
    parse_json_or_none,
    parse_object,
    parse_timestamp,
    stamp_inode,
    stat_regular_file,
    sum_session,
    sum_tokens,
    text_outside_blocks,
    without_nul,
)
from lerim.sessions.readers.live import CUT_SHORT

_LOGS = ("transcript_full.jsonl", "transcript.jsonl")
"""The full log if there is one, else the one in which the arguments of calls are JSON inside strings."""
_CWD = re.compile(rb'"Cwd"\s{0,10}:\s{0,10}("(?:[^"\\]|\\.){1,1000}")')
_TAGS = ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "lerim-memories")
_REQUEST, _REQUEST_END = "<USER_REQUEST>", "</USER_REQUEST>"


_NOTES = 8 * 1024 * 1024
"""How many bytes of `history.jsonl` are read."""


class _Noted(msgspec.Struct, rename="camel", gc=False):
    """A prompt recorded in `history.jsonl` next to the conversations: the only record that names their folder."""

    workspace: str | None = ""
    conversation_id: str | None = ""


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
    return "brain" in path.parts and any(name.startswith("antigravity") for name in path.parts)


def find_conversations(root: Path) -> tuple[list[Transcript], list[Problem]]:
    """Returns the conversations with a log under `antigravity*/brain`, and problems with what cannot be read."""
    problems: list[Problem] = []
    found: list[Transcript] = []
    for product in list_folder(root, problems):
        if not product.name.startswith("antigravity") or not is_folder(product):
            continue
        folders = _workspaces(Path(product.path))
        for one in list_folder(Path(product.path) / "brain", problems):
            if is_folder(one) and (log := _log(Path(one.path), folders.get(one.name, ""), problems)):
                found.append(log)
        problems += _skipped(Path(product.path) / "conversations", {one.session_id for one in found}, problems)
    return found, problems


def _workspaces(product: Path) -> dict[str, str]:
    """Returns the folder of each conversation that `history.jsonl` names; empty if it cannot be read."""
    try:
        with open_buffered(product / "history.jsonl") as file:
            text = file.read(_NOTES)
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in text.split(b"\n"):
        try:
            noted = parse_object(line, _Noted)
        except ValueError:
            continue
        if noted.conversation_id and noted.workspace:
            found[noted.conversation_id] = without_nul(noted.workspace)[:4096]
    return found


def _log(folder: Path, cwd: str, problems: list[Problem]) -> Transcript | None:
    for place in (folder / ".system_generated" / "logs", folder):
        there = {entry.name: entry for entry in list_folder(place, problems) if entry.name in _LOGS}
        for name in _LOGS:
            known = stat_regular_file("gemini", there[name], problems) if name in there else None
            if known is not None and known.st_size:
                return Transcript(
                    platform="gemini",
                    path=place / name,
                    session_id=folder.name,
                    size=known.st_size,
                    mtime_ns=known.st_mtime_ns,
                    inode=stamp_inode(known.st_ino, cwd),
                    cwd=cwd,
                )
    return None


def _skipped(folder: Path, logged: set[str], problems: list[Problem]) -> list[Problem]:
    stems = {
        entry.name.partition(".")[0] for entry in list_folder(folder, problems) if entry.name.endswith((".pb", ".db"))
    }
    number = len(stems - logged)
    if not number:
        return []
    what = "conversation is" if number == 1 else "conversations are"
    return [
        Problem(
            "skipped",
            str(folder),
            f"{number} Antigravity {what} kept in a form that only Antigravity reads, and left out. Conversations with"
            " a log under brain/ are read.",
        )
    ]


def find_first_command_cwd(start: bytes) -> str:
    """Returns the folder in which the first command ran; '' if the beginning of a log does not contain it."""
    found = _CWD.search(start)
    told = unwrap_argument(parse_json_or_none(msgspec.Raw(found[1]))) if found else ""
    return without_nul(told)[:4096] if isinstance(told, str) else ""


def load_conversation(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads the conversation in a log. Raises TranscriptError if the file cannot be read."""
    path = transcript.path
    steps: list[AntigravityStep] = []
    problems: list[Problem] = []
    beginning = b""
    try:
        with open_buffered(path) as file:
            found = LineStream(file, 0)
            for start, _, data, complete in found:
                if not data or not data.strip():
                    continue
                beginning = beginning or find_first_command_cwd(data).encode("utf-8", "replace")
                try:
                    steps.append(parse_object(data, AntigravityStep))
                except ValueError as error:
                    if complete:
                        what = f"A step of this session could not be read ({str(error).split(':')[0]})"
                        problems.append(Problem("bad-line", f"{path}@{start}", what))
    except OSError as error:
        raise make_unreadable_error(path, error) from error
    if found.stop_reason:
        problems.append(Problem(CUT_SHORT, str(path), f"Only part of this session was read: it {found.stop_reason}"))
    child = bool(steps) and not any(_explicit(step) for step in steps)
    turns, injected, parent = _turns(transcript, steps, transcript.cwd or beginning.decode(), child=child, brief=brief)
    return LoadedSession(
        session=sum_session(
            transcript,
            turns,
            parent=parent if child else "",
            injected=injected,
            tokens=sum_tokens(turns) if any(step.input_tokens is not None for step in steps) else None,
            times=(parse_timestamp(step.created_at) for step in steps),
        ),
        turns=turns,
        final_turns=count_final_turns(turns),
        problems=problems[:100],
    )


def _explicit(step: AntigravityStep) -> bool:
    return step.source == "USER_EXPLICIT" or step.type == "USER_INPUT"


def _turns(
    transcript: Transcript, steps: list[AntigravityStep], cwd: str, *, child: bool, brief: bool
) -> tuple[list[Turn], int, str]:
    turns: list[Turn] = []
    waiting: list[tuple[int, int]] = []
    calls: list[list[ToolCall]] = []
    injected = 0
    parent = ""
    wrapped = transcript.path.name == _LOGS[-1]
    for at, step in enumerate(steps):
        name = make_turn_id("gemini", f"{transcript.session_id}:{at if step.step_index is None else step.step_index}")
        if _explicit(step) or step.source == "SYSTEM":
            text = "" if child or not _explicit(step) else _typed(step.content or "")
            injected += not text
            if text:
                turns.append(_turn(step, name, len(turns), cwd, text))
                calls.append([])
                waiting = []
        elif step.type == "PLANNER_RESPONSE":
            given = [parse_antigravity_call(one, brief=brief, wrapped=wrapped) for one in _called(step)]
            cwd = next((one.cwd for one in reversed(given) if one.cwd), cwd)
            parent = next((one.recipient for one in given if one.recipient), parent)
            waiting = [(len(turns), number) for number in range(len(given))]
            turns.append(
                _turn(
                    step, name, len(turns), cwd, without_nul(cut_blocks(step.content or "")), child=child, brief=brief
                )
            )
            calls.append([one.call for one in given])
        elif waiting:
            turn, number = waiting.pop(0)
            calls[turn][number] = attach_step_result(
                calls[turn][number], step.status or "", step.content or "", brief=brief
            )
    made = [
        msgspec.structs.replace(
            turn, tool_calls=tuple(close_antigravity_call(call) for call in own) if at + 1 < len(turns) else tuple(own)
        )
        for at, (turn, own) in enumerate(zip(turns, calls, strict=True))
    ]
    return made, injected, parent


def _called(step: AntigravityStep) -> list[object]:
    found = parse_json_or_none(step.tool_calls)
    return found if isinstance(found, list) else []


def _typed(content: str) -> str:
    text = text_outside_blocks(content, _TAGS)
    start = text.find(_REQUEST)
    if start >= 0:
        end = text.rfind(_REQUEST_END)
        text = text[start + len(_REQUEST) : end if end > start else len(text)]
    return without_nul(text.strip())


def _turn(
    step: AntigravityStep, name: str, ordinal: int, cwd: str, text: str, *, child: bool = False, brief: bool = False
) -> Turn:
    person = _explicit(step)
    return Turn(
        id=name,
        ordinal=ordinal,
        role="user" if person else "assistant",
        kind="prompt" if person else "reply",
        text=text,
        time=parse_timestamp(step.created_at),
        cwd=cwd,
        reasoning="" if person or brief else without_nul(cut_blocks(step.thinking or "")),
        tokens=NO_TOKENS if person else _tokens(step),
        sidechain=child,
    )


def _tokens(step: AntigravityStep) -> Tokens:
    sent, cached, received = (
        number if number and 0 < number < 1 << 48 else 0
        for number in (step.input_tokens, step.cache_read_tokens, step.output_tokens)
    )
    return Tokens(input=max(0, sent - cached), output=received, cache_read=min(sent, cached))
