"""Takes over the jobs of workers that died. It needs no lock: two that do it at once take different jobs."""

from __future__ import annotations

import psycopg

from lerim.org.database import TeamDatabase

_STALLED = """
SELECT job.id FROM procrastinate_jobs AS job LEFT JOIN procrastinate_workers AS worker ON worker.id = job.worker_id
WHERE job.status = 'doing' AND split_part(job.queue_name, '/', 1) = %(team)s
    AND (worker.id IS NULL OR worker.last_heartbeat < now() - make_interval(secs => %(seconds)s))
ORDER BY job.id LIMIT 1 FOR UPDATE OF job SKIP LOCKED
"""

_SHOW_LIFE = """
UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id IN (
    SELECT worker_id FROM procrastinate_jobs
    WHERE status = 'doing' AND worker_id IS NOT NULL AND args->>'key' = ANY(%s) AND task_name = 'extract')
"""


def show_life(database: TeamDatabase, keys: list[str]) -> None:
    """Say that whoever holds the jobs of these extractions is alive: they are at hand in this process. Raises
    OrgError."""
    if keys:
        database.execute(_SHOW_LIFE, (keys,))


def rescue_stalled_jobs(database: TeamDatabase, stalled_seconds: float) -> int:
    """Put back every job whose worker gave no sign of life for so long. Return how many. Only the database's clock
    counts. Raises OrgError."""
    count = 0
    with database.open() as connection:
        while _rescue_one(connection, database.team, stalled_seconds):
            count += 1
    return count


def _rescue_one(connection: psycopg.Connection, team: str, stalled_seconds: float) -> bool:
    """Put one stalled job back, or end it if the same job waits already. Return False if there is none."""
    with connection.transaction():
        row = connection.execute(_STALLED, {"team": team, "seconds": stalled_seconds}).fetchone()
        if row is None:
            return False
        try:
            with connection.transaction():
                connection.execute("SELECT procrastinate_retry_job_v2(%s, now(), NULL, NULL, NULL)", row)
        except psycopg.errors.UniqueViolation:
            connection.execute("SELECT procrastinate_finish_job_v1(%s, 'failed', true)", row)
    return True
