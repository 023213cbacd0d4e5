"""The model over the wire: how it stands, what waits for it, what today cost, and the person's consent."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from claude_lines import prompt, reply, text
from desk import desk_in
from lerim.lsp.protocol import core
from lerim.models.money import consent
from lerim.models.money.spending import DayBudget
from lerim.models.money.usage import Usage
from lerim.paths import Home
from model_desk import paid
from window import Editor, opened_in_thread

pytestmark = pytest.mark.asyncio

NANO = "openrouter:openai/gpt-5-nano@openrouter.ai"


def write(home: Path, repo: Path) -> None:
    words = "In src/app.py amounts are cents by agreement with billing"
    desk_in(home, repo).session("s1", prompt(words), reply("a", text("Noted.")))


def choose(isolated: Path, provider: str, **settings: str) -> None:
    config = isolated / ".lerim" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    lines = {"provider": provider} | settings
    config.write_text("[roles.extract]\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items()))


async def test_without_a_model_the_status_says_so(editor: Editor, isolated: Path) -> None:
    await editor.start()
    status = await editor.ask(core.MODEL_STATUS, {"root": editor.root})
    assert (status.model, status.provider, status.allowed) == ("", "none", False)
    assert (status.todayUsd, status.budgetUsd, status.spent, status.problems) == (0, 1, [], [])
    assert (status.waits.why, status.waits.sessions, status.waits.cost) == ("none", 0, None)
    assert not (isolated / ".lerim" / "index").exists(), "asking makes no catalog"


async def test_a_paid_model_waits_for_consent_and_then_tells_what_it_would_cost(
    repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    async with opened_in_thread(repo) as editor:
        await _consent(editor, isolated)


async def _consent(editor: Editor, isolated: Path) -> None:
    choose(isolated, "openrouter")
    write(isolated, editor.repo)
    home = Home(isolated / ".lerim")
    await editor.start()
    report = await editor.ask(core.SYNC, {"root": editor.root})
    assert (report.waits.why, report.waits.sessions, report.waits.model) == ("consent", 1, NANO)
    status = await editor.ask(core.MODEL_STATUS, {"root": editor.root})
    assert (status.model, status.provider, status.allowed) == (NANO, "openrouter", False)
    assert (status.waits.why, status.waits.sessions) == ("consent", 1)
    assert status.waits.tokens > 1_000
    assert 0 < status.waits.cost < 0.01

    done = await editor.ask(core.MODEL_ALLOW, {"label": status.waits.model})
    assert done.ok
    assert consent.load_known_models(home)[0].allowed == {NANO}
    purse = DayBudget(home, 1.0, lambda: datetime.now().astimezone())
    purse.settle(purse.reserve(paid(), 1_000, 10), Usage(1, 1_000, 10, cost=0.25))
    status = await editor.ask(core.MODEL_STATUS, {"root": editor.root})
    assert (status.allowed, status.todayUsd, status.waits.why, status.waits.sessions) == (True, 0.25, "", 1)
    [spent] = status.spent
    assert (spent.role, spent.model, spent.usage.calls) == ("extract", NANO, 1)
    purse.settle(purse.reserve(paid(), 1_000, 10), Usage(1, 1_000, 10, cost=0.75))
    assert (await editor.ask(core.MODEL_STATUS, {"root": editor.root})).waits.why == "budget"


async def test_a_missing_key_is_told_and_no_server_is_looked_for(editor: Editor, isolated: Path) -> None:
    choose(isolated, "openrouter")
    await editor.start()
    status = await editor.ask(core.MODEL_STATUS, {"root": editor.root})
    assert (status.model, status.waits.why) == ("", "gone")
    assert [problem.code for problem in status.problems] == ["model-key"]
    for provider in ("ollama", "auto"):
        choose(isolated, provider)
        status = await editor.ask(core.MODEL_STATUS, {"root": editor.root})
        assert (status.model, status.provider, status.waits.why, status.problems) == ("", provider, "", [])


async def test_a_local_model_needs_no_consent_and_has_no_price(editor: Editor, isolated: Path) -> None:
    choose(isolated, "ollama", model="qwen3")
    write(isolated, editor.repo)
    await editor.start()
    status = await editor.ask(core.MODEL_STATUS, {"root": editor.root})
    assert (status.model, status.allowed, status.waits.why, status.waits.cost) == ("ollama:qwen3", True, "", None)
