-- What a team may see and change. A team is a pair of roles, made by `lerim org init`; a user of the database belongs
-- to a team by being a member of one of them. No setting of a connection says which team it is for: it could be forged.

CREATE FUNCTION readable_teams() RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT coalesce(array_agg(substring(rolname FROM '^lerim_team_(.*)_reader$')), '{}') FROM pg_roles
    WHERE rolname LIKE 'lerim\_team\_%\_reader' AND pg_has_role(current_user, oid, 'USAGE')
$$;

CREATE FUNCTION writable_teams() RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT coalesce(array_agg(substring(rolname FROM '^lerim_team_(.*)_worker$')), '{}') FROM pg_roles
    WHERE rolname LIKE 'lerim\_team\_%\_worker' AND pg_has_role(current_user, oid, 'USAGE')
$$;

-- One row for each session of a project that was sent to the queue: hashes and positions, never its text.
CREATE TABLE extractions (
    team text NOT NULL,
    key text NOT NULL, -- of the session, its content, the extractor's version, the model and the project
    project text NOT NULL,
    queue text NOT NULL, -- team/host
    session text NOT NULL, -- platform:id
    place_hash text NOT NULL, -- of where the transcript lies on its host
    content_hash text NOT NULL,
    model text NOT NULL, -- '' for none
    bytes bigint NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'running', 'done', 'changed', 'gone', 'failed', 'cancelled', 'quarantined')),
    tries integer NOT NULL DEFAULT 0,
    worker text NOT NULL DEFAULT '',
    problem text NOT NULL DEFAULT '',
    seconds real NOT NULL DEFAULT 0,
    sent_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    PRIMARY KEY (team, key)
);
CREATE INDEX extractions_project ON extractions (team, project, state);

-- What was found, redacted. `outcome` is what reconciling the project made of it.
CREATE TABLE candidates (
    team text NOT NULL,
    key text NOT NULL,
    ordinal integer NOT NULL,
    project text NOT NULL,
    said_at timestamptz NOT NULL,
    candidate jsonb NOT NULL,
    outcome text NOT NULL DEFAULT '' CHECK (outcome IN ('', 'proposed', 'repeated', 'outdated')),
    same_as text NOT NULL DEFAULT '', -- of a repeated one: key#ordinal of the first
    PRIMARY KEY (team, key, ordinal),
    FOREIGN KEY (team, key) REFERENCES extractions ON DELETE CASCADE
);
CREATE INDEX candidates_project ON candidates (team, project, said_at);

-- The answers that a model was paid for, by a hash of the model and the request. Stored before their job is done.
CREATE TABLE answers (
    team text NOT NULL,
    hash text NOT NULL,
    model text NOT NULL,
    answer jsonb NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team, hash)
);

-- One budget and one rate for all workers of a team. Money is in 10^-12 dollars, 0 for no limit.
CREATE TABLE budgets (
    team text PRIMARY KEY,
    dollars_per_day numeric(24, 12) NOT NULL DEFAULT 0,
    calls_per_minute integer NOT NULL DEFAULT 0
);

CREATE TABLE rates (
    team text NOT NULL,
    model text NOT NULL,
    calls_left double precision NOT NULL,
    counted_at timestamptz NOT NULL DEFAULT now(),
    paused_until timestamptz NOT NULL DEFAULT 'epoch',
    PRIMARY KEY (team, model)
);

CREATE TABLE calls (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    team text NOT NULL,
    day date NOT NULL DEFAULT current_date,
    model text NOT NULL,
    key text NOT NULL, -- of the extraction that asked
    dollars numeric(24, 12) NOT NULL, -- the most it may cost, until it is settled
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    settled boolean NOT NULL DEFAULT false,
    asked_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX calls_day ON calls (team, day);

-- A team's worker may not touch another team's workers, and Procrastinate's table does not say whose they are. What a
-- connection says here is believed only for teams that its user belongs to.
ALTER TABLE procrastinate_workers ADD COLUMN team text NOT NULL;
ALTER TABLE procrastinate_workers ALTER COLUMN team SET DEFAULT current_setting('lerim.team', true);

DO $$
DECLARE
    name text;
    team text;
BEGIN
    FOREACH name IN ARRAY ARRAY['extractions', 'candidates', 'answers', 'budgets', 'rates', 'calls',
        'procrastinate_jobs', 'procrastinate_periodic_defers', 'procrastinate_events', 'procrastinate_workers']
    LOOP
        team := CASE name
            WHEN 'procrastinate_jobs' THEN 'split_part(queue_name, ''/'', 1)' -- queues are called team/host
            WHEN 'procrastinate_periodic_defers' THEN 'periodic_id'
            ELSE 'team'
        END;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        CASE name
            WHEN 'procrastinate_events' THEN
                CREATE POLICY own ON procrastinate_events
                    USING (EXISTS (SELECT 1 FROM procrastinate_jobs AS job WHERE job.id = job_id));
            ELSE
                EXECUTE format('CREATE POLICY reads ON %I FOR SELECT USING (%s = ANY ((SELECT readable_teams())::text[]))',
                    name, team);
                EXECUTE format('CREATE POLICY writes ON %I USING (%s = ANY ((SELECT writable_teams())::text[]))',
                    name, team);
        END CASE;
    END LOOP;
END;
$$;
