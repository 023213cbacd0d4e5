"""Sessions of Gemini CLI and of its successor Antigravity, which are below the same folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lerim.sessions.model import Readable, StoreContents, Transcript
from lerim.sessions.readers.antigravity import store as antigravity
from lerim.sessions.readers.gemini import find_session_folder
from lerim.sessions.readers.gemini import store as gemini


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Lists the sessions of both under `~/.gemini`."""
    contents, conversations = gemini.scan_root(root, folders), antigravity.scan_root(root, folders)
    contents.transcripts.extend(conversations.transcripts)
    contents.problems.extend(conversations.problems)
    return contents


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """Returns a reading of one session."""
    if antigravity.is_antigravity_log(transcript.path):
        return antigravity.open_session(transcript, resume, brief=brief)
    return gemini.open_session(transcript, resume, brief=brief)


def find_folder(transcript: Transcript) -> str | None:
    """Returns the working folder of a session of Gemini CLI, "" if the beginning of its files does not name it; None
    for Antigravity."""
    return None if antigravity.is_antigravity_log(transcript.path) else find_session_folder(transcript)
