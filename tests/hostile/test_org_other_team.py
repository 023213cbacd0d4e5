"""What a member of one team can try with SQL of their own against the work of another."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import psycopg
import pytest

from chat_server import Asked, Handler, finds
from hang import HANG
from model_desk import CENTS, model, story
from organisation import Organisation


@pytest.fixture
def hostile(organisation: Organisation) -> Iterator[psycopg.Connection]:
    """A connection of another team's worker, who knows the names of hosts and guesses numbers of jobs."""
    url = organisation.url.replace("platform_worker@", "payments_worker@")
    with psycopg.connect(url, autocommit=True, options="-c search_path=lerim,pg_catalog") as connection:
        yield connection


def test_what_another_team_notifies_aborts_no_job(organisation: Organisation, hostile: psycopg.Connection) -> None:
    story(organisation.desk, "s1")
    asked, is_later_asked = threading.Event(), threading.Event()

    def answer_late(handler: Handler, question: Asked) -> None:
        asked.set()
        assert is_later_asked.wait(HANG)
        finds(CENTS)(handler, question)

    def answer_later_session(handler: Handler, question: Asked) -> None:
        is_later_asked.set()
        finds(CENTS)(handler, question)

    with model(organisation.desk, answer_late, answer_later_session) as service:
        organisation.send()
        worker = organisation.start_worker("--concurrency", "2")
        assert asked.wait(HANG)
        jobs = [number for (number,) in organisation.rows("SELECT id FROM procrastinate_jobs")]
        aborts = [json.dumps({"type": "abort_job_requested", "job_id": one}) for one in jobs]
        for channel in (f"procrastinate_queue_v1#platform/{socket.gethostname()}", "procrastinate_any_queue_v1"):
            for payload in (*aborts, "no JSON"):
                hostile.execute("SELECT pg_notify(%s, %s)", (channel, payload))
        story(organisation.desk, "s2")
        organisation.send()
        assert worker.wait(HANG) == 0
        assert len(service.asked) == 2
    assert organisation.status()["states"] == {"done": 2}
    assert organisation.rows("SELECT count(*) FROM procrastinate_jobs") == [(0,)]
