"""The editor's own model over the wire: the window plays the editor, everything else is real."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException  # noqa: TID251

from chat_server import item, marked
from claude_lines import prompt, reply, text
from desk import desk_in
from hang import HANG
from lerim.lsp.protocol import core
from window import Editor

pytestmark = pytest.mark.asyncio

MODEL = {
    "id": "copilot/gpt",
    "vendor": "copilot",
    "family": "gpt",
    "version": "1",
    "name": "GPT",
    "maxInputTokens": 100_000,
    "allowed": True,
}
QUOTE = "amounts of `{}` are kept in cents by agreement with billing"
NAMES = ("Money", "Price", "Total", "Refund")
Answers = Callable[[Any], Awaitable[Any]]


def answered(found: list[dict]) -> dict[str, str]:
    return {"text": marked(found), "why": "", "message": ""}


def refused(why: str) -> dict[str, str]:
    return {"text": "", "why": why, "message": "as the editor puts it"}


def subjects(asked: Any) -> list[str]:
    """What the window of a question speaks of."""
    return list(dict.fromkeys(re.findall(r"amounts of `(\w+)` are kept", asked.prompt)))


def cents(subject: str) -> dict:
    title = f"`{subject}` holds cents in `src/app.py`"
    body = f"`{subject}` in `src/app.py` holds cents, as agreed with billing."
    return item(title, QUOTE.format(subject), references=["src/app.py"], body=body)


async def finds(asked: Any) -> dict[str, str]:
    return answered([cents(name) for name in subjects(asked)])


class Models:
    """The editor's side: keeps what it is asked, and answers as the test says."""

    def __init__(self, editor: Editor, answer: Answers) -> None:
        self.asked: list[Any] = []
        self.open = 0
        self.cancelled = 0
        self.answer = answer
        self._editor = editor

        @editor.client.feature(core.ASK_MODEL)
        async def ask(params: Any) -> Any:
            self.asked.append(params)
            self.open += 1
            try:
                return await self.answer(params)
            finally:
                self.open -= 1

    async def start(self, *models: dict, **settings: object) -> None:
        chosen = {"idleSeconds": 0, "model.provider": "editor", "extract.gate": "all", **settings}
        await self._editor.start({"trusted": True, "settings": chosen})
        self._editor.client.protocol.notify(core.EDITOR_MODELS, {"models": list(models)})

    async def sync(self) -> Any:
        return await self._editor.ask(core.SYNC, {"root": self._editor.root})

    async def found(self) -> None:
        """Waits until candidates wait for review."""
        changed = self._editor.told[core.CANDIDATES_CHANGED]
        await self._editor.until(lambda: changed and changed[-1].pending)


def talk(home: Path, repo: Path, *names: str, words: int = 0) -> None:
    """A session in which the rules find nothing; each subject is spoken of on its own, at some length."""
    filler = "The importer reads rows and hands them on to the next one. " * words
    records = []
    for number, name in enumerate(names):
        records.append(prompt(f"In src/app.py {QUOTE.format(name)}, whatever the form says. {filler}"))
        records.append(reply(f"a-{number}", text("Noted.")))
    desk_in(home, repo).session(
        "11111111-2222-3333-4444-555555555555", *records, prompt("ok"), reply("z", text("Gladly."))
    )


def long_talk(home: Path, repo: Path) -> None:
    """A session of several windows, a subject in each."""
    talk(home, repo, *NAMES, words=60)
    path = home / ".lerim" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "[roles.extract]\nmax_window_tokens = 1000\nwindow_overlap_tokens = 0\n[roles.summarize]\nprovider = 'none'\n",
        encoding="utf-8",
    )


async def test_cancel_reaches_every_question_and_late_answers_harm_nobody(editor: Editor, isolated: Path) -> None:
    long_talk(isolated, editor.repo)
    late = asyncio.Event()

    async def answer(_asked: Any) -> dict[str, str]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            models.cancelled += 1
            async with asyncio.timeout(HANG):
                await late.wait()
        return answered([])

    models = Models(editor, answer)
    await models.start(MODEL)
    params = {"root": editor.root}
    syncing = asyncio.ensure_future(editor.client.protocol.send_request_async(core.SYNC, params, msg_id="sync"))
    await editor.until(lambda: models.open >= 2)
    editor.client.cancel_request(types.CancelParams(id="sync"))
    with pytest.raises(JsonRpcException):
        await syncing
    await editor.until(lambda: not editor.jobs())
    await editor.until(lambda: models.cancelled == len(models.asked))
    late.set()
    await editor.until(lambda: models.open == 0)
    assert (await editor.ask(core.DEBUG, {})).roots
    assert editor.client.messages == []


async def test_sessions_wait_until_the_editor_has_a_model_that_reads_them(editor: Editor, isolated: Path) -> None:
    talk(isolated, editor.repo, "Money")
    models = Models(editor, finds)
    await models.start()
    report = await models.sync()
    assert (report.state, report.waits.why, report.waits.sessions) == ("partial", "gone", 1)
    assert "The editor offers no model" in report.problems[0].message
    editor.client.protocol.notify(core.EDITOR_MODELS, {"models": "nonsense"})
    editor.client.protocol.notify(core.EDITOR_MODELS, {"models": [MODEL]})
    report = await models.sync()
    assert (report.state, report.model, report.problems) == ("done", "editor:copilot/gpt", [])
    assert [candidate.title for candidate in report.candidates] == ["`Money` holds cents in `src/app.py`"]
    assert {(asked.model, asked.explicit) for asked in models.asked} == {("copilot/gpt", True)}


async def test_an_idle_sync_never_has_the_person_asked(editor: Editor, isolated: Path) -> None:
    talk(isolated, editor.repo, "Money")
    models = Models(editor, finds)
    await models.start(MODEL, idleSeconds=0.2)
    await editor.until(lambda: models.asked)
    assert not models.asked[0].explicit
    await models.found()
