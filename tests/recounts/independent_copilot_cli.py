"""What a session of Copilot CLI holds, counted a second time: from the raw JSON, over the whole file at once.

Imports nothing of the product, so that the two can disagree.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

CODE = re.compile(r"<(?:exited|shellId: \S+ completed) with exit code (-?\d+)>\s*\Z")
NOT_TYPED = ("<skill-context", "<system_", "<current_datetime>", "<reminder>")


class Counts(NamedTuple):
    prompts: int
    tool_calls: int
    tool_errors: int
    denials: int
    tokens: tuple[int, int, int, int] | None


def records(path: Path) -> list[dict[str, Any]]:
    found = []
    for raw in path.read_bytes().decode("utf-8", "replace").split("\n"):
        if raw.strip():
            found.append(json.loads(raw))
    return found


def is_prompt(one: dict[str, Any]) -> bool:
    said = one["data"]
    if one["type"] != "user.message" or said.get("source") or one.get("agentId") or said.get("parentToolCallId"):
        return False
    return bool(said.get("content", "").strip()) and not said["content"].startswith(NOT_TYPED)


def failed(said: dict[str, Any]) -> bool:
    if not said["success"]:
        return True
    code = CODE.search(said.get("result", {}).get("content", ""))
    return code is not None and int(code[1]) != 0


def spent(found: list[dict[str, Any]]) -> tuple[int, int, int, int] | None:
    """What the session said when it was shut down, each time it was; nothing where it went on afterwards."""
    last = [one for one in found if one["type"] in ("session.shutdown", "assistant.message")][-1:]
    if not last or last[0]["type"] != "session.shutdown":
        return None
    ends = {}
    for at, one in enumerate(found):
        if one["type"] == "session.shutdown":
            ends[sum(before["type"] == "session.resume" for before in found[:at])] = one["data"]["modelMetrics"]
    total = [0, 0, 0, 0]
    for model in (model for metrics in ends.values() for model in metrics.values()):
        use = model["usage"]
        read, write = use.get("cacheReadTokens", 0), use.get("cacheWriteTokens", 0)
        for at, more in enumerate((use["inputTokens"] - read - write, use["outputTokens"], read, write)):
            total[at] += more
    return total[0], total[1], total[2], total[3]


def count(path: Path) -> Counts:
    found = records(path)
    calls = {one["data"]["toolCallId"] for one in found if one["type"] == "tool.execution_start"}
    for one in found:
        calls |= {asked["toolCallId"] for asked in one["data"].get("toolRequests") or []}
    denied = {
        one["data"]["toolCallId"]
        for one in found
        if one["type"] == "permission.completed" and one["data"]["result"]["kind"].startswith("denied")
    }
    ended = {one["data"]["toolCallId"]: one["data"] for one in found if one["type"] == "tool.execution_complete"}
    errors = sum(failed(said) for native, said in ended.items() if native not in denied)
    return Counts(sum(map(is_prompt, found)), len(calls), errors, len(denied), spent(found))
