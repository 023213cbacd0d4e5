"""Tool calls of Copilot's chat in VS Code: as the model requested them, as the chat shows them, and their results."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.copilot_chat.records import ChatPart, RequestedCall, markdown_text
from lerim.sessions.readers.engine import (
    JSON_NULL,
    ToolTable,
    close_call,
    cut_blocks,
    find_object,
    find_text,
    join_texts,
    kinds_by_name,
    list_objects,
    list_texts,
    parse_fields,
    parse_json_or_none,
    without_nul,
)

CallDetails = dict[str, object]
"""The details of a shown call, which depend on its kind."""

_QUESTION_NAMES = ("question", "title", "header")
_TOOLS = ToolTable(
    kinds=kinds_by_name(
        {
            "shell": "runinterminal",
            "read": "readfile readnotebookcelloutput",
            "search": "listdir listdirectory filesearch findfiles grepsearch findtextinfiles semanticsearch"
            " searchcodebase listcodeusages searchworkspacesymbols",
            "write": "createfile",
            "edit": "replacestring replacestringinfile multireplacestring multireplacestringinfile insertedit"
            " inserteditintofile applypatch editnotebook editnotebookfile editfile editfiles",
            "web": "fetchwebpage githubrepo",
            "agent": "runsubagent executeprompt searchsubagent executionsubagent",
            "ask": "askquestions",
        }
    ),
    command=("command", "query", "pattern", "url"),
    path=("filePath", "path", "dirPath"),
    description=("explanation", "description", "goal"),
    question=_QUESTION_NAMES,
    patch=("input",),
    replacements="replacements",
    old=("oldString",),
    new=("newString", "code", "newCode"),
)
_ERROR_START = "ERROR while calling tool"
_CANCELLED_START = "The user cancelled the tool call."
_EXIT_CODE = re.compile(r"ommand exited with (?:exit )?code:? (-?\d{1,10})\b|[Ee]xit code: (-?\d{1,10})\b")
_CODE_AT_ENDS = 400
_FILE_LINK = re.compile(r"\[[^\]\n]{0,500}\]\(file://([^)\n]{1,2000})\)")
_DENIED_VALUES = (0, 5)
"""The values for denied and skipped."""


def chat_tool_kind(name: str) -> ToolKind:
    """Returns the kind of a tool, from its name in any spelling."""
    bare = name.removeprefix("copilot_").removeprefix("vscode_").removesuffix("_internal").replace("_", "").lower()
    return _TOOLS.find_kind(bare)


def build_chat_call(
    shown: ChatPart | None, request: RequestedCall | None, result: str | None, *, is_over: bool, brief: bool
) -> ToolCall:
    """Builds a tool call as far as it is known. `result` is None while there is no result; `is_over` means that none
    will come."""
    name = without_nul(request.name if request else "") or without_nul(shown.tool_id if shown else "")
    details = parse_fields(shown.tool_specific_data) if shown else {}
    arguments = parse_fields((request.arguments if request else "") or "") or _shown_arguments(shown)
    kind: ToolKind = "shell" if details.get("kind") == "terminal" else chat_tool_kind(name)
    call = _TOOLS.build_call(
        (request.id if request else "") or (shown.tool_call_id if shown else ""),
        name,
        arguments,
        kind=kind,
        default_path=_linked_file(shown),
        brief=brief,
    )
    call = replace(
        call,
        command=_terminal_command(details) or call.command or " ".join(list_texts(arguments.get("urls"))),
        description=call.description or find_text(details, "description"),
    )
    return _close_call(call, shown, details, result, is_over=is_over, brief=brief)


def build_edit_call(path: str, edits: msgspec.Raw, *, brief: bool) -> ToolCall:
    """Builds a tool call for changes to a file that no tool requested; the text before them is not recorded."""
    groups = parse_json_or_none(edits)
    texts = [
        one["text"]
        for group in (groups if isinstance(groups, list) else ())
        for one in (group if isinstance(group, list) else [group])
        if isinstance(one, dict) and isinstance(one.get("text"), str)
    ]
    new_text = without_nul("\n".join(texts))
    return ToolCall(
        id="",
        name="textEditGroup",
        kind="edit",
        status="ok",
        paths=(path,),
        edits=() if brief else (FileEdit(path, "", new_text),),
    )


def _shown_arguments(shown: ChatPart | None) -> dict[str, object]:
    """Returns the arguments from the details of a shown call, the only place where a cancelled request keeps them."""
    details = parse_fields(shown.result_details) if shown is not None else {}
    return parse_fields(find_text(details, "input"))


def _terminal_command(details: CallDetails) -> str:
    """Returns the command as it was run; older versions have no `commandLine`."""
    return find_text(find_object(details, "commandLine"), "userEdited", "toolEdited", "original") or find_text(
        details, "command"
    )


def _linked_file(shown: ChatPart | None) -> str:
    """Returns the file that the displayed message of a call links to."""
    if shown is None:
        return ""
    match = _FILE_LINK.search(markdown_text(shown.invocation_message)[:4000])
    return without_nul(match[1].partition("#")[0]) if match else ""


def _format_answer(value: object) -> str:
    """Returns an answer in any of its formats: a text, several, or an object with the selected and the typed answer."""
    if not isinstance(value, dict):
        return join_texts(value)
    picked = join_texts(value.get("selected") or value.get("selectedValues") or value.get("selectedValue"))
    typed = join_texts(value.get("freeText") or value.get("freeformValue"))
    return "\n".join(one for one in (picked, typed) if one)


def _close_call(
    call: ToolCall,
    shown: ChatPart | None,
    details: CallDetails,
    result: str | None,
    *,
    is_over: bool,
    brief: bool,
) -> ToolCall:
    recorded_code = find_object(details, "terminalCommandState").get("exitCode")
    code = recorded_code if type(recorded_code) is int else None
    text = result if result is not None else _error_text(shown) or _output_text(shown, details)
    text = without_nul(cut_blocks(text))
    if code is None and call.kind == "shell":
        code = _find_exit_code(text)
    status = _find_status(shown, result, text, is_over=is_over)
    return replace(close_call(call, status, text, code, brief=brief), answers=_parse_answers(call, text))


def _find_status(shown: ChatPart | None, result: str | None, text: str, *, is_over: bool) -> ToolStatus:
    if shown is not None and _is_refused(shown.is_confirmed):
        return "denied"
    if text.startswith(_ERROR_START) or (shown is not None and _has_failed(shown)):
        return "error"
    if text.startswith(_CANCELLED_START):
        return "interrupted"
    if result is not None or (shown is not None and shown.is_complete and _has_begun(shown)):
        return "ok"
    return "interrupted" if is_over else "pending"


def _is_refused(confirmed: msgspec.Raw) -> bool:
    value = parse_json_or_none(confirmed)
    return value is False or (isinstance(value, dict) and value.get("type") in _DENIED_VALUES)


def _has_failed(shown: ChatPart) -> bool:
    error = parse_json_or_none(shown.result_error)
    return error is True or bool(_error_text(shown)) or parse_fields(shown.result_details).get("isError") is True


def _error_text(shown: ChatPart | None) -> str:
    error = parse_json_or_none(shown.result_error) if shown is not None else None
    return error if isinstance(error, str) else ""


def _has_begun(shown: ChatPart) -> bool:
    """Checks whether a call was allowed to run. A call that waits for permission is marked complete too, but has no
    other data."""
    return parse_json_or_none(shown.is_confirmed) is not None or shown.result_details != JSON_NULL


def _output_text(shown: ChatPart | None, details: CallDetails) -> str:
    if isinstance(printed := details.get("terminalCommandOutput"), dict):
        return find_text(printed, "text")
    outputs = list_objects(parse_fields(shown.result_details).get("output")) if shown else []
    return "\n".join(find_text(one, "value") for one in outputs if one.get("isText", True))


def _find_exit_code(text: str) -> int | None:
    match = _EXIT_CODE.search(text[:_CODE_AT_ENDS]) or _EXIT_CODE.search(text[-_CODE_AT_ENDS:])
    return int(match[1] or match[2]) if match else None


def _parse_answers(call: ToolCall, text: str) -> tuple[QuestionAnswer, ...]:
    if call.kind != "ask" or not call.answers:
        return call.answers
    answers = parse_fields(text).get("answers")
    if not isinstance(answers, dict):
        return call.answers
    in_order = list(answers.values())
    return tuple(
        replace(
            one, answer=_format_answer(answers.get(one.question, in_order[index] if index < len(in_order) else None))
        )
        for index, one in enumerate(call.answers)
    )
