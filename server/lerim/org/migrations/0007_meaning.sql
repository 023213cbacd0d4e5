-- What the texts of memories mean, as vectors of length 1: up to two for each memory, of its title and of its body. Applied
-- where the database has pgvector. It may be in another schema than ours, so that only this file names its type and
-- its operator.
DO $$
DECLARE
    home text := (SELECT nspname FROM pg_extension JOIN pg_namespace AS one ON one.oid = extnamespace
        WHERE extname = 'vector');
BEGIN
    EXECUTE format('CREATE TABLE memory_vectors (
        team text NOT NULL,
        project text NOT NULL,
        id text NOT NULL,
        part text NOT NULL CHECK (part IN (''title'', ''body'')),
        model text NOT NULL, -- the hash of the sentence model
        meaning %I.vector(384) NOT NULL,
        PRIMARY KEY (team, project, id, part),
        FOREIGN KEY (team, project, id) REFERENCES memories ON DELETE CASCADE
    )', home);
    -- The cosine of the angle between a stored vector and a question: from -1 to 1.
    EXECUTE format('CREATE FUNCTION nearness(meaning %1$I.vector, question real[]) RETURNS double precision
        LANGUAGE sql IMMUTABLE PARALLEL SAFE
        AS ''SELECT -(meaning OPERATOR(%1$I.<#>) question::%1$I.vector)''', home);
END;
$$;

ALTER TABLE memory_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON memory_vectors FOR SELECT USING (team = ANY ((SELECT readable_teams())::text[]));
CREATE POLICY writes ON memory_vectors USING (team = ANY ((SELECT writable_teams())::text[]));

-- A text that has changed no longer means what its vectors say, whichever version of Lerim stored it.
CREATE FUNCTION drop_vectors() RETURNS trigger LANGUAGE plpgsql SET search_path = lerim, pg_catalog AS $$
BEGIN
    DELETE FROM memory_vectors WHERE team = new.team AND project = new.project AND id = new.id;
    RETURN NULL;
END;
$$;
CREATE TRIGGER text_changed AFTER UPDATE ON memories FOR EACH ROW
    WHEN ((old.title, old.body) IS DISTINCT FROM (new.title, new.body)) EXECUTE FUNCTION drop_vectors();
