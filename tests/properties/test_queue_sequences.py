"""Whatever workers, kills, clocks and people do to the queue, nothing is lost and nothing dies that did not run."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from catalog_dump import ByName, enqueue
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Transcript
from lerim.sessions.queue.jobs import MOST_TRIES, QueueJob
from lerim.sessions.readers import read_session
from lerim.sessions.tables.column_values import EXTRACT_JOB
from long import at_most

PLACES = [
    Transcript("claude" if number % 2 else "codex", Path(f"/s/{number}"), str(number), 1, 1, 1) for number in range(4)
]
STATES = {"pending", "running", "done", "failed", "dead", "skipped"}


class Queue(RuleBasedStateMachine):
    """Jobs of one project. `failures` are the tries of each place that ran and failed since it last began anew; `held`
    are claims that some worker still believes to have, also ones it lost long ago."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = 1_800_000_000.0
        self.catalog = Catalog.open(Home(Path(self.folder.name)), lambda: self.now)
        self.held: list[QueueJob] = []
        self.live: dict[str, QueueJob] = {}
        self.failures: dict[str, int] = {}

    def teardown(self) -> None:
        self.catalog.close()
        self.folder.cleanup()

    @initialize()
    def transcripts(self) -> None:
        list(self.catalog.index_transcripts([(one, read_session(one)) for one in PLACES], ByName()))

    def states(self) -> dict[str, str]:
        rows = self.catalog.db.execute(
            "SELECT place, state FROM jobs JOIN transcripts t ON t.id = transcript WHERE kind = 'extract'"
        )
        return dict(rows.fetchall())

    def positions(self) -> list[object]:
        return self.catalog.db.execute("SELECT transcript, resume FROM positions ORDER BY transcript").fetchall()

    @rule(one=st.sampled_from(PLACES))
    def grow(self, one: Transcript) -> None:
        before = self.states().get(one.place)
        enqueue(self.catalog, EXTRACT_JOB, one.place, "app")
        if before in (None, "dead", "skipped"):
            self.failures[one.place] = 0
        assert self.states()[one.place] in ("pending", "running", "failed")

    @rule(explicit=st.booleans())
    def claim(self, explicit: bool) -> None:
        job = self.catalog.claim_job("app", started=self.now if explicit else None)
        if job is not None:
            assert job.transcript.place not in self.live, "two workers have one job"
            assert job.tries < MOST_TRIES
            self.held.append(job)
            self.live[job.transcript.place] = job

    @precondition(lambda self: self.held)
    @rule(data=st.data(), how=st.sampled_from(["done", "later", "fail", "put back"]))
    def end(self, data: st.DataObject, how: str) -> None:
        job = data.draw(st.sampled_from(self.held))
        place = job.transcript.place
        current = self.live.get(place) is job
        before, positions = self.states(), self.positions()
        dead = False
        self.catalog.keep_job_progress(job, b"there", b"", 0)
        assert current or self.positions() == positions, "a claim that was lost keeps no position"
        if how == "fail":
            dead = self.catalog.fail_job(job, "no")
        elif how == "put back":
            self.catalog.put_back_job(job)
        else:
            self.catalog.finish_job(job, b"end", b"", 900 if how == "later" else None)
        if not current:
            assert self.states() == before, "a claim that was lost changes nothing"
            assert not dead
            return
        del self.live[place]
        if how == "fail":
            self.failures[place] += 1
        elif how != "put back":
            self.failures[place] = 0
        assert dead == (self.states()[place] == "dead")

    @rule()
    def kill(self) -> None:
        """The process that held them all is gone; the next holder of the lock puts them back."""
        assert self.catalog.recover_jobs("app") == len(self.live)
        self.live.clear()
        assert "running" not in self.states().values()

    @rule(seconds=st.sampled_from([1, 31, 4000]))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    def chosen(self, number: int) -> list[int]:
        ids = [row.id for row in self.catalog.list_open_jobs("app")]
        return [ids[number % len(ids)]] if number and ids else []

    @rule(number=st.integers(0, 4))
    def retry(self, number: int) -> None:
        before = self.states()
        jobs = self.chosen(number)
        changed = self.catalog.retry_jobs("app", jobs)
        after = self.states()
        if jobs:
            assert changed <= 1
        for place, state in after.items():
            if state == "pending" and before[place] in ("dead", "skipped", "failed"):
                self.failures[place] = 0
        if not jobs:
            assert not {"dead", "failed"} & set(after.values())
        else:  # a waiting one that is retried has all its tries again
            [place] = [row.place for row in self.catalog.list_open_jobs("app") if row.id == jobs[0]]
            if changed:
                self.failures[place] = 0

    @rule(number=st.integers(0, 4))
    def skip(self, number: int) -> None:
        self.catalog.skip_jobs("app", self.chosen(number))
        if not number:
            assert "dead" not in self.states().values()

    @rule(removed=st.sets(st.sampled_from(["claude", "codex"])))
    def hold(self, removed: set[str]) -> None:
        before = self.states()
        self.catalog.hold_removed_platforms(removed)  # type: ignore[arg-type]
        for one in PLACES:
            if one.platform in removed:
                assert self.states().get(one.place) in (None, "running", "done", "skipped")
            elif before.get(one.place) == "skipped" and self.states()[one.place] == "pending":
                self.failures[one.place] = 0

    @invariant()
    def nothing_is_lost_and_nothing_dies_untried(self) -> None:
        states = self.states()
        assert set(states) == set(self.failures), "every session that was queued is still there"
        assert set(states.values()) <= STATES
        assert {place for place, state in states.items() if state == "running"} == set(self.live)
        for place, state in states.items():
            if state == "dead":
                assert self.failures[place] >= MOST_TRIES
        for row in self.catalog.list_open_jobs("app"):
            assert row.tries <= self.failures[row.place]
            assert (row.next_try is not None) == (row.state in ("pending", "failed"))


TestQueue = Queue.TestCase
TestQueue.settings = settings(max_examples=at_most(60, few=25), stateful_step_count=30)
