"""What a session of Gemini CLI or Antigravity holds, counted a second time: from the raw JSON, by the format alone.

Imports nothing of the product, so that the two can disagree.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

INJECTED = ("<session_context>", "<hook_context>", "<state_snapshot>")


class Counts(NamedTuple):
    prompts: int
    tool_calls: int
    tool_errors: int
    denials: int
    tokens: tuple[int, int, int]
    """What was sent uncached, what came back (thoughts too), what was read from the cache."""


def messages(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".json":
        found: list[dict[str, Any]] = json.loads(path.read_bytes())["messages"]
        return found
    kept: dict[str, dict[str, Any]] = {}
    for line in path.read_bytes().split(b"\n"):
        record = json.loads(line) if line.strip() else {}
        if "$rewindTo" in record:
            names = list(kept)
            for name in names[names.index(record["$rewindTo"]) :]:
                del kept[name]
        elif "id" in record:
            kept[record["id"]] = record
    return list(kept.values())


def typed(message: dict[str, Any]) -> bool:
    parts = message["content"]
    parts = [{"text": parts}] if isinstance(parts, str) else parts
    said = "".join(part.get("text", "") for part in parts).strip()
    return bool(said) and not said.startswith(INJECTED)


def output(call: dict[str, Any]) -> str:
    return json.dumps([part.get("functionResponse", {}).get("response") for part in call.get("result") or ()])


def failed(call: dict[str, Any]) -> bool:
    code = re.search(r"Exit Code: (\d+)", output(call))
    ended_badly = call["name"] == "run_shell_command" and code is not None and code[1] != "0"
    return call["status"] == "error" or ended_badly


def count(path: Path) -> Counts:
    found = messages(path)
    calls = [call for message in found for call in message.get("toolCalls") or ()]
    used = [message["tokens"] for message in found if message.get("tokens")]
    return Counts(
        prompts=sum(message["type"] == "user" and typed(message) for message in found),
        tool_calls=len(calls),
        tool_errors=sum(failed(call) for call in calls),
        denials=sum(call["status"] == "cancelled" and "denied" in output(call) for call in calls),
        tokens=(
            sum(one["input"] - one["cached"] + one.get("tool", 0) for one in used),
            sum(one["output"] + one.get("thoughts", 0) for one in used),
            sum(one["cached"] for one in used),
        ),
    )


def count_steps(path: Path) -> Counts:
    """The same of Antigravity's steps; the cache is part of what was sent."""
    steps = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    calls = [call for step in steps for call in step.get("tool_calls", ())]
    codes = [
        re.search(r"ommand exited with code (\d+)", step.get("content", ""))
        for step in steps
        if step["type"] == "GENERIC"
    ]
    return Counts(
        prompts=sum(step["source"] == "USER_EXPLICIT" and "<USER_REQUEST>" in step["content"] for step in steps),
        tool_calls=len(calls),
        tool_errors=sum(code is not None and code[1] != "0" for code in codes),
        denials=0,
        tokens=(
            sum(step.get("input_tokens", 0) - step.get("cache_read_tokens", 0) for step in steps),
            sum(step.get("output_tokens", 0) for step in steps),
            sum(step.get("cache_read_tokens", 0) for step in steps),
        ),
    )
