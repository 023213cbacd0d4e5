"""A sync proposes the ground that several sessions worked on, once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk
from lerim.review import queue

START = datetime(2026, 7, 1, 9, tzinfo=UTC)


def work(desk: Desk, day: int, asked: str, file: str) -> None:
    path = desk.repo / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x = 1\n", encoding="utf-8")
    records: list[Fields] = [
        prompt(asked),
        reply(f"r{day}", text("Done."), call(f"e{day}", "Edit", file_path=str(path), old_string="x", new_string="y")),
        answer(f"e{day}", "The file was updated."),
    ]
    at = (START + timedelta(days=day)).isoformat().replace("+00:00", "Z")
    desk.session(f"day{day}", *({**record, "timestamp": at} for record in records))


def themes(desk: Desk) -> list[str]:
    waiting = queue.list_pending(desk.place)[0]
    return [proposal.record.title for proposal in waiting if proposal.record.primitive == "theme"]


def test_ground_several_sessions_worked_on_waits_as_one_theme_however_often_it_is_synced(desk: Desk) -> None:
    def now() -> datetime:
        return START + timedelta(days=9)

    work(desk, 0, "Round refunds of invoices half up.", "services/billing/refund.py")
    work(desk, 1, "Let refunds of partial invoices pass.", "services/billing/refund.py")
    desk.sync(clock=now)
    assert themes(desk) == []
    work(desk, 3, "Let invoices show refunds.", "services/billing/invoice.py")
    desk.sync(clock=now)
    assert themes(desk) == ["Work on invoices and refunds in `services/billing`"]
    work(desk, 4, "Refunds of invoices need a reason.", "services/billing/refund.py")
    desk.sync(clock=now)
    assert themes(desk) == ["Work on invoices and refunds in `services/billing`"]


def test_work_of_long_ago_is_no_theme(desk: Desk) -> None:
    for day in (0, 1, 3):
        work(desk, day, "Let refunds of invoices pass.", "services/billing/refund.py")
    desk.sync(clock=lambda: START + timedelta(days=200))
    assert themes(desk) == []
