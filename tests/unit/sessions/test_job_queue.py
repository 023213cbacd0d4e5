"""The queue of work: nothing is lost when a process dies, nothing is tried for ever, and nothing dies untried."""

from pathlib import Path

import pytest

from catalog_dump import index_all
from claude_lines import encoded, prompt
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog


class Clock:
    """Seconds that pass when a test says so."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def root(tmp_path):
    return tmp_path / "claude"


@pytest.fixture
def catalog(tmp_path, clock, root):
    """A catalog that knows an old and a new session of the project `app`, each waiting."""
    with Catalog.open(Home(tmp_path / "home"), clock) as opened:
        for name, year in (("old", 2024), ("new", 2025)):
            say(root, name, "Hello", year)
        index_all(opened, root)
        yield opened


def say(root: Path, name: str, words: str, year: int = 2025) -> None:
    path = root / "projects" / "-home-ana-app" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(encoded(prompt(words, timestamp=f"{year}-01-01T00:00:00Z")))


def claimed(catalog, **options):
    job = catalog.claim_job("app", **options)
    assert job is not None
    return job


def only(catalog):
    """Ends the newest session's job, so that one waits."""
    catalog.finish_job(claimed(catalog), b"", b"")


def test_the_newest_session_comes_first_and_each_once_and_one_that_killed_its_process_comes_last(catalog):
    assert claimed(catalog).transcript.session_id == "new"
    catalog.recover_jobs("app")
    assert [claimed(catalog).transcript.session_id for _ in range(2)] == ["old", "new"]
    assert catalog.claim_job("app") is None
    assert catalog.claim_job("other") is None


def test_a_job_carries_on_from_where_the_last_one_ended(catalog, root):
    job = claimed(catalog)
    assert (job.resume, job.state) == (None, None)
    catalog.finish_job(job, b"offset 7", b"\x00open")
    say(root, "new", "More")
    index_all(catalog, root)
    again = claimed(catalog)
    assert (again.transcript.session_id, again.resume, again.state) == ("new", b"offset 7", b"\x00open")


def test_what_arrives_while_a_job_runs_makes_it_run_once_more_and_one_more_after_its_last_try(catalog, root, clock):
    job = claimed(catalog)
    say(root, "new", "More")
    index_all(catalog, root)
    assert claimed(catalog).transcript.session_id == "old"
    catalog.finish_job(job, b"a", b"b")
    for last in (False, False, True):
        again = claimed(catalog)
        assert again.transcript.session_id == "new"
        if last:
            say(root, "new", "Still more")
            index_all(catalog, root)
        assert not catalog.fail_job(again, "no")
        clock.now += 9999


def test_a_job_that_fails_waits_longer_each_time_and_is_dead_after_three_tries(catalog, clock):
    only(catalog)
    for wait, dead in ((30, False), (60, False), (0, True)):
        assert catalog.fail_job(claimed(catalog), "no luck") is dead
        if wait:
            clock.now += wait - 1
            assert catalog.claim_job("app") is None
            assert catalog.count_due_jobs("app") == 0
            clock.now += 1
    clock.now += 10**9
    assert catalog.claim_job("app") is None
    (row,) = catalog.list_open_jobs("app")
    assert (row.state, row.tries, row.reason, row.next_try) == ("dead", 3, "no luck", None)
    assert catalog.count_jobs_by_state("app") == {"done": 1, "dead": 1}


def test_a_job_without_an_answer_waits_longer_each_time_up_to_a_day_and_a_person_may_ask_at_once(catalog, clock):
    only(catalog)
    waits = []
    for _ in range(13):
        begun = clock.now
        while (job := catalog.claim_job("app")) is None:
            clock.now += 60
            assert clock.now - begun <= 86_400
        waits.append((clock.now - begun) // 60)
        catalog.put_back_job(job, 60.0, last=True)
    assert waits == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440]
    clock.now += 1
    catalog.finish_job(claimed(catalog, started=clock.now), b"", b"")


def test_a_dead_job_lives_again_when_its_session_grows_or_a_person_asks(catalog, root, clock):
    def kill():
        for _ in range(3):
            catalog.fail_job(claimed(catalog), "no")
            clock.now += 9999

    only(catalog)
    kill()
    say(root, "old", "More", 2024)
    index_all(catalog, root)
    kill()
    assert catalog.retry_jobs("app") == 1
    assert claimed(catalog).tries == 0


def test_a_session_still_being_written_waits_for_its_time_or_for_a_person(catalog, clock):
    only(catalog)
    catalog.finish_job(claimed(catalog), b"a", b"b", again_in=900)
    assert catalog.claim_job("app") is None
    clock.now += 1
    job = claimed(catalog, started=clock.now)
    catalog.finish_job(job, b"a", b"b", again_in=900)
    assert catalog.claim_job("app", started=clock.now) is None
    clock.now += 900
    assert claimed(catalog).resume == b"a"


def test_a_failed_job_keeps_its_back_off_and_its_progress_and_a_person_may_have_it_tried_once_at_once(
    catalog, root, clock
):
    only(catalog)
    job = claimed(catalog)
    catalog.keep_job_progress(job, b"there", b"so far", 3)
    catalog.fail_job(job, "no answer")
    say(root, "old", "More", 2024)
    index_all(catalog, root)
    assert catalog.claim_job("app") is None
    clock.now += 1
    started = clock.now
    again = claimed(catalog, started=started)
    assert (again.resume, again.state, again.redactions, again.tries) == (b"there", b"so far", 3, 1)
    catalog.fail_job(again, "no")
    assert catalog.claim_job("app", started=started) is None
    clock.now += 60
    assert catalog.claim_job("app", began=started) is None  # due again within the same run, it waits for the next
    assert claimed(catalog, began=clock.now)


def test_the_job_of_a_deleted_transcript_waits_until_it_is_back(catalog, root):
    only(catalog)
    path = next(root.rglob("old.jsonl"))
    content = path.read_bytes()
    path.unlink()
    index_all(catalog, root)
    assert catalog.claim_job("app") is None
    assert catalog.count_jobs_by_state("app") == {"done": 1}
    path.write_bytes(content)
    index_all(catalog, root)
    assert claimed(catalog).transcript.session_id == "old"


def test_what_the_rules_have_read_waits_for_a_model_with_a_position_of_its_own(catalog, root):
    assert catalog.claim_job("app", kind="model") is None
    catalog.finish_job(claimed(catalog), b"r1", b"s1")
    job = claimed(catalog, kind="model")
    assert (job.resume, job.state, catalog.load_other_state(job, "extract")) == (None, None, b"s1")
    catalog.finish_job(job, b"r2", b"s2")
    assert catalog.claim_job("app", kind="model") is None
    assert catalog.load_other_state(job, "model") == b"s2"
    assert catalog.count_jobs_by_state("app") == {"pending": 1, "done": 1}
    assert catalog.count_jobs_by_state("app", "model") == {"done": 1}
    say(root, "new", "More")
    index_all(catalog, root)
    catalog.finish_job(claimed(catalog), b"", b"")
    again = claimed(catalog, kind="model")
    assert (again.resume, again.state) == (b"r2", b"s2")
