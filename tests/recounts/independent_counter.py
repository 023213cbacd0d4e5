"""What a Claude Code transcript holds, counted a second time: from the raw JSON, in two passes over the whole file.

Imports nothing of the product, so that the two can disagree.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

NOT_TYPED = (
    "<command-name>",
    "<command-message>",
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<bash-input>",
    "<bash-stdout>",
    "<task-notification>",
    "<system-reminder>",
    "Caveat:",
    "[Request interrupted",
    "This session is being continued",
    "Operation stopped by hook",
)

USAGE = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class Counts(NamedTuple):
    prompts: int
    tool_calls: int
    tool_errors: int
    denials: int
    tokens: tuple[int, int, int, int]


def records(path: Path) -> list[dict[str, Any]]:
    """Every record once; two objects on one line are two records."""
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    decoder = json.JSONDecoder()
    for raw in path.read_bytes().decode("utf-8", "replace").split("\n"):
        line = raw.strip()
        while line:
            record, end = decoder.raw_decode(line)
            line = line[end:].lstrip()
            if record.get("uuid") in seen:
                continue
            if record.get("uuid"):
                seen.add(record["uuid"])
            found.append(record)
    return found


def blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    content = record.get("message", {}).get("content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def is_prompt(record: dict[str, Any]) -> bool:
    if record["type"] != "user" or record.get("isMeta") or record.get("isCompactSummary") or record.get("isSidechain"):
        return False
    if record.get("origin", {}).get("kind", "human") != "human":
        return False
    if any(block["type"] == "tool_result" for block in blocks(record)):
        return False
    said = [block["text"].strip() for block in blocks(record) if block["type"] == "text"]
    said = [text for text in said if text and not text.startswith(NOT_TYPED)]
    return bool(said) or any(block["type"] in ("image", "document") for block in blocks(record))


def attached_prompts(found: list[dict[str, Any]]) -> list[str]:
    attached = [record["attachment"] for record in found if record["type"] == "attachment"]
    return [
        one["prompt"]
        for one in attached
        if one["type"] == "queued_command" and one.get("origin", {}).get("kind", "human") == "human"
        if not str(one["prompt"]).startswith(NOT_TYPED)
    ]


def lost_prompts(found: list[dict[str, Any]], elsewhere: list[str]) -> int:
    """Prompts that reached the model from the queue and stand nowhere but in the queue's log."""
    lost, queue = 0, []
    for record in found:
        if record["type"] != "queue-operation":
            continue
        if record["operation"] == "enqueue":
            queue.append(record.get("content", ""))
        elif record["operation"] == "popAll":
            queue.clear()
        elif queue:
            text = record.get("content", queue[0])
            queue.remove(text)
            typed = not text.startswith(("{", "/", *NOT_TYPED))
            lost += record["operation"] == "remove" and typed and text not in elsewhere
    return lost


def is_denial(record: dict[str, Any], block: dict[str, Any]) -> bool:
    kind = record.get("toolDenialKind")
    if kind:
        return kind not in ("interrupted", "cancelled")
    denied = "The user doesn't want to proceed with this tool use"
    return bool(block.get("is_error")) and str(block.get("content")).startswith(denied)


def count(path: Path) -> Counts:
    found = records(path)
    usage: dict[str, list[int]] = {}
    calls: set[str] = set()
    unnamed = errors = denials = 0
    for record in found:
        if record["type"] == "assistant":
            message = record["message"]
            if record.get("isApiErrorMessage"):
                continue
            if message["model"] != "<synthetic>":
                most = usage.setdefault(message["id"], [0, 0, 0, 0])
                for at, name in enumerate(USAGE):
                    most[at] = max(most[at], message["usage"].get(name) or 0)
            for block in blocks(record):
                if block["type"] == "tool_use":
                    unnamed += block["id"] == "REDACTED"
                    calls.add(block["id"])
        elif record["type"] == "user":
            for block in blocks(record):
                if block["type"] == "tool_result":
                    denied = is_denial(record, block)
                    denials += denied
                    stopped = str(block.get("content")).startswith("[Request interrupted")
                    errors += bool(block.get("is_error")) and not denied and not stopped
    attached = attached_prompts(found)
    typed = [str(record["message"]["content"]) for record in found if is_prompt(record)]
    return Counts(
        prompts=len(typed) + len(attached) + lost_prompts(found, typed + attached),
        tool_calls=len(calls - {"REDACTED"}) + unnamed,
        tool_errors=errors,
        denials=denials,
        tokens=tuple(sum(most[at] for most in usage.values()) for at in range(4)),  # type: ignore[arg-type]
    )
