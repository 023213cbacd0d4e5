"""Parses outputs of Codex's tools: the text without its header, the exit code in any of its formats, and how the call
ended."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from lerim.sessions.model import ToolKind, ToolStatus
from lerim.sessions.readers.engine import JSON_NULL, content_texts, decode_plain

_HEAD = 2000
_TAIL = 200
_CODE = re.compile(r"Exit code: (-?\d{1,10})\b")
_EXITED = re.compile(r"Process exited with code (-?\d{1,10})\b")
_RUNNING = re.compile(r"(?:Process running with session ID|Script running with cell ID) (\S{1,100})")
_OUTSIDE = re.compile(
    r"(?:failed in sandbox|sandbox |execution error|failed to execute)[^\n]{0,300}?exit code: (-?\d{1,10})"
)
_PRINTED = re.compile(r"\b(?:stdout|aggregated_output): ")
_OUTPUT = "Output:\n"

_FAILED = (
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "failed to parse",
    "failed in sandbox",
    "sandbox error",
    "sandbox denied",
    "execution error",
    "unsupported call",
    "unsupported custom tool call",
    "tool call error",
    "Script failed",
    "patch rejected",
    "This action was rejected",
    "Command blocked by",
    "Tool call blocked by",
    'err: "',
)
_DENIED = ("exec command rejected by user", "patch rejected by user", "rejected by user", "user rejected")
_STOPPED = ("aborted by user", "aborted", "user cancelled", "cancelled by user", 'err: "user cancelled')
_REFUSED = re.compile(r'(?:Rejected\(\\?"rejected by user\\?"\)|\Aerr: "user rejected MCP tool call)')
"""Matches a person's refusal inside the error message it caused."""
_ABORTED = re.compile(r"Wall time: [^\n]{1,40}\n(?:aborted|user cancelled)")

_WELL = re.compile(
    rb'"(?:Exit code: 0\\n'
    rb"|(?:Chunk ID: [^\\]{1,40}\\n)?(?:Wall time: [^\\]{1,40}\\n)?Process exited with code 0\\n)"
)
_WELL_BEHIND = re.compile(rb'\\"metadata\\":\{\\"exit_code\\":0,\\"duration_seconds\\":[\d.]{1,20}\}\}"\Z')


def is_success_output(raw: msgspec.Raw) -> bool:
    """Checks whether a raw output begins or ends like that of a successful command."""
    data = memoryview(raw)
    return bool(
        _WELL.match(data) or (bytes(data[:12]) == b'"{\\"output\\":' and _WELL_BEHIND.search(bytes(data[-100:])))
    )


class CodexOutput(NamedTuple):
    """How a call ended. `running` names a process that is still running; `status` is None if the text does not say."""

    text: str
    status: ToolStatus | None
    exit_code: int | None = None
    running: str = ""


def parse_codex_output(raw: msgspec.Raw) -> CodexOutput:
    """Parses the output of a call in any format: text, content parts, an object, or JSON in a text."""
    value = decode_plain(raw) if raw is not JSON_NULL else None
    if isinstance(value, dict):
        text = value.get("content", value.get("output"))
        told = _told(text if isinstance(text, str) else "")
        failed = value.get("success") is False and told.status is None
        return told._replace(status="error") if failed else told
    if isinstance(value, list):
        return _told("\n".join(content_texts(raw)))
    return _told(value if isinstance(value, str) else "")


def _told(text: str) -> CodexOutput:
    if text.startswith("{"):
        found = _object(text)
        if found is not None:
            return found
    head = text[:_HEAD]
    if head.startswith(_STOPPED) or _ABORTED.match(head):
        return CodexOutput(text, "interrupted")
    if head.startswith(_DENIED) or (head.startswith(_FAILED) and _REFUSED.search(text[:100] + text[-_TAIL:])):
        return CodexOutput(text, "denied")
    framed = head.partition(_OUTPUT)[0] if _OUTPUT in head else head
    if found_code := _CODE.match(framed) or (_EXITED.search(framed) if _is_framed(framed) else None):
        return _ended(_body(text), int(found_code[1]))
    if _is_framed(framed):
        running = _RUNNING.search(framed)
        return CodexOutput(_body(text), None, None, running[1] if running else "")
    if outside := _OUTSIDE.match(head):
        printed = _PRINTED.search(head)
        return _ended(text[printed.end() :] if printed else text, int(outside[1]))
    return CodexOutput(text, "error" if head.startswith(_FAILED) else None)


def _is_framed(head: str) -> bool:
    return head.startswith(("Chunk ID: ", "Wall time: ", "Process ", "Script running", "Script completed"))


def _body(text: str) -> str:
    """Returns what a command printed, without the header lines."""
    at = text.find(_OUTPUT, 0, _HEAD)
    return text[at + len(_OUTPUT) :] if at >= 0 else ""


def _object(text: str) -> CodexOutput | None:
    """Parses `{"output": …, "metadata": {"exit_code": …}}`, or an object with the exit code next to the output."""
    value = decode_plain(text.encode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        return None
    about = value.get("metadata")
    code = about.get("exit_code") if isinstance(about, dict) else value.get("exit_code")
    if type(code) is not int or abs(code) >= 1 << 32:
        return None
    printed = value.get("output")
    return _ended(printed if isinstance(printed, str) else "", code)


def _ended(text: str, code: int) -> CodexOutput:
    return CodexOutput(text, "error" if code else "ok", code)


def resolve_call_status(told: CodexOutput, kind: ToolKind, code: int | None) -> tuple[ToolStatus, int | None]:
    """Returns the status and exit code of a call of this kind with this output; `code` is the exit code from another
    record."""
    exit_code = told.exit_code if told.exit_code is not None else code
    if told.status is not None and told.status != "ok":
        return told.status, exit_code if kind == "shell" else None
    failed = exit_code not in (None, 0)
    return "error" if failed else "ok", exit_code if kind == "shell" else None
