"""The minimal loops that indexing is compared with: decode the lines (typed), take text and commands, fill the columns.

They fill the same three FTS5 columns as the catalog (own text, tools, words of the neighbours) and do nothing else: no
turns, no detection of copies, no results, no resuming, and one transaction for everything.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from lerim.paths import Home
from lerim.sessions.tables.turn_words import NEIGHBOUR_CHARACTERS, NEIGHBOUR_TURNS
from lerim.words import STOP_WORDS
from reading import BareRecord

Said = Iterator[tuple[str, str]]
"""Text and tools of each message."""


class Asked(msgspec.Struct):
    command: str = ""
    file_path: str = ""


class Part(msgspec.Struct):
    type: str = ""
    text: str = ""


class Usage(msgspec.Struct):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0


class Info(msgspec.Struct):
    total_token_usage: Usage | None = None


class Payload(msgspec.Struct):
    type: str = ""
    role: str = ""
    content: str | list[Part] | None = None
    name: str = ""
    arguments: str = ""
    input: str = ""
    call_id: str = ""
    output: msgspec.Raw = msgspec.Raw()
    message: str = ""
    info: Info | None = None
    cwd: str = ""
    model: str = ""


class Line(msgspec.Struct):
    timestamp: str = ""
    type: str = ""
    payload: Payload | None = None


class Command(msgspec.Struct):
    cmd: str = ""
    command: str | list[str] = ""


INJECTED = ("<", "# AGENTS.md")
FILES = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.*)", re.MULTILINE)
_asked = msgspec.json.Decoder(Asked).decode
_record = msgspec.json.Decoder(BareRecord).decode
_line = msgspec.json.Decoder(Line).decode
_command = msgspec.json.Decoder(Command).decode


def claude(path: Path) -> Said:
    with path.open("rb") as file:
        for raw in file:
            try:
                line = _record(raw)
            except msgspec.MsgspecError:
                continue
            if line.message is None:
                continue
            content = line.message.content
            blocks = [] if isinstance(content, str) else content
            said = [content] if isinstance(content, str) else [block.text for block in blocks if block.text]
            yield "\n".join(said), "\n".join(_input(block.input) for block in blocks if block.type == "tool_use")


def _input(raw: msgspec.Raw) -> str:
    try:
        one = _asked(raw)
    except msgspec.MsgspecError:
        return ""
    return one.command or one.file_path


def codex(path: Path) -> Said:
    with path.open("rb") as file:
        for raw in file:
            try:
                said = _line(raw).payload
            except msgspec.MsgspecError:
                continue
            if said is None:
                continue
            if said.type == "message" and said.role in ("user", "assistant"):
                content = said.content
                text = content if isinstance(content, str) else "\n".join(part.text for part in content or ())
                if not text.startswith(INJECTED):
                    yield text, ""
            elif said.type == "function_call":
                yield "", _command_of(said.arguments)
            elif said.type == "custom_tool_call":
                yield "", _without_patch(said.input)


def _command_of(arguments: str) -> str:
    try:
        one = _command(arguments)
    except msgspec.MsgspecError:
        return ""
    command = one.cmd or one.command
    return _without_patch(command if isinstance(command, str) else " ".join(command))


def _without_patch(text: str) -> str:
    """Of a patch only the files: what is written to them is not searched for."""
    return "\n".join(FILES.findall(text)) if "*** Begin Patch" in text else text


LOOPS: dict[str, Callable[[Path], Said]] = {"claude": claude, "codex": codex}


def index(platform: str, folder: Path, home: Home) -> None:
    """Fills an index from all transcripts below `folder`."""
    home.catalog.parent.mkdir(parents=True)
    db = sqlite3.connect(home.catalog)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    tokenizer = "porter unicode61 remove_diacritics 2"
    db.execute(f"CREATE VIRTUAL TABLE words USING fts5 (text, tools, near, tokenize = '{tokenizer}')")
    for path in sorted(folder.rglob("*.jsonl")):
        rows = [(text, tools) for text, tools in LOOPS[platform](path) if text or tools]
        db.executemany("INSERT INTO words (text, tools, near) VALUES (?, ?, ?)", _with_near(rows))
    db.commit()
    db.close()


def _with_near(rows: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    heads = [set(text[:NEIGHBOUR_CHARACTERS].lower().split()) - STOP_WORDS for text, _ in rows]
    for at, (text, tools) in enumerate(rows):
        around = heads[max(0, at - NEIGHBOUR_TURNS) : at] + heads[at + 1 : at + 1 + NEIGHBOUR_TURNS] if text else []
        yield text, tools, " ".join(set().union(*around))
