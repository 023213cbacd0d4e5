"""What waits for a model, about how much it would send and cost: told from the catalog alone."""

from __future__ import annotations

from typing import Any

import pytest

from catalog_dump import enqueue
from claude_lines import prompt, reply, text
from desk import Desk
from lerim.extraction.model.material import Material
from lerim.jobs.sync_context import SyncOptions
from lerim.models.money.usage import WaitingWork
from lerim.models.state import estimate_waiting
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.queue.jobs import MODEL_JOB
from lerim.sessions.queue.pending_windows import PendingTurns
from lerim.sessions.tables.column_values import EXTRACT_JOB
from lerim.sqlite import transaction
from model_desk import paid, story

NOTHING_ASKED = SyncOptions(model="none")


def unsent(desk: Desk, **bounds: Any) -> PendingTurns:
    with Catalog.open(desk.home) as catalog:
        return catalog.count_pending_turns(desk.place.project.key, **bounds)


def estimate(desk: Desk, *arguments: object, **changes: object) -> WaitingWork:
    with Catalog.open(desk.home) as catalog:
        return estimate_waiting(catalog, desk.place.project.key, *(arguments or (paid(**changes),)))  # type: ignore[arg-type]


def learned(desk: Desk, name: str, sent: int) -> None:
    """A model was shown the session up to a turn."""
    with Catalog.open(desk.home) as catalog:
        while job := catalog.claim_job(desk.place.project.key, kind=MODEL_JOB):
            if job.transcript.session_id == name:
                state = Material(desk.repo, name, "claude").state(sent, 30_000)
                catalog.finish_job(job, b"", state)
                return
    raise AssertionError(name)


def test_the_cost_is_that_of_what_would_be_sent_and_about_answered(desk: Desk) -> None:
    story(desk, "s1")
    desk.sync(NOTHING_ASKED)
    nano = estimate(desk)
    assert (nano.sessions, nano.model, nano.why) == (1, "openrouter:openai/gpt-5-nano@openrouter.ai", "")
    assert 1_500 < nano.tokens < 2_000
    assert nano.cost == pytest.approx((nano.tokens * 0.05 + 3_000 * 0.4) / 1e6, abs=1e-4)
    assert estimate(desk, name="nobody/knows").cost is None
    local = estimate(desk, base_url="http://localhost:11434/v1")
    assert (local.sessions, local.cost) == (1, None)
    none = estimate(desk, None)
    assert (none.sessions, none.why, none.model) == (1, "none", "")


def change_jobs(desk: Desk, change: str) -> None:
    with Catalog.open(desk.home) as catalog, transaction(catalog.db):
        catalog.db.execute(f"UPDATE jobs SET {change} WHERE kind = ?", (MODEL_JOB,))


def test_each_session_the_rules_have_read_waits_until_a_model_was_shown_it(desk: Desk) -> None:
    assert unsent(desk) == PendingTurns()
    assert estimate(desk) == WaitingWork(model="openrouter:openai/gpt-5-nano@openrouter.ai")
    path = story(desk, "s1")
    story(desk, "s2")
    desk.sync(NOTHING_ASKED)
    before = unsent(desk)
    assert (before.sessions, before.turns) == (2, 8)
    learned(desk, "s1", 3)
    change_jobs(desk, "state = 'pending'")
    assert unsent(desk) == PendingTurns(1, 4, 0, before.size // 2), "in s1 nothing is new"
    desk.session("s1", prompt("And now something else, in a few words"), reply("s1-c", text("Good.")))
    desk.sync(NOTHING_ASKED)
    grown = unsent(desk)
    assert (grown.sessions, grown.turns) == (2, 6), "of a session that grew only what is new waits"
    learned(desk, "s1", 99)
    change_jobs(desk, "state = 'done'")
    with Catalog.open(desk.home) as catalog:
        enqueue(catalog, EXTRACT_JOB, str(path), desk.place.project.key)
    assert unsent(desk) == PendingTurns(), "the rules' queue is not the model's"
