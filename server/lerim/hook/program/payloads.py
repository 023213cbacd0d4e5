"""Parses the payload that an agent passes to its hooks into one event: which agent runs us, what happened, and to which
files.

Each agent uses other names. The agent whose settings contain the hook is not always the one that runs it, because
agents also run one another's hooks. So the payload decides which agent runs us, and the environment only if the
payload does not say so, because the environment is inherited.
"""

import os
import re

EVENT_NAMES = {
    "sessionstart": "start",
    "userpromptsubmit": "prompt",
    "userpromptsubmitted": "prompt",
    "beforeagent": "prompt",
    "beforesubmitprompt": "prompt",
    "pretooluse": "before",
    "beforetool": "before",
    "posttooluse": "after",
    "aftertool": "after",
    "posttoolusefailure": "failure",
}
AGENTS = ("claude", "codex", "copilot", "gemini", "opencode", "vscode", "cursor")
_READ_TOOLS = frozenset(("read", "view", "read_file", "readfile", "notebookread", "read_many_files", "open"))
_EDIT_TOOL_LIST = """
    edit write multiedit notebookedit write_file replace create apply_patch str_replace_editor create_file
    replace_string_in_file multi_replace_string_in_file insert_edit_into_file edit_file search_replace
"""
_EDIT_TOOLS = frozenset(_EDIT_TOOL_LIST.split())
_SHELL_TOOLS = frozenset(
    ("bash", "shell", "powershell", "run_shell_command", "run_in_terminal", "local_shell", "exec_command")
)
_PATH_KEYS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "filename")
_PATCH_PATH = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_EXIT_CODE = re.compile(r"exit(?:ed)?[ _]?(?:with )?(?:exit )?code\W{0,4}(\d{1,10})", re.IGNORECASE)
_LOOKS_FAILED = re.compile(
    r"\b(?:error|fatal|failed|failure|exception|traceback|not found|no such file|permission denied|cannot)\b",
    re.IGNORECASE,
)
_INJECTED = ("hook_context", "system-reminder", "system_reminder", "lerim-memories", "user_info")
_SHELL_READERS = frozenset(("cat", "sed", "head", "tail", "nl", "less", "bat", "rg", "grep", "awk", "wc"))
_SEPARATOR = re.compile(r"\|\||&&|[;|\n]")
MAX_PATHS, MAX_OUTPUT = 20, 4_000
Json = dict[str, object]


class Event:
    """One event. `name` is start, prompt, read, edit (before it happens), failure or "" for any other; `hook_name`
    is the agent's name for it. `id` is the agent's own id of the prompt or call, "" if it has none."""

    __slots__ = ("agent", "command", "cwd", "hook_name", "id", "name", "output", "paths", "prompt", "session", "source")

    def __init__(self, agent: str, name: str, hook_name: str, session: str, cwd: str) -> None:
        self.agent = agent
        self.name = name
        self.hook_name = hook_name
        self.session = session
        self.cwd = cwd
        self.id = ""
        self.source = ""
        self.prompt = ""
        self.command = ""
        self.output = ""
        self.paths: list[str] = []


def find_caller(payload: Json, environ: dict[str, str], named: str) -> str:
    """Returns the agent that runs us. `named` is the one in the command line."""
    transcript = _text(payload, "transcript_path").replace("\\", "/")
    name = _hook_name(payload).lower()
    if named == "opencode" and "event" in payload:
        return "opencode"
    if "cursor_version" in payload:
        return "cursor"
    if "turn_id" in payload or "/.codex/sessions/" in transcript:
        return "codex"
    if "sessionId" in payload:
        return "copilot"
    if name in ("beforeagent", "beforetool", "aftertool") or "/.gemini/" in transcript:
        return "gemini"
    if "/.claude/projects/" in transcript:
        return "claude"
    if environ.get("COPILOT_CLI") == "1":
        return "copilot"
    if environ.get("GEMINI_SESSION_ID"):
        return "gemini"
    if environ.get("CLAUDECODE") == "1":
        return "claude"
    if "timestamp" in payload and "hook_event_name" in payload:
        return "vscode"
    return named if named in AGENTS else "claude"


