"""Parses outputs of Codex's tools: the text without its header, the exit code in any of its formats, and how the call
ended."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from lerim.sessions.model import ToolKind, ToolStatus
from lerim.sessions.readers.engine import content_texts, parse_fields, parse_json_or_none

_HEAD_LENGTH = 2000
_TAIL_LENGTH = 200
_CODE = re.compile(r"Exit code: (-?\d{1,10})\b")
_EXITED = re.compile(r"Process exited with code (-?\d{1,10})\b")
_RUNNING = re.compile(r"(?:Process running with session ID|Script running with cell ID) (\S{1,100})")
_SANDBOX_CODE = re.compile(
    r"(?:failed in sandbox|sandbox |execution error|failed to execute)[^\n]{0,300}?exit code: (-?\d{1,10})"
)
_PRINTED = re.compile(r"\b(?:stdout|aggregated_output): ")
_OUTPUT = "Output:\n"

_FAILED_STARTS = (
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
_DENIED_STARTS = ("exec command rejected by user", "patch rejected by user", "rejected by user", "user rejected")
_INTERRUPTED_STARTS = ("aborted by user", "aborted", "user cancelled", "cancelled by user", 'err: "user cancelled')
_REFUSED_BY_PERSON = re.compile(r'(?:Rejected\(\\?"rejected by user\\?"\)|\Aerr: "user rejected MCP tool call)')
"""Matches a person's refusal inside the error message it caused."""
_ABORTED = re.compile(r"Wall time: [^\n]{1,40}\n(?:aborted|user cancelled)")

_SUCCESS_START = re.compile(
    rb'"(?:Exit code: 0\\n'
    rb"|(?:Chunk ID: [^\\]{1,40}\\n)?(?:Wall time: [^\\]{1,40}\\n)?Process exited with code 0\\n)"
)
_SUCCESS_END = re.compile(rb'\\"metadata\\":\{\\"exit_code\\":0,\\"duration_seconds\\":[\d.]{1,20}\}\}"\Z')


def is_success_output(raw: msgspec.Raw) -> bool:
    """Checks whether a raw output begins or ends like that of a successful command."""
    data = memoryview(raw)
    return bool(
        _SUCCESS_START.match(data)
        or (bytes(data[:12]) == b'"{\\"output\\":' and _SUCCESS_END.search(bytes(data[-100:])))
    )


class CodexOutput(NamedTuple):
    """How a call ended. `running` names a process that is still running; `status` is None if the text does not say."""

    text: str
    status: ToolStatus | None
    exit_code: int | None = None
    running: str = ""


def parse_codex_output(raw: msgspec.Raw) -> CodexOutput:
    """Parses the output of a call in any format: text, content parts, an object, or JSON in a text."""
    value = parse_json_or_none(raw)
    if isinstance(value, dict):
        text = value.get("content", value.get("output"))
        output = parse_output_text(text if isinstance(text, str) else "")
        failed = value.get("success") is False and output.status is None
        return output._replace(status="error") if failed else output
    return parse_output_text(value if isinstance(value, str) else "\n".join(content_texts(raw)))


def parse_output_text(text: str) -> CodexOutput:
    """Parses the text of an output."""
    if text.startswith("{"):
        parsed = _parse_object(text)
        if parsed is not None:
            return parsed
    head = text[:_HEAD_LENGTH]
    if head.startswith(_INTERRUPTED_STARTS) or _ABORTED.match(head):
        return CodexOutput(text, "interrupted")
    if head.startswith(_DENIED_STARTS) or (
        head.startswith(_FAILED_STARTS) and _REFUSED_BY_PERSON.search(text[:100] + text[-_TAIL_LENGTH:])
    ):
        return CodexOutput(text, "denied")
    header = head.partition(_OUTPUT)[0] if _OUTPUT in head else head
    if code_match := _CODE.match(header) or (_EXITED.search(header) if _has_header(header) else None):
        return _make_ended(_strip_header(text), int(code_match[1]))
    if _has_header(header):
        running = _RUNNING.search(header)
        return CodexOutput(_strip_header(text), None, None, running[1] if running else "")
    if sandbox_match := _SANDBOX_CODE.match(head):
        printed = _PRINTED.search(head)
        return _make_ended(text[printed.end() :] if printed else text, int(sandbox_match[1]))
    return CodexOutput(text, "error" if head.startswith(_FAILED_STARTS) else None)


def _has_header(head: str) -> bool:
    return head.startswith(("Chunk ID: ", "Wall time: ", "Process ", "Script running", "Script completed"))


def _strip_header(text: str) -> str:
    at = text.find(_OUTPUT, 0, _HEAD_LENGTH)
    return text[at + len(_OUTPUT) :] if at >= 0 else ""


def _parse_object(text: str) -> CodexOutput | None:
    """Parses `{"output": …, "metadata": {"exit_code": …}}`, or an object with the exit code next to the output."""
    value = parse_fields(text)
    metadata = value.get("metadata")
    code = (metadata if isinstance(metadata, dict) else value).get("exit_code")
    if type(code) is not int or abs(code) >= 1 << 32:
        return None
    printed = value.get("output")
    return _make_ended(printed if isinstance(printed, str) else "", code)


def _make_ended(text: str, code: int) -> CodexOutput:
    return CodexOutput(text, "error" if code else "ok", code)


def resolve_call_status(output: CodexOutput, kind: ToolKind, code: int | None) -> tuple[ToolStatus, int | None]:
    """Returns the status and exit code of a call of this kind with this output; `code` is the exit code from another
    record."""
    exit_code = output.exit_code if output.exit_code is not None else code
    status: ToolStatus = "error" if exit_code else "ok"
    if output.status is not None and output.status != "ok":
        status = output.status
    return status, exit_code if kind == "shell" else None
