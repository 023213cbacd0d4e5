"""Sessions of Antigravity, which follows Gemini CLI: a log of steps for each conversation under `brain/`.

Its conversations proper are protobuf and stay unread: where one has no log, that is said once.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from lerim.errors import Problem
from lerim.sessions.broken_json import part, shaped
from lerim.sessions.gemini_antigravity_tools import answered, asked, ended, unwrapped
from lerim.sessions.lines import Lines
from lerim.sessions.live import CUT_SHORT
from lerim.sessions.model import NO_TOKENS, Tokens, ToolCall, Transcript, Turn, turn_id
from lerim.sessions.regular import buffered, unreadable
from lerim.sessions.session_files import entries, is_folder, regular, stamped
from lerim.sessions.shapes import NOTHING
from lerim.sessions.totals import settled, spent, summed
from lerim.sessions.typed import cut, outside
from lerim.sessions.values import moment, plain
from lerim.sessions.whole import Loaded

_LOGS = ("transcript_full.jsonl", "transcript.jsonl")
"""The log in full where there is one, else the one whose arguments of calls are wrapped once more."""
_CWD = re.compile(rb'"Cwd"\s{0,10}:\s{0,10}("(?:[^"\\]|\\.){1,1000}")')
_TAGS = ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "lerim-memories")
_REQUEST, _REQUEST_END = "<USER_REQUEST>", "</USER_REQUEST>"


_NOTES = 8 * 1024 * 1024
"""Bytes of the noted prompts that are read."""


class _Noted(msgspec.Struct, rename="camel", gc=False):
    """A prompt as it is noted beside the conversations: the only record that names their folder."""

    workspace: str | None = ""
    conversation_id: str | None = ""


class Step(msgspec.Struct, gc=False):
    """One step of a conversation."""

    step_index: int | None = None
    source: str | None = ""
    type: str | None = ""
    status: str | None = ""
    created_at: str | None = ""
    content: str | None = ""
    thinking: str | None = ""
    tool_calls: msgspec.Raw = NOTHING
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None


def owns(path: Path) -> bool:
    """Whether a path is one of Antigravity's logs."""
    return "brain" in path.parts and any(name.startswith("antigravity") for name in path.parts)


def find(root: Path) -> tuple[list[Transcript], list[Problem]]:
    """The conversations with a log under `antigravity*/brain`, and what could not be looked at or read."""
    problems: list[Problem] = []
    found: list[Transcript] = []
    for product in entries(root, problems):
        if not product.name.startswith("antigravity") or not is_folder(product):
            continue
        folders = _workspaces(Path(product.path))
        for one in entries(Path(product.path) / "brain", problems):
            if is_folder(one) and (log := _log(Path(one.path), folders.get(one.name, ""), problems)):
                found.append(log)
        problems += _skipped(Path(product.path) / "conversations", {one.session_id for one in found}, problems)
    return found, problems


def _workspaces(product: Path) -> dict[str, str]:
    """The folder of each conversation that the noted prompts name; empty where they cannot be read."""
    try:
        with buffered(product / "history.jsonl") as file:
            text = file.read(_NOTES)
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in text.split(b"\n"):
        try:
            noted = shaped(line, _Noted)
        except ValueError:
            continue
        if noted.conversation_id and noted.workspace:
            found[noted.conversation_id] = plain(noted.workspace)[:4096]
    return found


def _log(folder: Path, cwd: str, problems: list[Problem]) -> Transcript | None:
    for place in (folder / ".system_generated" / "logs", folder):
        there = {entry.name: entry for entry in entries(place, problems) if entry.name in _LOGS}
        for name in _LOGS:
            known = regular("gemini", there[name], problems) if name in there else None
            if known is not None and known.st_size:
                return Transcript(
                    platform="gemini",
                    path=place / name,
                    session_id=folder.name,
                    size=known.st_size,
                    mtime_ns=known.st_mtime_ns,
                    inode=stamped(known.st_ino, cwd),
                    cwd=cwd,
                )
    return None


def _skipped(folder: Path, logged: set[str], problems: list[Problem]) -> list[Problem]:
    stems = {entry.name.partition(".")[0] for entry in entries(folder, problems) if entry.name.endswith((".pb", ".db"))}
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


def began(start: bytes) -> str:
    """The folder in which the first command ran, as far as the beginning of a log tells."""
    found = _CWD.search(start)
    told = unwrapped(part(msgspec.Raw(found[1]))) if found else ""
    return plain(told)[:4096] if isinstance(told, str) else ""


