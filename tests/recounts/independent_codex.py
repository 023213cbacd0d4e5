"""What a Codex rollout holds, counted a second time: from the raw JSON, over the whole file at once.

Imports nothing of the product, so that the two can disagree.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

NOT_TYPED = (
    "<environment_context>",
    "<environment>",
    "<environment-change>",
    "# AGENTS.md",
    "<user_instructions>",
    "<turn_aborted>",
    "<skill>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<apps_instructions>",
    "<recommended_plugins>",
    "<multi_agent_mode>",
    "<collaboration_mode>",
    "<app-context>",
    "<task-notification>",
    "<heartbeat>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<user_action>",
    "<INSTRUCTIONS>",
    "The following is the Codex agent history",
)
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
FAILED = ("apply_patch verification failed", "exec_command failed", "write_stdin failed", "failed to parse function")
CODES = (
    re.compile(r"\AExit code: (-?\d+)"),
    re.compile(r"\A(?:[^\n]*\n){0,4}?Process exited with code (-?\d+)"),
    re.compile(r"\A(?:failed in sandbox|sandbox \w+|execution error)[^\n]{0,300}?exit code: (-?\d+)"),
)


class Counts(NamedTuple):
    prompts: int
    tool_calls: int
    tool_errors: int
    tokens: tuple[int, int, int, int] | None


def records(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """`(type of the line, payload)`; of a bare or flattened line the line itself is the payload."""
    found = []
    for raw in path.read_bytes().decode("utf-8", "replace").split("\n"):
        try:
            line = json.loads(raw) if raw.strip() else None
        except ValueError:
            line = None
        if isinstance(line, dict):
            payload = line.get("payload", line)
            found.append((str(line.get("type")), payload if isinstance(payload, dict) else {}))
    return found


def said(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or [] if isinstance(part, dict) and isinstance(part.get("text"), str)]


def typed(text: str) -> bool:
    return bool(text.strip()) and not text.strip().startswith(NOT_TYPED)


def prompts(found: list[tuple[str, dict[str, Any]]]) -> int:
    events = [one for kind, one in found if kind == "event_msg" and one.get("type") == "user_message"]
    if events:
        return sum(typed(str(one["message"])) for one in events if one.get("kind", "plain") == "plain")
    items = [one for _, one in found if one.get("type") == "message" and one.get("role") == "user"]
    return sum(any(typed(text) for text in said(one.get("content"))) for one in items)


def failed(output: Any) -> bool:
    text = output if isinstance(output, str) else "\n".join(said(output))
    if text.startswith("{"):
        try:
            value = json.loads(text)
            code = value.get("exit_code", value.get("metadata", {}).get("exit_code"))
            return code not in (None, 0)
        except (ValueError, AttributeError):
            return False
    if text.startswith(FAILED):
        return True
    matches = [match for match in (code.search(text) for code in CODES) if match]
    return bool(matches) and int(matches[0][1]) != 0


def spent(found: list[tuple[str, dict[str, Any]]]) -> tuple[int, int, int, int] | None:
    """From the running total: its last value, and what stood before each time it began anew."""
    totals = [one["info"]["total_token_usage"] for _, one in found if one.get("type") == "token_count" and one["info"]]
    if not totals:
        return None
    kept = [now for now, after in itertools.pairwise(totals) if after["total_tokens"] < now["total_tokens"]]
    result = [0, 0, 0, 0]
    for one in (*kept, totals[-1]):
        cached, written = one.get("cached_input_tokens", 0), one.get("cache_write_input_tokens", 0)
        for at, more in enumerate((one["input_tokens"] - cached - written, one["output_tokens"], cached, written)):
            result[at] += more
    return result[0], result[1], result[2], result[3]


def count(path: Path) -> Counts:
    found = records(path)
    source = next((one.get("source") for kind, one in found if kind == "session_meta"), None)
    child = isinstance(source, dict) and "subagent" in source
    calls = {one.get("call_id") or one.get("id") for _, one in found if one.get("type") in CALLS}
    outputs = {one["call_id"]: one.get("output") for _, one in found if one.get("type") in OUTPUTS}
    errors = sum(failed(output) for output in outputs.values())
    return Counts(0 if child else prompts(found), len(calls), errors, spent(found))
