"""GitHub Copilot's chats in VS Code and editors made from it: where they lie, and what is in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from lerim.errors import Problem
from lerim.sessions.broken_json import encoded, part, shaped
from lerim.sessions.copilot_chat_folders import folder_of, opened
from lerim.sessions.copilot_chat_log import state
from lerim.sessions.copilot_chat_records import Chat, Repository, Request
from lerim.sessions.copilot_chat_turns import moment, turns_of, typed, usage
from lerim.sessions.model import NO_TOKENS, Found, Tokens, Transcript, Turn
from lerim.sessions.regular import buffered, unreadable
from lerim.sessions.session_files import entries, is_folder, sessions
from lerim.sessions.totals import settled, summed
from lerim.sessions.values import plain
from lerim.sessions.whole import Loaded, WholeReading

PROBLEMS = 100
"""Problems told one by one; what comes after is only counted."""

_PEEK = 256 * 1024
_FOLDER = re.compile(rb'"workingDirectory"\s{0,10}:\s{0,10}("(?:[^"\\]|\\.){1,4096}")')

FOLDERLESS = ("emptyWindowChatSessions", "transferredChatSessions")
"""Where chats lie that belong to no folder."""


def find(root: Path, folders: Sequence[str]) -> Found:
    """The chats under an editor's `User` folder; `folders` are not needed, since each workspace names its own."""
    problems: list[Problem] = []
    found: list[Transcript] = []
    for storage in entries(root / "workspaceStorage", problems):
        if not is_folder(storage):
            continue
        files = entries(Path(storage.path) / "chatSessions", problems)
        if files:
            found += sessions("copilot", files, problems, cwd=opened(Path(storage.path)))
    for name in FOLDERLESS:
        found += sessions("copilot", entries(root / "globalStorage" / name, problems), problems)
    return Found(found, [], problems)


def probe(transcript: Transcript) -> str:
    """The folder that was open in the chat's window; of an empty one, the folder its beginning names, or ''."""
    if transcript.cwd:
        return transcript.cwd
    try:
        with buffered(transcript.path) as file:
            found = _FOLDER.search(file.read(_PEEK))
    except OSError:
        return ""
    told = part(msgspec.Raw(found[1])) if found else ""
    return folder_of(told) if isinstance(told, str) else ""


def read(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """A reading of one chat. Iterating it raises TranscriptError where its file cannot be read, UnfinishedError while
    it is being written."""
    return WholeReading(transcript, partial(_load, brief=brief), resume)


def _load(transcript: Transcript, *, brief: bool) -> Loaded:
    path = transcript.path
    try:
        told, faults = state(path)
    except OSError as error:
        raise unreadable(path, error) from error
    asked, repository = told.pop("requests", None), told.get("repoData")
    chat = shaped(encoded({name: one for name, one in told.items() if isinstance(one, str | int | float)}), Chat)
    native = plain(chat.session_id)[:200] or transcript.session_id
    requests: list[Request] = []
    for number, one in enumerate(asked if isinstance(asked, list) else ()):
        try:
            requests.append(shaped(encoded(one), Request))
        except ValueError:
            if one is not None:  # the place of a request that was lost is told already
                faults.append((f"@{number}", "A request of this chat could not be read and was skipped"))
    cwd = transcript.cwd or folder_of(plain(chat.working_directory))
    branch = plain(shaped(encoded(repository), Repository).local_branch) if isinstance(repository, dict) else ""
    turns: list[Turn] = []
    for number, request in enumerate(requests):
        last = number + 1 == len(requests)
        turns += turns_of(request, native, len(turns), cwd, last=last, brief=brief)
    return Loaded(
        session=summed(
            transcript,
            turns,
            id=native,
            title=plain(chat.custom_title) or plain(chat.computed_title),
            version=next((version for one in reversed(requests) if (version := _version(one))), ""),
            injected=sum(not typed(one) for one in requests),
            api_errors=sum(_failed(one) for one in requests),
            tokens=_spent(requests),
            branches=(branch,) if branch else (),
            times=(moment(chat.creation_date), moment(chat.last_message_date)),
        ),
        turns=turns,
        settled=settled(turns),
        problems=_problems(path, faults),
    )


def _spent(requests: list[Request]) -> Tokens | None:
    told = [used for one in requests if (used := usage(one)) is not None]
    return sum(told, start=NO_TOKENS) if told else None


def _version(request: Request) -> str:
    return plain(request.agent.extension_version)[:50] if request.agent else ""


def _failed(request: Request) -> bool:
    failure = (request.result.error_details if request.result else None) or request.response_error_details
    cancelled = bool(request.is_canceled) or (request.model_state is not None and request.model_state.value == 2)
    return failure is not None and failure.code != "canceled" and not cancelled


def _problems(path: Path, faults: list[tuple[str, str]]) -> list[Problem]:
    problems = [Problem("bad-line", f"{path}{where}", message) for where, message in faults[:PROBLEMS]]
    if len(faults) > PROBLEMS:
        problems.append(
            Problem("many", str(path), f"{len(faults) - PROBLEMS} more records of this chat could not be read")
        )
    return problems
