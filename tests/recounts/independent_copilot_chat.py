"""What a chat of GitHub Copilot in VS Code holds, counted a second time: from the raw JSON, by the format alone.

Imports nothing of the product, so that the two can disagree.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple


class Counts(NamedTuple):
    prompts: int
    tool_calls: int
    tool_errors: int
    denials: int
    tokens: tuple[int, int] | None
    """Sent and received; None where no request tells."""


def state(path: Path) -> Any:
    if path.suffix == ".json":
        return json.loads(path.read_bytes())
    now: Any = None
    for line in path.read_bytes().split(b"\n"):
        if not line.strip():
            continue
        entry = json.loads(line)
        if entry["kind"] == 0:
            now = entry["v"]
            continue
        *way, last = entry["k"]
        holder = now
        for step in way:
            holder = holder[step]
        if entry["kind"] == 1:
            holder[last] = entry["v"]
        elif entry["kind"] == 2:
            kept = holder[last][: entry["i"]] if "i" in entry else holder.get(last, [])
            holder[last] = kept + entry.get("v", [])
        else:
            del holder[last]
    return now


def results(request: dict[str, Any]) -> list[str]:
    metadata = request.get("result", {}).get("metadata", {})
    return [json.dumps(one) for one in metadata.get("toolCallResults", {}).values()]


def count(path: Path) -> Counts:
    requests = state(path)["requests"]
    calls = errors = denials = 0
    for request in requests:
        rounds = request.get("result", {}).get("metadata", {}).get("toolCallRounds", [])
        asked = sum(len(one["toolCalls"]) for one in rounds)
        shown = [part for part in request["response"] if part.get("kind") == "toolInvocationSerialized"]
        calls += max(asked, len(shown))
        errors += sum(
            part.get("toolSpecificData", {}).get("terminalCommandState", {}).get("exitCode", 0) != 0 for part in shown
        )
        errors += sum(bool(re.search("ERROR while calling tool", one)) for one in results(request))
        denials += sum(part.get("isConfirmed") in (False, {"type": 0}, {"type": 5}) for part in shown)
    used = [request["result"]["usage"] for request in requests if request.get("result", {}).get("usage")]
    return Counts(
        prompts=sum(bool(request["message"]["text"].strip()) for request in requests),
        tool_calls=calls,
        tool_errors=errors,
        denials=denials,
        tokens=(sum(one["promptTokens"] for one in used), sum(one["completionTokens"] for one in used))
        if used
        else None,
    )
