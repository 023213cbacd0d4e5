-- The words that a text is found by, with the marks of code as spaces, so that the parts of a path or a dotted name are
-- found: stemmed as English, which joins the forms of a word in other languages too, since a question is stemmed alike;
-- and as they are, for words that English leaves out. Bounded, because a tsvector is.
CREATE FUNCTION find_words(given text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector('pg_catalog.english', translate(left(given, 40000), './#_:', '     '))
        || to_tsvector('pg_catalog.simple', translate(left(given, 40000), './#_:', '     '))
$$;

-- The memories that repositories have reviewed and committed, redacted. Their files in git are what counts.
CREATE TABLE memories (
    team text NOT NULL,
    project text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL, -- decision, question, theme, or the kind of a learning
    title text NOT NULL,
    body text NOT NULL,
    places text NOT NULL, -- the references, a line each
    commit text NOT NULL, -- that was shared
    approved_in text NOT NULL, -- the commit that added the file, '' if git does not say
    approved_by text NOT NULL, -- its author
    approved_at timestamptz, -- when it was written
    words tsvector NOT NULL GENERATED ALWAYS AS (
        setweight(find_words(title), 'A') || setweight(find_words(places), 'B') || setweight(find_words(body), 'C')
    ) STORED,
    PRIMARY KEY (team, project, id)
);
CREATE INDEX memories_words ON memories USING gin (words);

ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON memories FOR SELECT USING (team = ANY ((SELECT readable_teams())::text[]));
CREATE POLICY writes ON memories USING (team = ANY ((SELECT writable_teams())::text[]));
