-- Foreign keys know no policies: without this, a row of one team could name a job or a worker of another, learn from
-- it whether there is one with this number, and keep it from being removed.
ALTER POLICY writes ON procrastinate_jobs WITH CHECK (
    split_part(queue_name, '/', 1) = ANY ((SELECT writable_teams())::text[])
    AND starts_with(lock, split_part(queue_name, '/', 1) || ':') IS NOT FALSE
    AND starts_with(queueing_lock, split_part(queue_name, '/', 1) || ':') IS NOT FALSE
    AND (worker_id IS NULL OR EXISTS (SELECT 1 FROM procrastinate_workers AS worker WHERE worker.id = worker_id))
);
ALTER POLICY writes ON procrastinate_periodic_defers WITH CHECK (
    periodic_id = ANY ((SELECT writable_teams())::text[])
    AND (job_id IS NULL OR EXISTS (SELECT 1 FROM procrastinate_jobs AS job WHERE job.id = job_id))
);
