-- The calls of an extraction that are not answered yet, which each further try of it looks for.
CREATE INDEX calls_open ON calls (team, key) WHERE NOT settled;
