"""What Cursor's stores hold, counted a second time: from the raw rows, by the letter of what is known of the format.

Imports nothing of the product, so that the two can disagree.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

CHATS = "workbench.panel.aichat.view.aichat.chatdata"
COMPOSERS = "composer.composerData"
TERMINALS = ("run_terminal_command_v2", "run_terminal_cmd", "run_terminal_command", "Shell")
WRAPPERS = ("<user_info>", "<external_links>", "<attached_files>", "<system_reminder>", "<additional_data>", "<rules>")


class Counts(NamedTuple):
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    denials: int = 0
    tokens: tuple[int, int] | None = None


def rows(path: Path, table: str) -> dict[str, Any]:
    """Every row that holds JSON, by its key."""
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    db.text_factory = bytes
    found: dict[str, Any] = {}
    try:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return {}
        for key, value in db.execute(f"SELECT key, value FROM {table}"):
            try:
                found[bytes(key).decode()] = json.loads(bytes(value or b"null").decode("utf-8", "replace"))
            except ValueError:
                continue
    finally:
        db.close()
    return found


def composers(path: Path) -> dict[str, Counts]:
    """The chats of a global database, by their id."""
    stored = rows(path, "cursorDiskKV")
    found: dict[str, Counts] = {}
    for key, composer in stored.items():
        if not key.startswith("composerData:") or not isinstance(composer, dict):
            continue
        cid = key.removeprefix("composerData:")
        own = {name.split(":", 2)[2]: row for name, row in stored.items() if name.startswith(f"bubbleId:{cid}:")}
        named = {row.get("bubbleId"): row for row in own.values() if isinstance(row, dict)}
        order = [head.get("bubbleId") for head in composer.get("fullConversationHeadersOnly") or []]
        bubbles = composer.get("conversation") or [own.get(one) or named.get(one) for one in order]
        found[cid] = tally(one for one in bubbles if isinstance(one, dict))
        if composer.get("subagentInfo"):
            found[cid] = found[cid]._replace(prompts=0)
    return found


def of_workspace(path: Path) -> dict[str, Counts]:
    """The chats and composers that stand in a workspace's own database, by their id."""
    stored = rows(path, "ItemTable")
    found: dict[str, Counts] = {}
    for tab in (stored.get(CHATS) or {}).get("tabs") or []:
        said = [{"type": 1 if one["type"] == "user" else 2, **without_type(one)} for one in tab["bubbles"]]
        found[tab["tabId"]] = tally(said)
    for composer in (stored.get(COMPOSERS) or {}).get("allComposers") or []:
        if composer.get("conversation"):
            found[composer["composerId"]] = tally(composer["conversation"])
    return found


def without_type(bubble: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in bubble.items() if key != "type"}


def tally(bubbles: Iterable[dict[str, Any]]) -> Counts:
    prompts = calls = errors = denials = 0
    used = [0, 0]
    for bubble in bubbles:
        counted = bubble.get("tokenCount") or {}
        used[0] += counted.get("inputTokens") or 0
        used[1] += counted.get("outputTokens") or 0
        if bubble.get("type") == 1:
            prompts += bool(is_typed(bubble.get("text") or "") or bubble.get("images")) and not simulated(bubble)
        tool = bubble.get("toolFormerData")
        if bubble.get("type") == 2 and isinstance(tool, dict) and tool.get("name"):
            calls += 1
            ended = how(tool)
            errors += ended == "error"
            denials += ended == "denied"
    return Counts(prompts, calls, errors, denials, (used[0], used[1]) if any(used) else None)


def simulated(bubble: dict[str, Any]) -> bool:
    return bool(bubble.get("isSimulatedMsg"))


def is_typed(text: str) -> bool:
    text = text.strip()
    if "<user_query>" in text and text.startswith((*WRAPPERS, "<user_query>")):
        return bool(text.split("<user_query>", 1)[1].split("</user_query>", 1)[0].strip())
    return bool(text) and not text.startswith(WRAPPERS)


def how(tool: dict[str, Any]) -> str:
    try:
        result = json.loads(tool.get("result") or "{}")
    except ValueError:
        result = {}
    result = result if isinstance(result, dict) else {}
    if result.get("rejected") or tool.get("userDecision") == "rejected":
        return "denied"
    if tool.get("status") == "error":
        return "error"
    code = result.get("exitCodeV2", result.get("exitCode"))
    return "error" if tool.get("name") in TERMINALS and code not in (None, 0) else str(tool.get("status"))


def of_cli(path: Path) -> Counts:
    """A chat of the command line: messages in the order of the tree its root names."""
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        meta = json.loads(bytes.fromhex(db.execute("SELECT value FROM meta WHERE key = '0'").fetchone()[0]))
        blobs = dict(db.execute("SELECT id, data FROM blobs"))
    finally:
        db.close()
    return messages(walk(blobs, meta["latestRootBlobId"]))


def walk(blobs: dict[str, bytes], node: str) -> list[dict[str, Any]]:
    data = blobs.get(node, b"")
    if data.startswith(b"{"):
        return [json.loads(data)]
    found: list[dict[str, Any]] = []
    at = 0
    while data[at : at + 2] in (b"\x0a\x20", b"\x12\x20"):
        found += walk(blobs, data[at + 2 : at + 34].hex())
        at += 34
    return found


def messages(records: Iterable[dict[str, Any]]) -> Counts:
    prompts = calls = errors = 0
    for record in records:
        content = record.get("content", (record.get("message") or {}).get("content"))
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        if record.get("role") == "user":
            prompts += any(is_typed(part.get("text") or "") for part in parts if part.get("type") == "text")
        for part in parts:
            calls += part.get("type") in ("tool-call", "tool_use")
            errors += part.get("type") == "tool-result" and bool(part.get("isError"))
    return Counts(prompts, calls, errors)
