"""Editors without Lerim's extension, such as Neovim and Helix, are offered only what they can do."""

from __future__ import annotations

import re

import pytest
from lsprotocol import types

from lerim.lsp.protocol import core
from lerim.lsp.server import MEMORY_COMMANDS
from lerim.memory import parse_record
from window import RECORD, Editor, write_memory

pytestmark = pytest.mark.asyncio


async def find_commands(editor: Editor, uri: str) -> dict[str, str]:
    """The commands of the actions in a document, each with its argument."""
    everything = types.Range(types.Position(0, 0), types.Position(40, 0))
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), everything, types.CodeActionContext([]))
    found = str(await editor.client.text_document_code_action_async(params))
    return dict(re.findall(r"'command': '([\w.]+)', 'arguments': \['([^']+)'\]", found))


async def run(editor: Editor, command: str, argument: str) -> str:
    """Runs a command; returns the message that the editor is then shown."""
    shown = len(editor.client.messages)
    params = types.ExecuteCommandParams(command, arguments=[argument])
    await editor.client.workspace_execute_command_async(params)
    [message] = await editor.until(lambda: editor.client.messages[shown:])
    return str(message.message)


async def test_the_actions_on_a_memory_are_run_by_the_server(editor: Editor) -> None:
    kept = write_memory(editor.repo, related=("20260802-own",))
    own = write_memory(editor.repo, id="20260802-own", title="My own habit", references=())
    await editor.start(has_extension=False)
    assert editor.server is not None
    provider = editor.server.capabilities.execute_command_provider
    assert provider is not None and sorted(provider.commands) == sorted(MEMORY_COMMANDS)
    offered = await find_commands(editor, editor.open("", kept.read_text("utf-8"), kept.as_uri()))
    assert set(offered) == set(MEMORY_COMMANDS) - {"lerim.mergeMemory"}, "none that would have to ask something"
    assert "Marked as still true" in await run(editor, "lerim.verifyMemory", offered["lerim.verifyMemory"])
    assert "verified: " in kept.read_text("utf-8")
    assert "Archived" in await run(editor, "lerim.archiveMemory", offered["lerim.archiveMemory"])
    assert not kept.exists()
    offered = await find_commands(editor, editor.open("", own.read_text("utf-8"), own.as_uri()))
    await run(editor, "lerim.moveMemory", offered["lerim.moveMemory"])
    assert not own.exists() and (editor.home / ".lerim/memory/decisions/20260802-own.md").exists()


@pytest.mark.parametrize("own", [False, True], ids=["of the project", "of one's own"])
async def test_a_merge_conflict_is_resolved_by_the_server(editor: Editor, own: bool) -> None:
    path = write_memory(editor.home if own else editor.repo)
    text = path.read_text("utf-8")
    both = text.replace("confidence: 0.9", "<<<<<<< HEAD\nconfidence: 0.9\n=======\nconfidence: 0.8\n>>>>>>> other")
    path.write_text(both, encoding="utf-8")
    await editor.start(has_extension=False)
    shown_by_extension = await editor.ask(core.MEMORY_MERGE, {"root": editor.root, "path": str(path), "preview": True})
    assert "-<<<<<<< HEAD" in shown_by_extension.diff
    offered = await find_commands(editor, editor.open("", both, path.as_uri()))
    assert "Merged" in await run(editor, "lerim.mergeMemory", offered["lerim.mergeMemory"])
    assert "<<<<<<<" not in path.read_text("utf-8")


async def test_two_memories_that_say_the_same_are_merged_by_the_server(editor: Editor) -> None:
    old = write_memory(editor.repo)
    new = write_memory(editor.repo, id="20260802-again", tags=("again",), references=("src/other.py",))
    await editor.start(has_extension=False)
    uri = editor.open("", new.read_text("utf-8"), new.as_uri())
    [hint] = await editor.until(
        lambda: [one for one in editor.client.diagnostics.get(uri, []) if one.code == "same-memory"]
    )
    assert hint.severity == types.DiagnosticSeverity.Hint and RECORD.id in hint.message
    offered = await find_commands(editor, uri)
    assert "Merged" in await run(editor, "lerim.mergeMemory", offered["lerim.mergeMemory"])
    kept = parse_record(old.read_text("utf-8"), old)
    assert (kept.tags, kept.references) == ((*RECORD.tags, "again"), (*RECORD.references, "src/other.py"))
    assert not new.exists() and f"superseded_by: {RECORD.id}" in (
        editor.repo / ".lerim/memory/archived/decisions/20260802-again.md"
    ).read_text("utf-8")


async def test_a_memory_of_ones_own_that_says_the_same_is_merged_too(editor: Editor) -> None:
    old = write_memory(editor.home, references=())
    new = write_memory(editor.home, id="20260802-again", references=())
    await editor.start(has_extension=False)
    offered = await find_commands(editor, editor.open("", old.read_text("utf-8"), old.as_uri()))
    assert "Merged" in await run(editor, "lerim.mergeMemory", offered["lerim.mergeMemory"])
    assert old.exists() and not new.exists()


async def test_hovers_have_no_links_to_commands(editor: Editor) -> None:
    memory = write_memory(editor.repo)
    write_memory(editor.repo, id="20260802-other", title="Close what you open")
    await editor.start(has_extension=False)
    app = editor.open("src/app.py")
    linking = f"---\nid: 20260803-new\nrelated: [{RECORD.id}]\n---\n"
    for shown in (
        await editor.hover(app, 0, 5) or "",
        await editor.hover(editor.open("", linking, memory.with_name("20260803-new.md").as_uri()), 2, 12) or "",
    ):
        assert "Lerim · decision" in shown and "command:" not in shown


async def test_the_commands_are_the_extensions_where_there_is_one(editor: Editor) -> None:
    await editor.start()
    assert editor.server is not None and editor.server.capabilities.execute_command_provider is not None
    assert not editor.server.capabilities.execute_command_provider.commands