def parse_event(payload: Json, environ: dict[str, str], named: str) -> Event:
    """Returns the event that a payload describes."""
    agent = find_caller(payload, environ, named)
    session = next((text for key in _SESSION_KEYS if (text := _text(payload, key))), "")
    hook_name = _hook_name(payload)
    event = Event(agent, EVENT_NAMES.get(hook_name.lower(), ""), hook_name, session, _working_folder(payload))
    event.source = _text(payload, "source")
    event.id = next((text for key in _ID_KEYS if (text := _text(payload, key))), "")
    if agent == "opencode":
        return _parse_own_event(event, payload)
    if event.name == "prompt":
        event.id = event.id or _text(payload, "turn_id")
        event.prompt = cut_injected(_text(payload, "prompt"))
    elif event.name in ("before", "after", "failure"):
        _parse_tool_call(event, payload)
    return event


def cut_injected(text: str) -> str:
    """Returns a prompt without the text that other hooks put into it before us."""
    for tag in _INJECTED:
        opening, closing = f"<{tag}>", f"</{tag}>"
        while (start := text.find(opening)) >= 0:
            end = text.find(closing, start)
            text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text.strip()


_SESSION_KEYS = ("session_id", "sessionId", "conversation_id", "session")
_ID_KEYS = ("prompt_id", "tool_use_id", "tool_call_id", "toolCallId", "generation_id")


def _parse_own_event(event: Event, payload: Json) -> Event:
    """Parses the event of OpenCode. It has no hooks; its plugin asks in a form of our own (docs/PROTOCOL.md)."""
    name = _text(payload, "event")
    event.name = event.hook_name = name if name in ("start", "prompt", "read", "failure", "edit") else ""
    event.id = _text(payload, "id")
    event.prompt = cut_injected(_text(payload, "prompt"))
    event.paths = [path for path in (_text(payload, "path"),) if path]
    event.command, event.output = _text(payload, "command"), _text(payload, "output")[-MAX_OUTPUT:]
    return event


def _parse_tool_call(event: Event, payload: Json) -> None:
    tool = (_text(payload, "tool_name") or _text(payload, "toolName")).lower()
    arguments = _arguments(payload)
    output = _output(payload)
    was_before, has_failed = event.name == "before", event.name == "failure"
    event.name = ""
    event.id = event.id or f"{tool} {str(arguments)[:2_000]}"
    if tool in _SHELL_TOOLS:
        event.command = _command(arguments)
        event.output = output[-MAX_OUTPUT:]
        patched = find_patch_paths(event.command)
        if was_before:
            event.paths = patched
            event.name = "edit" if patched else ""
        elif has_failed or has_command_failed(output, event.agent):
            event.name = "failure"
        elif not patched:
            event.paths = find_read_paths(event.command)
            event.name = "read" if event.paths else ""
    elif tool in _EDIT_TOOLS:
        event.paths = find_edited_paths(arguments)
        # after an edit there is no answer, but the memories of these files may have to be checked again
        event.name = "edit" if was_before else "read" if not has_failed else ""
    elif tool in _READ_TOOLS and not was_before and not has_failed:
        event.paths = find_edited_paths(arguments)
        event.name = "read"


def find_edited_paths(arguments: Json | str) -> list[str]:
    """Returns the paths in the arguments of a tool: from its fields, from several edits, or from a patch."""
    if isinstance(arguments, str):
        return find_patch_paths(arguments)
    paths = [path for key in _PATH_KEYS if (path := _text(arguments, key))]
    for key in ("replacements", "edits", "files", "paths"):
        several = arguments.get(key)
        for one in several[:MAX_PATHS] if isinstance(several, list) else ():
            if isinstance(one, str):
                paths.append(one)
            elif isinstance(one, dict):
                paths += [path for name in _PATH_KEYS if (path := _text(one, name))]
    for key in ("command", "input", "patch"):
        paths += find_patch_paths(_text(arguments, key))
    return list(dict.fromkeys(paths))[:MAX_PATHS]


