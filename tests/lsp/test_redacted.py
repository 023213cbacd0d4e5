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


def said(*arguments: str) -> str:
    """What the command line prints."""
    done = run(*arguments)
    assert done.exit_code == 0
    return done.stdout + done.stderr


def written(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def readable(shown: str) -> list[str]:
    return [part for part in PARTS if part in shown]


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
    assert readable(repr(listed)) == []
    for command in (("review", "list"), ("review", "list", "--json")):
        shown = said(*command, "--repo", str(editor.repo))
        assert "Call it with" in shown
        assert readable(shown) == []

    act = {"root": editor.root, "id": waiting, "action": "accept", "quotes": "shared"}
    done = await editor.ask(core.REVIEW_ACT, act)
    assert done.ok
    [path] = memory_files(editor.repo)
    assert readable(f"{path}\n{written(path)}") == []
    hover = await editor.hover(editor.open("src/app.py", "x = 1\n"), 0, 0)
    assert hover is not None
    assert "Call it with" in hover
    assert readable(hover.replace("\\", "")) == []
    shown = said("memory", "show", Path(path).stem, "--repo", str(editor.repo))
    assert "Call it with" in shown
    assert readable(shown) == []
