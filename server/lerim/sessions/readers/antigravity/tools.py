"""Parses Antigravity's tool calls: a result is the step that follows the call, and contains the exit code in words."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.engine import cut_blocks, keep_ends, parse_json_or_none, without_nul

_KINDS: dict[str, ToolKind] = {
    "run_command": "shell",
    "read_file": "read",
    "view_file": "read",
    "view_file_outline": "read",
    "view_code_item": "read",
    "edit_file": "edit",
    "replace_file_content": "edit",
    "multi_replace_file_content": "edit",
    "write_to_file": "write",
    "grep_search": "search",
    "find_by_name": "search",
    "codebase_search": "search",
    "list_dir": "search",
    "search_web": "web",
    "read_url_content": "web",
    "invoke_subagent": "agent",
    "browser_subagent": "agent",
    "ask_question": "ask",
}
_PATHS = ("Path", "AbsolutePath", "TargetFile", "File", "SearchPath", "SearchDirectory", "DirectoryPath")
_COMMANDS = ("CommandLine", "Query", "query", "Pattern", "Url", "Task", "Prompt")
_CODE = re.compile(r"ommand (?:exited|failed) with (?:exit )?code:? (-?\d{1,10})\b")
_HEAD = re.compile(r"(?:(?:Created|Completed) At: [^\n]{0,100}\n){1,2}")
_ANSWER = re.compile(r"^A(\d{1,3}): ?", re.MULTILINE)
_CHILD = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


class AntigravityCall(NamedTuple):
    """A call without a result yet, the folder it runs in, and the recipient of the message it sends ('' if none)."""

    call: ToolCall
    cwd: str
    recipient: str


def parse_antigravity_call(one: object, *, brief: bool, wrapped: bool) -> AntigravityCall:
    """Parses a call that a step requests; `brief` leaves out the text it writes, `wrapped` means that each argument is
    JSON inside a string."""
    call = one if isinstance(one, dict) else {}
    name = _text(call, "name")[:200]
    given = call.get("args")
    args = given if isinstance(given, dict) else {}
    if wrapped:
        args = {key: unwrap_argument(value) for key, value in args.items()}
    kind = _KINDS.get(name, "other")
    path = next((found for key in _PATHS if (found := _text(args, key))), "")
    return AntigravityCall(
        ToolCall(
            id=_text(call, "id"),
            name=name,
            kind=kind,
            command=next((found for key in _COMMANDS if (found := _text(args, key))), ""),
            description=_text(args, "toolAction") or _text(args, "Description") or _text(args, "Instruction"),
            paths=(path,) if path else (),
            edits=_edits(kind, path, args) if kind in ("edit", "write") and not brief else (),
            answers=_questions(args) if kind == "ask" else (),
        ),
        _text(args, "Cwd")[:4096],
        _text(args, "Recipient") if name == "send_message" else "",
    )


def unwrap_argument(value: object) -> object:
    """Decodes a string that contains a string, a list or an object as JSON; returns anything else as is."""
    if not isinstance(value, str) or not value.startswith(('"', "[", "{")):
        return value
    found = parse_json_or_none(msgspec.Raw(value.encode("utf-8", "replace")))
    return value if found is None else found


def attach_step_result(call: ToolCall, status: str, content: str, *, brief: bool) -> ToolCall:
    """Returns `call` with the result in the step that followed it; it stays pending while that step is still
    running."""
    text = without_nul(cut_blocks(content))
    head = _HEAD.match(text)
    text = text[head.end() :] if head else text
    if status in ("RUNNING", "PENDING", "GENERATING", "WAITING"):
        return replace(call, output=keep_ends(text)[0])
    found = _CODE.search(text[:2000]) if call.kind == "shell" else None
    code = int(found[1]) if found else None
    outcome: ToolStatus = "error" if code or status == "ERROR" else "ok"
    if status in ("CANCELED", "CANCELLED"):
        outcome = "interrupted"
    child = _CHILD.search(text[:4000]) if call.kind == "agent" else None
    output, left_out = ("", 0) if brief and outcome == "ok" and call.kind != "ask" else keep_ends(text)
    return replace(
        call,
        status=outcome,
        output=output,
        output_cut=left_out,
        exit_code=code,
        subagent=child[0] if child else "",
        answers=_chosen(call.answers, text),
    )


def close_antigravity_call(call: ToolCall) -> ToolCall:
    """Closes a call after which another turn began, because it gets no result any more. One that already has output
    continues in the background and counts as ok, any other as interrupted."""
    return replace(call, status="ok" if call.output else "interrupted") if call.status == "pending" else call


def _questions(args: dict[str, object]) -> tuple[QuestionAnswer, ...]:
    found = args.get("questions")
    asked = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return tuple(QuestionAnswer(_text(one, "question"), _options(one.get("options")), "") for one in asked)


def _options(found: object) -> tuple[str, ...]:
    return tuple(without_nul(one) for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def _chosen(answers: tuple[QuestionAnswer, ...], text: str) -> tuple[QuestionAnswer, ...]:
    """Returns the questions with their answers, which are on lines that begin with `A` and the number of the
    question."""
    pieces = _ANSWER.split(text) if answers else []
    said = {int(number): words.strip() for number, words in zip(pieces[1::2], pieces[2::2], strict=False)}
    return tuple(replace(one, answer=said.get(at, "")) for at, one in enumerate(answers, 1))


def _edits(kind: ToolKind, path: str, args: dict[str, object]) -> tuple[FileEdit, ...]:
    if kind == "write":
        return (FileEdit(path, "", _text(args, "CodeContent") or _text(args, "Content")),)
    chunks = args.get("ReplacementChunks")
    parts = [one for one in chunks if isinstance(one, dict)] if isinstance(chunks, list) else [args]
    return tuple(
        FileEdit(
            path,
            _text(one, "Target") or _text(one, "TargetContent"),
            _text(one, "Replacement") or _text(one, "ReplacementContent"),
        )
        for one in parts
    )


def _text(values: dict[str, object], name: str) -> str:
    found = values.get(name)
    return without_nul(found) if isinstance(found, str) else ""
