"""Renders answers in the forms that agents understand, and the headings over the memories in them.

The lines of memories were made harmless when the index was made (`memory/serving/agent_text.py`); here they are only
put between our marks. Nothing of the agent's input is repeated.
"""

import json

TAG = "lerim-memories"
START_HEAD = "Reviewed memories of this repository; each was decided or learned in earlier work on it."
HEADS = {
    "decided": "Decided:",
    "open": "Open questions:",
    "drifted": "The code has changed since these were verified; they may no longer hold:",
    "prompt": "Reviewed memories of this repository about what was asked:",
    "read": "Reviewed memories of this repository about this file:",
    "failure": "What this repository's memories say about such a failure:",
}
DENY_REASON = (
    "Before this edit: there are reviewed memories about this file that this session has not seen. "
    "The edit goes through when it is made again."
)
_EVENT_NAMES = {
    "sessionstart": "SessionStart",
    "userpromptsubmitted": "UserPromptSubmit",
    "userpromptsubmit": "UserPromptSubmit",
    "pretooluse": "PreToolUse",
    "posttooluse": "PostToolUse",
    "posttoolusefailure": "PostToolUseFailure",
}


def fence(lines: list[str]) -> str:
    """Returns lines between our marks."""
    return "\n".join((f"<{TAG}>", *lines, f"</{TAG}>"))


def render_context(agent: str, hook_name: str, text: str) -> str:
    """Returns the answer that puts a text before the model."""
    if agent == "opencode":
        return json.dumps({"text": text})
    own: dict[str, object] = {"hookEventName": hook_name, "additionalContext": text}
    if agent == "copilot":
        # its own events read the first, its events in the form of Claude Code the second, some of those only the first
        own["hookEventName"] = _EVENT_NAMES.get(hook_name.lower(), hook_name)
        return json.dumps({"additionalContext": text, "hookSpecificOutput": own})
    if agent == "cursor":
        return json.dumps({"additional_context": text, "hookSpecificOutput": own})
    return json.dumps({"hookSpecificOutput": own})


def render_denial(agent: str, hook_name: str, text: str) -> str:
    """Returns the answer that refuses a tool call, with the reason for the model."""
    if agent == "opencode":
        return json.dumps({"deny": text})
    if agent == "gemini":
        return json.dumps({"decision": "deny", "reason": text})
    if agent == "cursor":
        return json.dumps({"permission": "deny", "agent_message": text})
    denial: dict[str, object] = {"permissionDecision": "deny", "permissionDecisionReason": text}
    own = {"hookEventName": _EVENT_NAMES.get(hook_name.lower(), hook_name), **denial}
    return json.dumps({**denial, "hookSpecificOutput": own} if agent == "copilot" else {"hookSpecificOutput": own})
