-- A lock is unique among the jobs of all teams, so that a job of one team could hold up those of another that has the
-- same: the locks of a team's jobs begin with its name.
ALTER POLICY writes ON procrastinate_jobs WITH CHECK (
    split_part(queue_name, '/', 1) = ANY ((SELECT writable_teams())::text[])
    AND starts_with(lock, split_part(queue_name, '/', 1) || ':') IS NOT FALSE
    AND starts_with(queueing_lock, split_part(queue_name, '/', 1) || ':') IS NOT FALSE
);