def load(transcript: Transcript, *, brief: bool) -> Loaded:
    """The conversation in a log. Raises TranscriptError where the file cannot be read."""
    path = transcript.path
    steps: list[Step] = []
    problems: list[Problem] = []
    beginning = b""
    try:
        with buffered(path) as file:
            found = Lines(file, 0)
            for start, _, data, complete in found:
                if not data or not data.strip():
                    continue
                beginning = beginning or began(data).encode("utf-8", "replace")
                try:
                    steps.append(shaped(data, Step))
                except ValueError as error:
                    if complete:
                        what = f"A step of this session could not be read ({str(error).split(':')[0]})"
                        problems.append(Problem("bad-line", f"{path}@{start}", what))
    except OSError as error:
        raise unreadable(path, error) from error
    if found.stopped:
        problems.append(Problem(CUT_SHORT, str(path), f"This session was read in part: it {found.stopped}"))
    child = bool(steps) and not any(_explicit(step) for step in steps)
    turns, injected, parent = _turns(transcript, steps, transcript.cwd or beginning.decode(), child=child, brief=brief)
    return Loaded(
        session=summed(
            transcript,
            turns,
            parent=parent if child else "",
            injected=injected,
            tokens=spent(turns) if any(step.input_tokens is not None for step in steps) else None,
            times=(moment(step.created_at) for step in steps),
        ),
        turns=turns,
        settled=settled(turns),
        problems=problems[:100],
    )


def _explicit(step: Step) -> bool:
    return step.source == "USER_EXPLICIT" or step.type == "USER_INPUT"


def _turns(
    transcript: Transcript, steps: list[Step], cwd: str, *, child: bool, brief: bool
) -> tuple[list[Turn], int, str]:
    turns: list[Turn] = []
    waiting: list[tuple[int, int]] = []
    calls: list[list[ToolCall]] = []
    injected = 0
    parent = ""
    wrapped = transcript.path.name == _LOGS[-1]
    for at, step in enumerate(steps):
        name = turn_id("gemini", f"{transcript.session_id}:{at if step.step_index is None else step.step_index}")
        if _explicit(step) or step.source == "SYSTEM":
            text = "" if child or not _explicit(step) else _typed(step.content or "")
            injected += not text
            if text:
                turns.append(_turn(step, name, len(turns), cwd, text))
                calls.append([])
                waiting = []
        elif step.type == "PLANNER_RESPONSE":
            given = [asked(one, brief=brief, wrapped=wrapped) for one in _called(step)]
            cwd = next((one.cwd for one in reversed(given) if one.cwd), cwd)
            parent = next((one.recipient for one in given if one.recipient), parent)
            waiting = [(len(turns), number) for number in range(len(given))]
            turns.append(_turn(step, name, len(turns), cwd, plain(cut(step.content or "")), child=child, brief=brief))
            calls.append([one.call for one in given])
        elif waiting:
            turn, number = waiting.pop(0)
            calls[turn][number] = answered(calls[turn][number], step.status or "", step.content or "", brief=brief)
    made = [
        msgspec.structs.replace(
            turn, tool_calls=tuple(ended(call) for call in own) if at + 1 < len(turns) else tuple(own)
        )
        for at, (turn, own) in enumerate(zip(turns, calls, strict=True))
    ]
    return made, injected, parent


def _called(step: Step) -> list[object]:
    found = part(step.tool_calls)
    return found if isinstance(found, list) else []


def _typed(content: str) -> str:
    text = outside(content, _TAGS)
    start = text.find(_REQUEST)
    if start >= 0:
        end = text.rfind(_REQUEST_END)
        text = text[start + len(_REQUEST) : end if end > start else len(text)]
    return plain(text.strip())


def _turn(
    step: Step, name: str, ordinal: int, cwd: str, text: str, *, child: bool = False, brief: bool = False
) -> Turn:
    person = _explicit(step)
    return Turn(
        id=name,
        ordinal=ordinal,
        role="user" if person else "assistant",
        kind="prompt" if person else "reply",
        text=text,
        time=moment(step.created_at),
        cwd=cwd,
        reasoning="" if person or brief else plain(cut(step.thinking or "")),
        tokens=NO_TOKENS if person else _tokens(step),
        sidechain=child,
    )


def _tokens(step: Step) -> Tokens:
    sent, cached, received = (
        number if number and 0 < number < 1 << 48 else 0
        for number in (step.input_tokens, step.cache_read_tokens, step.output_tokens)
    )
    return Tokens(input=max(0, sent - cached), output=received, cache_read=min(sent, cached))
