"""Questions over the wire: sentences as the editor's own model writes them, sources that open, and a cancel."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lerim.lsp.protocol import core
from terminal import answer as cli
from test_editor_models import MODEL, Models, talk
from window import Editor

pytestmark = pytest.mark.asyncio
QUESTION = "Why are amounts of Money kept in cents?"
FIRST = "Amounts of `Money` are kept in cents by agreement with billing. [1]\n"


async def ready(editor: Editor, home: Path, answer: Any) -> Models:
    """A window whose sessions were learned from, with a model that answers."""
    talk(home, editor.repo, "Money")
    await editor.start()
    cli("sync", "--repo", str(editor.repo))
    models = Models(editor, answer)
    editor.client.protocol.notify(core.EDITOR_MODELS, {"models": [MODEL]})
    editor.configure(**{"idleSeconds": 0, "model.provider": "editor"})
    return models


def listened(editor: Editor) -> list[Any]:
    """The sentences that are told."""
    said: list[Any] = []

    @editor.client.feature(core.ANSWER)
    def hear(params: Any) -> None:
        said.append(params)

    return said


def question(editor: Editor, **changes: object) -> dict[str, object]:
    return {"root": editor.root, "question": QUESTION, "token": "q1"} | changes


async def test_sentences_come_while_the_editors_model_writes_and_their_sources_open(
    editor: Editor, isolated: Path
) -> None:
    go = asyncio.Event()

    async def answer(asked: Any) -> dict[str, str]:
        assert asked.token
        editor.client.protocol.notify(core.MODEL_PART, {"token": asked.token, "text": FIRST})
        editor.client.protocol.notify(core.MODEL_PART, {"token": "of nobody", "text": "x"})
        await go.wait()
        return {"text": f"{FIRST}It is a rule of nature.", "why": "", "message": ""}

    models = await ready(editor, isolated, answer)
    assert models.asked == []
    said = listened(editor)
    asking = asyncio.ensure_future(editor.ask(core.ASK, question(editor)))
    await editor.until(lambda: len(said) == 1)
    assert (said[0].token, said[0].sentence.text) == ("q1", FIRST.removesuffix(" [1]\n"))
    go.set()
    found = await asking
    assert [one.text for one in found.sentences] == [FIRST.removesuffix(" [1]\n")]
    assert (found.leftOut, found.known, found.model, len(said)) == (1, True, "editor:copilot/gpt", 1)
    [source] = found.sentences[0].citations
    turn = await editor.ask(
        core.TURN, {"root": editor.root, "session": source.session, "turn": source.turn, "handle": ""}
    )
    assert turn.found == "catalog"
