"""Tool calls of Copilot's chat in VS Code: as the model requested them, as the chat shows them, and their results."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.copilot_chat.records import CallDetails, ChatPart, RequestedCall, markdown_text
from lerim.sessions.readers.engine import (
    JSON_NULL,
    cut_blocks,
    keep_ends,
    parse_json,
    parse_json_or_none,
    parse_patch,
    without_nul,
)

_KINDS: dict[str, ToolKind] = {
    "runinterminal": "shell",
    "readfile": "read",
    "readnotebookcelloutput": "read",
    "listdir": "search",
    "listdirectory": "search",
    "filesearch": "search",
    "findfiles": "search",
    "grepsearch": "search",
    "findtextinfiles": "search",
    "semanticsearch": "search",
    "searchcodebase": "search",
    "listcodeusages": "search",
    "searchworkspacesymbols": "search",
    "createfile": "write",
    "replacestring": "edit",
    "replacestringinfile": "edit",
    "multireplacestring": "edit",
    "multireplacestringinfile": "edit",
    "insertedit": "edit",
    "inserteditintofile": "edit",
    "applypatch": "edit",
    "editnotebook": "edit",
    "editnotebookfile": "edit",
    "editfile": "edit",
    "editfiles": "edit",
    "fetchwebpage": "web",
    "githubrepo": "web",
    "runsubagent": "agent",
    "executeprompt": "agent",
    "searchsubagent": "agent",
    "executionsubagent": "agent",
    "askquestions": "ask",
}
_ERROR = "ERROR while calling tool"
_CANCELLED = "The user cancelled the tool call."
_CODE = re.compile(r"ommand exited with (?:exit )?code:? (-?\d{1,10})\b|[Ee]xit code: (-?\d{1,10})\b")
_CODE_AT_ENDS = 400
_LINK = re.compile(r"\[[^\]\n]{0,500}\]\(file://([^)\n]{1,2000})\)")
_DENIED = (0, 5)
"""The values for denied and skipped."""


def chat_tool_kind(name: str) -> ToolKind:
    """Returns the kind of a tool, from its name in any spelling."""
    bare = name.removeprefix("copilot_").removeprefix("vscode_").removesuffix("_internal").replace("_", "").lower()
    return _KINDS.get(bare, "other")


def build_chat_call(
    shown: ChatPart | None, asked: RequestedCall | None, brought: str | None, *, over: bool, brief: bool
) -> ToolCall:
    """Builds a tool call as far as it is known. `brought` is None while there is no result; `over` means that none will
    come."""
    name = without_nul(asked.name if asked else "") or without_nul(shown.tool_id if shown else "")
    specific = (shown.tool_specific_data if shown else None) or CallDetails()
    given = _given(asked) or _detailed(shown)
    kind: ToolKind = "shell" if specific.kind == "terminal" else chat_tool_kind(name)
    path = _text(given, "filePath") or _text(given, "path") or _text(given, "dirPath") or _linked(shown)
    edits = _edits(kind, path, given) if kind in ("edit", "write") else ()
    paths = dict.fromkeys(one for one in (path, *(edit.path for edit in edits)) if one)
    opened = ToolCall(
        id=without_nul(asked.id if asked else "") or without_nul(shown.tool_call_id if shown else ""),
        name=name[:200],
        kind=kind,
        command=_command(specific) or _first(given, "command", "query", "pattern", "url") or _urls(given),
        description=_first(given, "explanation", "description", "goal") or without_nul(specific.description),
        paths=tuple(paths),
        edits=() if brief else edits,
        answers=_questions(given) if kind == "ask" else (),
    )
    return _closed(opened, shown, specific, brought, over=over, brief=brief)


def build_edit_call(path: str, edits: msgspec.Raw, *, brief: bool) -> ToolCall:
    """Builds a tool call for changes to a file that no tool requested; the text before them is not recorded."""
    found = parse_json_or_none(edits)
    texts = [
        one["text"]
        for group in (found if isinstance(found, list) else ())
        for one in (group if isinstance(group, list) else [group])
        if isinstance(one, dict) and isinstance(one.get("text"), str)
    ]
    new = without_nul("\n".join(texts))
    return ToolCall(
        id="",
        name="textEditGroup",
        kind="edit",
        status="ok",
        paths=(path,),
        edits=() if brief else (FileEdit(path, "", new),),
    )


def build_question_call(shown: ChatPart, *, over: bool) -> ToolCall:
    """Builds a tool call for questions to the person that no tool requested."""
    questions = parse_json_or_none(shown.questions)
    data = parse_json_or_none(shown.data)
    given = data if isinstance(data, dict) else {}
    answers = tuple(replace(_question(one), answer=_said(given.get(_text(one, "id")))) for one in _objects(questions))
    answered = any(one.answer for one in answers)
    status: ToolStatus = "ok" if answered else "interrupted" if over else "pending"
    return ToolCall(id="", name="questionCarousel", kind="ask", status=status, answers=answers)


def _given(asked: RequestedCall | None) -> dict[str, object]:
    return _arguments(asked.arguments) if asked is not None and asked.arguments else {}


def _detailed(shown: ChatPart | None) -> dict[str, object]:
    """Returns the arguments from the details of a shown call, the only place where a cancelled request keeps them."""
    found = parse_json_or_none(shown.result_details) if shown is not None else None
    told = found.get("input") if isinstance(found, dict) else None
    return _arguments(told) if isinstance(told, str) else {}


def _arguments(text: str) -> dict[str, object]:
    try:
        found = parse_json(text.encode("utf-8", "replace"))
    except ValueError:
        return {}
    return {key: one for key, one in found.items() if isinstance(key, str)} if isinstance(found, dict) else {}


def _text(given: dict[str, object], name: str) -> str:
    found = given.get(name)
    return without_nul(found) if isinstance(found, str) else ""


def _first(given: dict[str, object], *names: str) -> str:
    return next((found for name in names if (found := _text(given, name))), "")


def _urls(given: dict[str, object]) -> str:
    urls = given.get("urls")
    return without_nul(" ".join(one for one in urls if isinstance(one, str))) if isinstance(urls, list) else ""


def _command(specific: CallDetails) -> str:
    line = specific.command_line
    if line is None:
        return without_nul(specific.command)
    return without_nul(line.user_edited) or without_nul(line.tool_edited) or without_nul(line.original)


def _linked(shown: ChatPart | None) -> str:
    """Returns the file that the displayed message of a call links to."""
    if shown is None:
        return ""
    found = _LINK.search(markdown_text(shown.invocation_message)[:4000])
    return without_nul(found[1].partition("#")[0]) if found else ""


def _objects(found: object) -> list[dict[str, object]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _edits(kind: ToolKind, path: str, given: dict[str, object]) -> tuple[FileEdit, ...]:
    if kind == "write":
        return (FileEdit(path, "", _text(given, "content")),)
    if patch := _text(given, "input"):
        return parse_patch(patch).edits
    if several := _objects(given.get("replacements")):
        return tuple(
            FileEdit(_text(one, "filePath") or path, _text(one, "oldString"), _text(one, "newString"))
            for one in several
        )
    new = _first(given, "newString", "code", "newCode")
    return (FileEdit(path, _text(given, "oldString"), new),) if new or _text(given, "oldString") else ()


def _questions(given: dict[str, object]) -> tuple[QuestionAnswer, ...]:
    return tuple(_question(one) for one in _objects(given.get("questions")))


def _question(one: dict[str, object]) -> QuestionAnswer:
    offered = _objects(one.get("options"))
    described = tuple(_text(option, "description") for option in offered)
    labels = tuple(_text(option, "label") for option in offered)
    question = _first(one, "question", "title", "header")
    return QuestionAnswer(question, labels, "", described if any(described) else ())


def _said(found: object) -> str:
    """Returns an answer in any of its formats: a text, several, or an object with the selected and the typed answer."""
    if not isinstance(found, dict):
        return _named(found)
    picked = _named(found.get("selected") or found.get("selectedValues") or found.get("selectedValue"))
    typed = _named(found.get("freeText") or found.get("freeformValue"))
    return "\n".join(one for one in (picked, typed) if one)


def _named(found: object) -> str:
    if isinstance(found, list):
        return ", ".join(without_nul(one) for one in found if isinstance(one, str))
    return without_nul(found) if isinstance(found, str) else ""


def _closed(
    call: ToolCall, shown: ChatPart | None, specific: CallDetails, brought: str | None, *, over: bool, brief: bool
) -> ToolCall:
    state = specific.terminal_command_state
    code = state.exit_code if state else None
    text = brought if brought is not None else _failure(shown) or _details(shown, specific)
    text = without_nul(cut_blocks(text))
    if code is None and call.kind == "shell":
        code = _told(text)
    status = _status(shown, brought, text, over=over)
    if code and status == "ok":
        status = "error"
    answers = _answered(call, text)
    output, left_out = ("", 0) if brief and status == "ok" and call.kind != "ask" else keep_ends(text)
    return replace(call, status=status, output=output, output_cut=left_out, exit_code=code, answers=answers)


def _status(shown: ChatPart | None, brought: str | None, text: str, *, over: bool) -> ToolStatus:
    if shown is not None and _refused(shown.is_confirmed):
        return "denied"
    if text.startswith(_ERROR) or (shown is not None and _failed(shown)):
        return "error"
    if text.startswith(_CANCELLED):
        return "interrupted"
    if brought is not None or (shown is not None and shown.is_complete and _began(shown)):
        return "ok"
    return "interrupted" if over else "pending"


def _refused(confirmed: msgspec.Raw) -> bool:
    found = parse_json_or_none(confirmed)
    return found is False or (isinstance(found, dict) and found.get("type") in _DENIED)


def _failed(shown: ChatPart) -> bool:
    found = parse_json_or_none(shown.result_details)
    said = parse_json_or_none(shown.result_error)
    return (
        said is True
        or bool(isinstance(said, str) and said)
        or (isinstance(found, dict) and found.get("isError") is True)
    )


def _failure(shown: ChatPart | None) -> str:
    said = parse_json_or_none(shown.result_error) if shown is not None else None
    return said if isinstance(said, str) else ""


def _began(shown: ChatPart) -> bool:
    """Checks whether a call was allowed to run. A call that waits for permission is marked complete too, but has no
    other data."""
    return parse_json_or_none(shown.is_confirmed) is not None or shown.result_details != JSON_NULL


def _details(shown: ChatPart | None, specific: CallDetails) -> str:
    if specific.terminal_command_output is not None:
        return specific.terminal_command_output.text or ""
    found = parse_json_or_none(shown.result_details) if shown else None
    outputs = found.get("output") if isinstance(found, dict) else None
    texts = [_text(one, "value") for one in _objects(outputs) if one.get("isText", True)]
    return "\n".join(texts)


def _told(text: str) -> int | None:
    found = _CODE.search(text[:_CODE_AT_ENDS]) or _CODE.search(text[-_CODE_AT_ENDS:])
    return int(found[1] or found[2]) if found else None


def _answered(call: ToolCall, text: str) -> tuple[QuestionAnswer, ...]:
    if call.kind != "ask" or not call.answers:
        return call.answers
    try:
        found = parse_json(text.encode("utf-8", "replace"))
    except ValueError:
        return call.answers
    answers = found.get("answers") if isinstance(found, dict) else None
    if not isinstance(answers, dict):
        return call.answers
    told = list(answers.values())
    return tuple(
        replace(one, answer=_said(answers.get(one.question, told[at] if at < len(told) else None)))
        for at, one in enumerate(call.answers)
    )
