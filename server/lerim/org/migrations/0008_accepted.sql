-- Whether a committed memory came of a candidate: false until somebody shared there. It does not wait for review then.
ALTER TABLE candidates ADD COLUMN accepted boolean NOT NULL DEFAULT false;
