"""Sessions of Gemini CLI and of its successor Antigravity: finds and reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers.antigravity import store as antigravity_store
from lerim.sessions.readers.antigravity import turns as antigravity
from lerim.sessions.readers.engine import WholeReading
from lerim.sessions.readers.gemini import find_chats
from lerim.sessions.readers.gemini import turns as gemini


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Lists the sessions under `~/.gemini`: those of Gemini CLI, whose folders are matched against `folders`, and those
    of Antigravity."""
    contents = StoreContents()
    find_chats(root, folders, contents)
    antigravity_store.find_conversations(root, contents)
    return contents


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one session. Iterating it raises TranscriptError if its file cannot be read, UnfinishedError
    while it is being written."""
    is_log = antigravity_store.is_antigravity_log(transcript.path)
    load = antigravity.load_conversation if is_log else gemini.load_session
    return WholeReading(transcript, partial(load, brief=brief), resume)
