"""What agents in the editor get over the wire, and memories that the person copies for one or writes by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from lerim.lsp.protocol import core
from lerim.memory import load_servings
from proposals import propose, review_paths
from window import Editor

pytestmark = pytest.mark.asyncio

CENTS = {
    "kind": "decision",
    "title": "Amounts are integer cents",
    "body": "Floats lost cents.",
    "files": ["src/app.py"],
}


async def test_a_memory_written_by_hand_is_recalled_by_an_agent_and_that_is_recorded(
    editor: Editor, isolated: Path
) -> None:
    await editor.start()
    added = await editor.ask(core.MEMORY_ADD, {"root": editor.root, **CENTS})
    assert added.ok and added.action
    asked = {"root": editor.root, "tool": "recall", "agent": "copilot", "question": "How are amounts kept?"}
    found = await editor.ask(core.AGENT_TOOL, asked)
    assert not found.isError
    assert "Amounts are integer cents" in found.text and "<lerim-memories>" in found.text
    why = await editor.ask(core.AGENT_TOOL, {"root": editor.root, "tool": "why", "path": "src/app.py"})
    assert "Floats lost cents" in why.text
    assert (await editor.ask(core.MEMORY_ADD, {"root": editor.root, **CENTS, "title": "Round once"})).ok
    both = await editor.ask(core.AGENT_TOOL, {"root": editor.root, "tool": "recall", "files": ["src/app.py"]})
    assert "[1] decision: " in both.text and "[2] decision: " in both.text
    served = load_servings(review_paths(editor.repo).private)[0]
    assert [(one.channel, one.agent, one.event) for one in served] == [
        ("editor", "copilot", "recall"),
        ("editor", "editor", "why"),
        ("editor", "editor", "recall"),
    ]
    assert (await editor.ask(core.REVIEW_UNDO, {"root": editor.root, "action": added.action})).ok
    assert "No reviewed memory" in (await editor.ask(core.AGENT_TOOL, asked)).text


async def test_what_waits_for_review_is_never_given_to_an_agent(editor: Editor, isolated: Path) -> None:
    propose(review_paths(editor.repo))
    await editor.start()
    asked = {"root": editor.root, "tool": "recall", "question": "Use uv, not pip?", "files": ["src/app.py"]}
    assert (await editor.ask(core.AGENT_TOOL, asked)).text.startswith("No reviewed memory")


async def test_what_an_agent_proposes_waits_for_review(editor: Editor, isolated: Path) -> None:
    await editor.start()
    proposal = {"root": editor.root, "tool": "propose", "agent": "copilot", "kind": "pitfall"}
    answer = await editor.ask(core.AGENT_TOOL, {**proposal, "title": "The tests need a clock", "why": "They flake."})
    assert not answer.isError
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    assert [(one.title, "said-by-an-agent" in one.flags) for one in listed.candidates] == [
        ("The tests need a clock", True)
    ]
    wrong = await editor.ask(core.AGENT_TOOL, {**proposal, "kind": "poem", "title": "x"})
    assert wrong.isError and "`kind` must be" in wrong.text


async def test_copied_memories_are_fenced_text_and_a_changed_one_says_so(editor: Editor, isolated: Path) -> None:
    await editor.start()
    assert (await editor.ask(core.MEMORY_ADD, {"root": editor.root, **CENTS})).ok
    [memory] = (await editor.ask(core.MEMORY_SEARCH, {"root": editor.root, "query": "", "limit": 5})).memories
    text = (await editor.ask(core.MEMORY_CONTEXT, {"ids": [memory.handle]})).text
    assert text.startswith("<lerim-memories>\n- decision: Amounts are integer cents")
    assert "DRIFTED" not in text
    (editor.repo / "src/app.py").write_text("changed = True\n", encoding="utf-8")
    assert "DRIFTED" in (await editor.ask(core.MEMORY_CONTEXT, {"ids": [memory.handle]})).text
