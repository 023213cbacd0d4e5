"""What OpenCode's stores hold, counted a second time from the raw JSON and rows.

Imports nothing of the product, so that the two can disagree.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SHELL = "The following tool was executed by the user"
DENIED = ("The user rejected permission", "The user has specified a rule", "The user dismissed this question")


class Counts(NamedTuple):
    prompts: int
    tool_calls: int
    tool_errors: int
    denials: int
    tokens: tuple[int, int, int, int] | None


Session = dict[str, Any]
"""As `opencode export` writes it: {info, messages: [{info, parts}]}."""


def exported(path: Path) -> Session:
    session: Session = json.loads(path.read_text(encoding="utf-8"))
    return session


def in_database(path: Path) -> Iterator[Session]:
    db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    db.row_factory = sqlite3.Row
    for row in db.execute("SELECT * FROM session").fetchall():
        info = dict(row)
        info["parentID"] = info.get("parent_id")
        info["revert"] = json.loads(info["revert"]) if info.get("revert") else None
        messages = []
        for message in db.execute("SELECT id, data FROM message WHERE session_id = ?", (info["id"],)).fetchall():
            parts = db.execute("SELECT id, data FROM part WHERE message_id = ?", (message["id"],)).fetchall()
            whole = [{**json.loads(part["data"]), "id": part["id"]} for part in parts]
            messages.append({"info": {**json.loads(message["data"]), "id": message["id"]}, "parts": whole})
        yield {"info": info, "messages": messages}
    db.close()


def in_storage(folder: Path) -> Iterator[Session]:
    for file in sorted(folder.glob("session/*/*.json")):
        messages = []
        for said in folder.glob(f"message/{file.stem}/*.json"):
            parts = [
                {**json.loads(part.read_text(encoding="utf-8")), "id": part.stem}
                for part in folder.glob(f"part/{said.stem}/*.json")
            ]
            info = {**json.loads(said.read_text(encoding="utf-8")), "id": said.stem}
            messages.append({"info": info, "parts": parts})
        yield {"info": {**json.loads(file.read_text(encoding="utf-8")), "id": file.stem}, "messages": messages}


def fails(part: dict[str, Any]) -> bool:
    state = part["state"]
    if state["status"] == "error":
        return not str(state.get("error")).startswith(DENIED)
    return part["tool"] == "bash" and bool((state.get("metadata") or {}).get("exit"))


def count(session: Session) -> Counts:
    child = bool(session["info"].get("parentID"))
    undone = (session["info"].get("revert") or {}).get("messageID")
    prompts = calls = errors = denials = 0
    spent: list[tuple[int, int, int, int]] = []
    by_hand: set[str] = set()
    for message in sorted(session["messages"], key=lambda one: str(one["info"]["id"])):
        info, parts = message["info"], message["parts"]
        if info.get("tokens"):
            tokens = info["tokens"]
            cache = tokens.get("cache") or {}
            out = tokens["output"] + tokens.get("reasoning", 0)
            spent.append((tokens["input"], out, cache.get("read", 0), cache.get("write", 0)))
        if undone and info["id"] >= undone:
            continue
        if info["role"] == "user":
            texts = [part for part in parts if part["type"] == "text"]
            if [part["text"] for part in texts if part.get("synthetic")] == [SHELL]:
                by_hand.add(info["id"])
            typed = [
                one for one in texts if one["text"].strip() and not one.get("synthetic") and not one.get("ignored")
            ]
            prompts += not child and bool(typed or any(part["type"] == "file" for part in parts))
            continue
        if info.get("parentID") in by_hand:
            continue
        for part in parts:
            if part["type"] == "tool":
                calls += 1
                errors += fails(part)
                denials += part["state"]["status"] == "error" and not fails(part)
    total = tuple(sum(one[at] for one in spent) for at in range(4)) if spent else None
    return Counts(prompts, calls, errors, denials, total)  # type: ignore[arg-type]
