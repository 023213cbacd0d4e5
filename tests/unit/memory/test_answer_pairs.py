"""Forty and more questions with claims that settle them, and with claims that nearly do: written before the rules."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lerim.memory.answers import answers
from lerim.memory.record import MemoryRecord

NOW = datetime(2026, 8, 1, tzinfo=UTC)
QUEUE = "Should we use Redis or Postgres for the job queue?"
PATHS = "Should we use pathlib or os.path in src/app.py?"
INSTALLER = "Which installer do we use, uv or pip?"


def asked(title: str) -> MemoryRecord:
    return MemoryRecord("20260801-question-1", "question", title, NOW, NOW, "manual", 0.8, (), "")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (QUEUE, "Use Postgres, not Redis, for the job queue"),
        (QUEUE, "Use Postgres for the job queue, not Redis"),
        (QUEUE, "Use Postgres instead of Redis for the job queue"),
        (QUEUE, "Decided: Postgres for the job queue"),
        (QUEUE, "No, use Postgres instead of Redis for the job queue"),
        (QUEUE, "And from now on use Postgres instead of Redis for the job queue"),
        ("Undecided: whether to use Redis or Postgres for jobs?", "Use Postgres, not Redis, for jobs"),
        (PATHS, "Use pathlib, not os.path, in src/app.py"),
        (INSTALLER, "Use uv, not pip"),
        (INSTALLER, "Prefer uv over pip"),
        ("Which linter should we run in CI, ruff or flake8?", "Run ruff, not flake8, in CI"),
        ("Do we write tests with pytest or unittest?", "Write tests with pytest instead of unittest"),
        ("Should the CLI print JSON or YAML by default?", "The CLI prints JSON, not YAML, by default"),
        ("Should money be stored as cents or as decimals?", "Store money as cents"),
        ("tabs or spaces?", "Use spaces, not tabs"),
        ("Which database do we use for the job queue?", "Use Postgres for the job queue"),
        ("Which database should the job queue use?", "The job queue uses Postgres"),
        ("What language do we write the exporter in?", "Write the exporter in Rust"),
        ("Which Python version do we use in CI?", "Use Python 3.12 in CI"),
        ("Which license do we use?", "Use Apache-2.0 as the license"),
        ("What is the default page size of `list_runs`?", "The default page size of `list_runs` is 50"),
        ("Where do migrations live?", "Migrations live in `db/migrations`"),
        ("Where should recorded fixtures go?", "Put recorded fixtures in `tests/data`"),
        ("How long do sessions live?", "Sessions live 30 days"),
        ("How many retries should uploads have?", "Retry uploads 3 times"),
        ("How many retries do uploads have?", "Uploads have 3 retries"),
        ("How many workers should the importer start?", "The importer starts 4 workers"),
        ("How often do we rotate signing keys?", "Rotate signing keys every 90 days"),
        ("Do we support Python 3.10?", "Drop support for Python 3.10"),
        ("Do we support Python 3.10?", "Support Python 3.10"),
        ("Do we keep Python 3.10?", "Drop Python 3.10"),
        ("Do we still need the `legacy_import` shim?", "Remove the `legacy_import` shim"),
        ("Does the parser accept CRLF line endings?", "The parser rejects CRLF line endings"),
        ("Open question: do we keep `load` synchronous?", "Make `load` asynchronous"),
        ("Undecided: whether `load` stays synchronous?", "`load` stays synchronous"),
        ("In doubt: whether the cache in src/app.py is thread safe?", "The cache in src/app.py is not thread safe"),
        ("Does A depend on B?", "A depends on B"),
        ("Does the importer use the parser?", "The importer does not use the parser"),
        ("Should we cache responses?", "Do not cache responses"),
        ("Should we use uv?", "Use uv"),
        ("Handle expired tokens in `src/a.py`: put off, still to be done?", "Expired tokens in `src/a.py` are handled"),
        ("Should reports be sent by mail?", "Reports are sent by mail"),
        ("Should the cache use Redis or Memcached?", "Use Redis for the cache"),
        ("How often do backups run?", "Backups run nightly"),
        ("How many times do we retry uploads?", "Retry uploads 5 times"),
        ("Which package manager do we use?", "Use pnpm as the package manager"),
        ("Should we merge or rebase feature branches?", "Rebase, not merge, feature branches"),
        ("How long is a token valid?", "A token is valid for 15 minutes"),
    ],
)  # fmt: skip
def test_what_settles_a_question_answers_it(question: str, said: str) -> None:
    assert answers(asked(question), said, "")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (QUEUE, "Use Postgres, not Redis, for the session store"),
        (QUEUE, "Use Postgres, not Redis, for the job queue until the broker is there"),
        (QUEUE, "Use Kafka, not Redis, for the job queue"),
        (QUEUE, "Use neither Redis nor Postgres for the job queue"),
        (QUEUE, "Use Postgres, not Redis, for the job queue of the importer"),
        (QUEUE, "Use Postgres, not Redis"),
        (QUEUE, "Use the job queue for Postgres, not Redis"),
        (PATHS, "Use pathlib, not os.path, in src/cli.py"),
        (INSTALLER, "Use uv, not pip, in the docs image"),
        (INSTALLER, "Use uv, not pip, when a lock file is there"),
        (INSTALLER, "Use poetry, not pip"),
        (INSTALLER, "Use uv 0.5, not 0.4"),
        ("Which linter should we run in CI, ruff or flake8?", "Run mypy, not flake8, in CI"),
        ("Which linter should we run in CI, ruff or flake8?", "Run ruff, not flake8, in the editor"),
        ("Do we write tests with pytest or unittest?", "Write fixtures with pytest instead of unittest"),
        ("tabs or spaces?", "Use spaces, not tabs, in Makefiles"),
        ("Which database do we use for the job queue?", "Use Celery for the job queue"),
        ("Which database do we use for the job queue?", "Use Postgres for the session store"),
        ("Which database do we use for the job queue?", "Use Postgres for the job queue in CI"),
        ("Which database do we use for the job queue?", "Do not use Postgres for the job queue"),
        ("Which database should the job queue use?", "The job queue uses Python"),
        ("Which database should the job queue use?", "Postgres uses the job queue"),
        ("What language do we write the exporter in?", "Write the exporter in Docker"),
        ("Which Python version do we use in CI?", "Use Node 20 in CI"),
        ("Which Python version do we use in CI?", "Use 20 in CI"),
        ("Which Python version do we use in CI?", "Use Python 3.12 in the editor"),
        ("Where do migrations live?", "Old migrations live in `db/old`"),
        ("Where do migrations live?", "Migrations run in `deploy.yml`"),
        ("Where do migrations live?", "Migrations of the audit log live in `audit/`"),
        ("How long do sessions live?", "Sessions have 30 keys"),
        ("How long do sessions live?", "Sessions of admins live 30 days"),
        ("How many retries should uploads have?", "Retry downloads 3 times"),
        ("How many uploads should we retry?", "Retry uploads 3 times"),
        ("How many workers should the importer start?", "The exporter starts 4 workers"),
        ("How many workers should the importer start?", "The workers start 4 importers"),
        ("How often do we rotate signing keys?", "Rotate signing keys after a leak"),
        ("How often do we rotate signing keys?", "Rotating signing keys takes 90 seconds"),
        ("Do we support Python 3.10?", "Drop support for Python 3.9"),
        ("Do we support Python 3.10?", "Drop the Python 3.10 classifier"),
        ("Do we keep Python 3.10?", "Drop Python 3.10 in CI"),
        ("Do we still need the `legacy_import` shim?", "Remove the `legacy_import` tests"),
        ("Should we keep Redis for sessions?", "Drop Redis for the queue"),
        ("Does the parser accept CRLF line endings?", "The lexer rejects CRLF line endings"),
        ("Open question: do we keep `load` synchronous?", "Make `save` asynchronous"),
        ("Does A depend on B?", "B depends on A"),
        ("Does the importer use the parser?", "The parser uses the importer"),
        ("Do admins approve users?", "Users approve admins"),
        ("Is `load` called by `save`?", "`load` calls `save`"),
        ("Is `load` called by `save`?", "`save` is called by `load`"),
        ("Do we read settings from the cache?", "Read settings into the cache"),
        ("Is the parser used by the importer?", "The parser uses the importer"),
        ("Should the cache be shared between workers?", "The cache is not shared between tests"),
        ("Should we use uv?", "Use uv in CI"),
        ("Do we need a lock file?", "Delete the lock file"),
        ("Where do sessions live?", "Sessions live in March"),
        ("Should errors be logged or raised?", "Log errors, not warnings"),
        ("Do we trust the proxy?", "The proxy trusts us"),
        ("Should we test on Windows?", "Test on Windows, not in CI"),
        ("Do we keep logs?", "Drop logs older than 30 days"),
        ("How long does the build take?", "The build takes 4 GB"),
        ("Which format do we use for logs?", "Use JSON for configs"),
        ("Is the cache inside the store?", "The store is inside the cache"),
        ("Should we use Redis or Memcached for the cache?", "Use the cache for Redis, not Memcached"),
        ("How often do we rotate signing keys?", "Do not rotate signing keys every 90 days"),
    ],
)  # fmt: skip
def test_what_only_comes_near_does_not(question: str, said: str) -> None:
    assert not answers(asked(question), said, "")
