"""GitHub Copilot's chats in VS Code and editors derived from it: finds and reads them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from lerim.errors import Problem
from lerim.sessions.model import NO_TOKENS, StoreContents, Transcript, Turn
from lerim.sessions.readers.copilot_chat.log import load_chat_state
from lerim.sessions.readers.copilot_chat.records import ChatRequest
from lerim.sessions.readers.copilot_chat.turns import build_request_turns, request_tokens
from lerim.sessions.readers.engine import (
    LoadedSession,
    WholeReading,
    collect_sessions,
    encode_json,
    find_object,
    find_text,
    find_workspace_folder,
    list_folder,
    list_subfolders,
    milliseconds_to_time,
    parse_object,
    sum_session,
    vscode_uri_to_path,
)

FOLDERLESS = ("emptyWindowChatSessions", "transferredChatSessions")
"""The folders with chats that belong to no workspace."""


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Lists the chats under an editor's `User` folder; `folders` is unused, since each workspace names its own
    folder."""
    contents = StoreContents()
    for storage in list_subfolders(root / "workspaceStorage", contents.problems):
        if files := list_folder(storage / "chatSessions", contents.problems):
            collect_sessions(contents, "copilot", files, cwd=find_workspace_folder(storage))
    for name in FOLDERLESS:
        collect_sessions(contents, "copilot", list_folder(root / "globalStorage" / name, contents.problems))
    return contents


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one chat. Iterating it raises TranscriptError if its file cannot be read, UnfinishedError
    while it is being written."""
    return WholeReading(transcript, partial(_load_chat, brief=brief), resume)


def _load_chat(transcript: Transcript, *, brief: bool) -> LoadedSession:
    path = transcript.path
    state, problems = load_chat_state(path)
    request_records, repository = state.pop("requests", None), find_object(state, "repoData")
    session_id = find_text(state, "sessionId")[:200] or transcript.session_id
    requests: list[ChatRequest] = []
    for number, record in enumerate(request_records if isinstance(request_records, list) else ()):
        try:
            requests.append(parse_object(encode_json(record), ChatRequest))
        except ValueError:
            if record is not None:  # None marks a lost request, which is already reported
                what = "A request of this chat could not be read and was skipped"
                problems.append(Problem("bad-line", f"{path}@{number}", what))
    cwd = transcript.cwd or vscode_uri_to_path(find_text(state, "workingDirectory"))
    branch = find_text(repository, "localBranch")
    turns: list[Turn] = []
    for number, request in enumerate(requests):
        is_last = number + 1 == len(requests)
        turns += build_request_turns(request, session_id, len(turns), cwd, is_last=is_last, brief=brief)
    counts = [tokens for request in requests if (tokens := request_tokens(request)) is not None]
    return LoadedSession(
        session=sum_session(
            transcript,
            turns,
            id=session_id,
            title=find_text(state, "customTitle", "computedTitle"),
            tokens=sum(counts, start=NO_TOKENS) if counts else None,
            branches=(branch,) if branch else (),
            times=(_parse_time(state.get("creationDate")), _parse_time(state.get("lastMessageDate"))),
        ),
        turns=turns,
        problems=problems,
    )


def _parse_time(value: object) -> datetime | None:
    return milliseconds_to_time(value) if isinstance(value, int | float) else None