def find_patch_paths(text: str) -> list[str]:
    """Returns the files that a patch in the format of Codex adds, updates, deletes or moves."""
    if "*** " not in text:
        return []
    found = [(one or other).strip() for one, other in _PATCH_PATH.findall(text)]
    return list(dict.fromkeys(filter(None, found)))[:MAX_PATHS]


def find_read_paths(command: str) -> list[str]:
    """Returns the arguments that a command such as `cat` or `sed -n` may read; a leading `cd` is followed."""
    paths: list[str] = []
    folder = ""
    for part in _SEPARATOR.split(command[:MAX_OUTPUT]):
        words = [word.strip("'\"") for word in part.split()]
        if words[:1] == ["cd"] and len(words) == 2:
            folder = os.path.join(folder, words[1])
        elif words and words[0].rpartition("/")[2] in _SHELL_READERS:
            paths += [os.path.join(folder, word) for word in words[1:] if word and not word.startswith(("-", "<", ">"))]
    return list(dict.fromkeys(paths))[:MAX_PATHS]


def has_command_failed(output: str, agent: str) -> bool:
    """Returns whether a command failed, as far as its output shows. Claude Code and OpenCode report failures
    themselves; Codex and VS Code give no exit code, so words such as `error` in the output have to decide."""
    if agent in ("claude", "opencode"):
        return False
    codes = _EXIT_CODE.findall(output[-MAX_OUTPUT:])
    if codes:
        return int(codes[-1]) != 0
    return agent in ("codex", "vscode", "cursor") and _LOOKS_FAILED.search(output[-MAX_OUTPUT:]) is not None


def _hook_name(payload: Json) -> str:
    """Returns the event's name. Copilot's own events have no name and are distinguished by their fields."""
    name = _text(payload, "hook_event_name") or _text(payload, "hookEventName")
    if name:
        return name[:40]
    if "toolName" in payload:
        if "toolResult" in payload:
            result = payload["toolResult"]
            failed = isinstance(result, dict) and result.get("resultType") == "failure"
            return "PostToolUseFailure" if failed else "PostToolUse"
        return "PostToolUseFailure" if "error" in payload else "PreToolUse"
    if "prompt" in payload and "sessionId" in payload:
        return "UserPromptSubmit"
    return "SessionStart" if "source" in payload or "initialPrompt" in payload else ""


def _arguments(payload: Json) -> Json | str:
    for key in ("tool_input", "toolArgs"):
        found = payload.get(key)
        if isinstance(found, dict):
            return found
        if isinstance(found, str):
            if found.startswith("{"):
                import json

                try:
                    parsed = json.loads(found)
                except ValueError:
                    return found
                return parsed if isinstance(parsed, dict) else found
            return found
    return {}


def _command(arguments: Json | str) -> str:
    if isinstance(arguments, str):
        return arguments
    found = arguments.get("command")
    if isinstance(found, list):
        return " ".join(str(word) for word in found)
    return found if isinstance(found, str) else ""


def _output(payload: Json) -> str:
    """Returns the output of a tool, wherever the agent puts it: the texts of the fields that have some, one after
    the other."""
    texts: list[str] = []
    for key in ("error", "tool_response", "toolResult", "tool_output"):
        _collect_texts(payload.get(key), texts, 0)
    return "\n".join(texts)


def _collect_texts(value: object, texts: list[str], depth: int) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict) and depth < 4:
        for key, one in value.items():
            if key in ("exitCode", "exit_code") and isinstance(one, int):
                texts.append(f"exit code {one}")
            elif key != "resultType":
                _collect_texts(one, texts, depth + 1)
    elif isinstance(value, list) and depth < 4:
        for one in value[:50]:
            _collect_texts(one, texts, depth + 1)


def _working_folder(payload: Json) -> str:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    for folder in (_text(payload, "cwd"), first):
        if isinstance(folder, str) and os.path.isabs(folder):
            return folder
    return os.getcwd()


def _text(payload: Json, key: str) -> str:
    found = payload.get(key)
    return found if isinstance(found, str) else ""
