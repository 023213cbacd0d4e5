"""A token beside a quotation mark that Lerim adds is read nowhere: neither in files nor in what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from lerim.lsp.protocol import core
from lerim.memory.record import Evidence
from proposals import propose, review_paths
from terminal import run
from test_review import memory_files
from window import Editor

pytestmark = pytest.mark.asyncio

TOKEN = "".join(("dG7k", "Q2mZ", "9xLw", "4Rb8", "Tn3V", "h6Ys"))
PARTS = [TOKEN[at : at + 8] for at in range(len(TOKEN) - 7)]


def written(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def check(shown: str, *words: str) -> None:
    assert all(word in shown for word in words)
    assert [part for part in PARTS if part in shown.replace("\\", "")] == []


@pytest.mark.parametrize("mark", ['"', "`"])
async def test_a_token_beside_a_quotation_mark_is_cut_everywhere(editor: Editor, isolated: Path, mark: str) -> None:
    told = f"API_TOKEN={mark}{TOKEN}{mark}"
    waiting = propose(
        review_paths(editor.repo),
        title=f"Call it with {told}",
        body=f"In src/app.py: {told}",
        evidence=(Evidence(f"use {told}", "0123456789ab", "user"),),
    )
    await editor.start()
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    check(repr(listed))
    for options in ((), ("--json",)):
        check(run("review", "list", *options, "--repo", str(editor.repo)).output, "Call it with")
    act = {"root": editor.root, "id": waiting, "action": "accept", "quotes": "shared"}
    done = await editor.ask(core.REVIEW_ACT, act)
    assert done.ok
    [path] = memory_files(editor.repo)
    check(path)
    check(written(path), "Call it with")
    check(await editor.hover(editor.open("src/app.py", "x = 1\n"), 0, 0) or "", "Call it with")
    check(run("memory", "show", Path(path).stem, "--repo", str(editor.repo)).output, "Call it with")
