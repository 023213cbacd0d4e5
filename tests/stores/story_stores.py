"""A story, written into the store of each agent in that agent's own form."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import claude_lines
import codex_lines
import copilot_chats
import copilot_cli_lines
import cursor_store
import gemini_files
import opencode_store
from finished import finish
from stories import Brought, Changed, Chose, Planned, Ran, Said, Source, Step, Told

Write = Callable[[Path, Path, str, Sequence[Step]], None]
"""(the person's home, the repository, the session's name, its steps)"""
_numbers = itertools.count(1)


def _id(kind: str = "c") -> str:
    return f"{kind}{next(_numbers):05}"


def _uuid(name: str) -> str:
    found = hashlib.sha256(name.encode()).hexdigest()
    return f"{found[:8]}-{found[8:12]}-4{found[13:16]}-8{found[17:20]}-{found[20:32]}"


def _options(step: Chose) -> list[dict[str, str]]:
    return [{"label": option, "description": ""} for option in step.options]


def _patch(step: Changed) -> str:
    if not step.old:
        body = "".join(f"+{line}\n" for line in step.new.splitlines())
        return f"*** Begin Patch\n*** Add File: {step.file}\n{body}*** End Patch"
    both = [f"-{line}" for line in step.old.splitlines()] + [f"+{line}" for line in step.new.splitlines()]
    return "*** Begin Patch\n*** Update File: {}\n@@\n{}\n*** End Patch".format(step.file, "\n".join(both))


def claude(home: Path, repo: Path, name: str, steps: Sequence[Step]) -> None:
    records: list[Any] = []
    for step in steps:
        native = _id("t")
        asked: list[Any] = []
        match step:
            case Said(text):
                records.append(claude_lines.prompt(text))
                continue
            case Told(text):
                records.append(claude_lines.reply(_id("m"), claude_lines.text(text)))
                continue
            case Ran(command, output, code):
                asked = ["Bash", {"command": command}]
                back = claude_lines.answer(
                    native, f"Exit code {code}\n{output}" if code else output, is_error=bool(code)
                )
            case Changed(file, old, new, refused):
                path = str(repo / file)
                asked = ["Edit", {"file_path": path, "old_string": old, "new_string": new}]
                if not old:
                    asked = ["Write", {"file_path": path, "content": new}]
                back = claude_lines.answer(native, "The file was updated.")
                if refused:
                    said = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it "
                    said += "was a file edit, the new_string was NOT written to the file). To tell you how to proceed, "
                    back = claude_lines.answer(native, f"{said}the user said:\n{refused}", is_error=True)
            case Chose(question, _, answer):
                asked = ["AskUserQuestion", {"questions": [{"question": question, "options": _options(step)}]}]
                back = claude_lines.answer(native, "answered", outcome={"answers": {question: answer}})
            case Planned(plan):
                asked = ["ExitPlanMode", {"plan": plan}]
                back = claude_lines.answer(native, "User has approved your plan. You can now start coding.")
            case Brought(by, output, failed):
                calls: dict[Source, list[Any]] = {
                    "web": ["WebFetch", {"url": "https://docs.invalid", "prompt": "?"}],
                    "served": ["mcp__docs__search", {"query": "packages"}],
                    "shell": ["Bash", {"command": "cat notes"}],
                    "read": ["Read", {"file_path": str(repo / "notes.md")}],
                    "agent": ["Task", {"prompt": "look", "description": "look"}],
                }
                asked = calls[by]
                told = f"Error: {output}" if failed else None
                back = claude_lines.answer(native, output, is_error=failed or None, outcome=told)
        records += [claude_lines.reply(_id("m"), claude_lines.call(native, asked[0], **asked[1])), back]
    folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(repo))
    folder.mkdir(parents=True, exist_ok=True)
    whole = [{**one, "cwd": str(repo), "sessionId": _uuid(name)} for one in records]
    transcript = folder / f"{_uuid(name)}.jsonl"
    transcript.write_bytes(claude_lines.encoded(*whole))
    finish(transcript)


def codex(home: Path, repo: Path, name: str, steps: Sequence[Step]) -> None:
    native = _uuid(name)
    records: list[Any] = [codex_lines.meta(native, cwd=str(repo))]
    for step in steps:
        call = _id("call_")
        match step:
            case Said(text):
                records += [codex_lines.prompt(text)]
            case Told(text):
                records += [codex_lines.said(text)]
            case Ran(command, output, code):
                records.append(codex_lines.call(call, "exec_command", cmd=command, workdir=str(repo)))
                records.append(codex_lines.ran(call, code, output))
            case Changed(_, _, _, refused):
                records.append(codex_lines.patch(call, _patch(step)))
                back = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."
                records.append(codex_lines.patch_output(call, "patch rejected by user" if refused else back))
                records += [codex_lines.prompt(refused)] if refused else []
            case Chose(question, _, answer):
                given = {"id": "q", "header": "Q", "question": question, "options": _options(step)}
                records.append(codex_lines.call(call, "request_user_input", questions=[given]))
                records.append(codex_lines.output(call, json.dumps({"answers": {"q": {"answers": [answer]}}})))
            case Brought(by, output, failed):
                if by == "served":
                    put = {"id": "q", "header": "Q", "question": "Which package?", "options": []}
                    asked = codex_lines.call(call, "request_user_input", questions=[put])
                    asked["payload"]["namespace"] = "mcp__docs"
                else:
                    asked = codex_lines.call(call, "web_run" if by == "web" else "exec_command", cmd="cat notes")
                records.append(asked)
                made = by in ("shell", "read") and not failed
                records.append(codex_lines.ran(call, 0, output) if made else codex_lines.output(call, output))
            case Planned(plan):
                proposed = f"<proposed_plan>\n{plan}</proposed_plan>"
                records += [codex_lines.said(proposed), codex_lines.prompt("Implement the plan.")]
    path = home / ".codex" / "sessions" / "2026" / "03" / "01" / f"rollout-2026-03-01T00-00-00-{native}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(codex_lines.encoded(*records))
    finish(path)


def cursor(home: Path, repo: Path, name: str, steps: Sequence[Step]) -> None:
    bubbles: list[dict[str, Any]] = []
    tool = cursor_store.tool
    for step in steps:
        native = _id(name)
        match step:
            case Said(text):
                bubbles.append(cursor_store.prompt(text, native))
            case Told(text):
                bubbles.append(cursor_store.reply(text, native))
            case Ran(command, output, code):
                result = {"output": output, "exitCodeV2": code, "rejected": False}
                bubbles.append(tool("run_terminal_command_v2", {"command": command, "cwd": ""}, result, native))
            case Changed(file, old, new, refused):
                given = {"file_path": file, "old_string": old, "new_string": new}
                given = given if old else {"file_path": file, "contents": new}
                kind, result = "search_replace" if old else "write", {"rejected": bool(refused)}
                bubbles.append(tool(kind, given, result, native))
                bubbles += [cursor_store.prompt(refused, _id(name))] if refused else []
            case Chose(question, options, answer):
                listed = [{"id": option, "label": option} for option in options]
                put = {"questions": [{"id": "q", "prompt": question, "options": listed}]}
                picked = {"answers": [{"questionId": "q", "selectedOptionIds": [answer]}]}
                bubbles.append(tool("ask_question", put, picked, native))
            case Brought(by, output, failed):
                kinds = {
                    "web": "web_fetch",
                    "served": "mcp_docs_ask_question",
                    "read": "read_file_v2",
                    "agent": "task_v2",
                }
                ended = {"status": "error"} if failed else {}
                kind = kinds.get(by, "run_terminal_command_v2")
                bubbles.append(tool(kind, {"command": "cat notes"}, {"output": output}, native, **ended))
            case Planned(plan):
                bubbles.append(tool("create_plan", {"name": "Rates", "plan": plan}, {}, native))
                bubbles.append(cursor_store.prompt("Implement the plan as specified", _id(name), isSimulatedMsg=True))
    where = {"id": "w", "uri": {"fsPath": str(repo), "scheme": "file"}}
    editor = cursor_store.Editor(home / ".config" / "Cursor" / "User")
    editor.chat(bubbles, _uuid(name), workspaceIdentifier=where)


def opencode(home: Path, repo: Path, name: str, steps: Sequence[Step]) -> None:
    native = f"ses_{name}"
    store = opencode_store.Store(native, directory=str(repo))
    store.clock += 100_000 * next(_numbers)
    at = {"path": {"cwd": str(repo), "root": str(repo)}}
    tool = opencode_store.tool
    for step in steps:
        match step:
            case Said(text):
                store.say("user", opencode_store.text(text))
                continue
            case Told(text):
                parts = [opencode_store.text(text)]
            case Ran(command, output, code):
                parts = [tool("bash", {"command": command}, output, metadata={"exit": code})]
            case Changed(file, old, new, refused):
                given = {"filePath": str(repo / file), "oldString": old, "newString": new}
                given = given if old else {"filePath": str(repo / file), "content": new}
                kind = "edit" if old else "write"
                parts = [tool(kind, given, "done")]
                if refused:
                    said = "The user rejected permission to use this specific tool call with the following feedback: "
                    parts = [tool(kind, given, status="error", error=f"{said}{refused}")]
            case Chose(question, _, answer):
                asked = {"questions": [{"question": question, "header": "Q", "options": _options(step)}]}
                parts = [tool("question", asked, "User has answered", metadata={"answers": [[answer]]})]
            case Planned(plan):
                file = str(repo / ".opencode" / "plans" / "1-rates.md")
                parts = [tool("write", {"filePath": file, "content": plan}, "done")]
                parts.append(tool("plan_exit", {}, "User approved switching to build agent."))
            case Brought(by, output, failed):
                kinds = {"web": "webfetch", "served": "docs_search", "shell": "bash", "read": "read", "agent": "task"}
                failed = failed and by in ("web", "served", "agent")  # the errors of the others are OpenCode's own
                ended = {"status": "error", "error": output} if failed else {}
                parts = [tool(kinds[by], {"query": "packages"}, "" if failed else output, **ended)]
        store.say("assistant", *parts, **at)
    for message in store.messages:
        message["info"]["id"] += f"_{name}"
        for part in message["parts"]:
            part["id"] += f"_{name}"
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    store.rows(path)


def copilot_cli(home: Path, repo: Path, name: str, steps: Sequence[Step]) -> None:
    made = copilot_cli_lines
    context = {"cwd": str(repo), "gitRoot": str(repo), "branch": "main"}
    records = [made.event("session.start", sessionId=_uuid(name), copilotVersion="1.0.64", context=context)]
    for step in steps:
        call = _id("t")
        given: dict[str, Any]
        back: list[Any] = [made.done(call, "done")]
        match step:
            case Said(text):
                records.append(made.prompt(text))
                continue
            case Told(text):
                records.append(made.reply(_id("m"), text))
                continue
            case Ran(command, output, code):
                tool, given, back = "bash", {"command": command}, [made.ran(call, code, output)]
            case Changed(file, old, new, refused):
                tool, given = "edit", {"path": str(repo / file), "old_str": old, "new_str": new}
                if not old:
                    tool, given = "create", {"path": str(repo / file), "file_text": new}
                if refused:
                    result = {"kind": "denied-interactively-by-user", "feedback": refused}
                    back = [made.event("permission.completed", toolCallId=call, result=result)]
                    back.append(made.done(call, "The user rejected this call", success=False))
            case Chose(question, options, answer):
                tool, given = "ask_user", {"question": question, "choices": list(options)}
                back = [made.done(call, f"User selected: {answer}")]
            case Planned(plan):
                tool, given = "exit_plan_mode", {"summary": plan}
                back = [made.done(call, "Exited plan mode.\n\nProceed with implementing the plan.")]
            case Brought(by, output, failed):
                kinds = {"web": "web_fetch", "served": "docs-search", "shell": "bash", "read": "view", "agent": "task"}
                tool, given = kinds[by], {"query": "packages", "command": "cat notes"}
                back = [made.done(call, output, success=not failed)]
        records += [made.reply(_id("m"), "", made.asked(call, tool, given)), made.started(call, tool, given), *back]
    path = home / ".copilot" / "session-state" / _uuid(name) / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.encoded(*records))
    finish(path)


def copilot_chat(home: Path, repo: Path, name: str, steps: Sequence[Step]) -> None:
    """A chat has no plan mode: a plan that was approved makes no record there."""
    made = copilot_chats
    requests: list[Any] = []
    text = ""
    parts: list[Any] = []
    calls: list[Any] = []
    results: dict[str, Any] = {}
    for step in (*steps, Said("")):
        call = _id("toolu_")
        match step:
            case Said(said):
                if text:
                    requests.append(made.request(text, *parts, calls=made.metadata(*calls, results=results)))
                text, parts, calls, results = said, [], [], {}
            case Told(said):
                parts.append(made.markdown(said))
            case Ran(command, output, code):
                calls.append(made.asked("run_in_terminal", call, command=command))
                parts.append(made.terminal(command, code))
                results[call] = output
            case Changed(file, old, new, refused):
                path = str(repo / file)
                given = {"filePath": path, "oldString": old, "newString": new}
                kind = "replace_string_in_file" if old else "create_file"
                calls.append(made.asked(kind, call, **(given if old else {"filePath": path, "content": new})))
                answered = {"type": 0} if refused else None
                parts.append(made.tool("copilot_replaceString" if old else "copilot_createFile", confirmed=answered))
                results[call] = "The following files were successfully edited:" if not refused else ""
                if refused:
                    requests.append(made.request(text, *parts, calls=made.metadata(*calls, results=results)))
                    text, parts, calls, results = refused, [], [], {}
            case Brought(by, output, _):
                kinds = {"web": "fetch_webpage", "served": "mcp_docs_askQuestions", "read": "read_file"}
                kind = kinds.get(by, "runSubagent" if by == "agent" else "run_in_terminal")
                calls.append(made.asked(kind, call, command="cat notes"))
                parts.append(made.terminal("cat notes", 0) if by == "shell" else made.tool(kind))
                results[call] = output
            case Chose(question, _, answer):
                put = [{"header": "Q", "question": question, "options": _options(step)}]
                calls.append(made.asked("vscode_askQuestions", call, questions=put))
                parts.append(made.tool("vscode_askQuestions"))
                picked = {"selected": [answer], "freeText": None, "skipped": False}
                results[call] = json.dumps({"answers": {"Q": picked}})
    store = home / ".config" / "Code" / "User" / "workspaceStorage" / "5d54c8e68cf96ced53693563d1ca119a"
    finish(made.whole(store / "chatSessions" / f"{_uuid(name)}.json", *requests, sessionId=_uuid(name)))
    (store / "workspace.json").write_text(json.dumps({"folder": repo.as_uri()}), encoding="utf-8")


def gemini(home: Path, repo: Path, name: str, steps: Sequence[Step]) -> None:
    made = gemini_files
    records: list[Any] = []
    for step in steps:
        match step:
            case Said(text):
                records.append(made.prompt(text))
            case Told(text):
                records.append(made.reply(text))
            case Ran(command, output, code):
                told = f"Output: {output}\nExit Code: {code}" if code else f"Output: {output}\nProcess Group PGID: 1"
                records.append(made.reply("", made.call("run_shell_command", told, command=command)))
            case Changed(file, old, new, refused):
                given = {"file_path": str(repo / file), "old_string": old, "new_string": new}
                given = given if old else {"file_path": str(repo / file), "content": new}
                ended: Any = {"error": "[Operation Cancelled] Reason: User denied execution."} if refused else "done"
                status = "cancelled" if refused else "success"
                records.append(made.reply("", made.call("replace" if old else "write_file", ended, status, **given)))
                records += [made.prompt(refused)] if refused else []
            case Chose(question, _, answer):
                given_answer = json.dumps({"answers": {"0": answer}})
                put = [{"question": question, "options": _options(step)}]
                records.append(made.reply("", made.call("ask_user", given_answer, questions=put)))
            case Brought(by, output, failed):
                kinds = {
                    "web": "web_fetch",
                    "served": "mcp_docs_ask_user",
                    "read": "read_file",
                    "agent": "invoke_agent",
                }
                kind = kinds.get(by, "run_shell_command")
                result = {"error": output} if failed else output
                records.append(
                    made.reply("", made.call(kind, result, "error" if failed else "success", query="packages"))
                )
            case Planned(plan):
                file = "/tmp/plans/rates.md"
                records.append(made.reply("", made.call("write_file", "Written", file_path=file, content=plan)))
                approved = "Plan approved. Switching to Default mode."
                records.append(made.reply("", made.call("exit_plan_mode", approved, plan_filename="rates.md")))
    store = hashlib.sha256(str(repo).encode()).hexdigest()
    path = made.chats(home / ".gemini", store) / f"session-2026-05-01T00-00-{name}.jsonl"
    made.log(path, *records, sessionId=_uuid(name), projectHash=store)


AGENTS: Mapping[str, Write] = {
    "claude": claude,
    "codex": codex,
    "cursor": cursor,
    "opencode": opencode,
    "copilot-cli": copilot_cli,
    "copilot-chat": copilot_chat,
    "gemini": gemini,
}
