-- Who reviews a candidate, by the CODEOWNERS file of its repository: NULL until somebody pulled or shared there.
ALTER TABLE candidates ADD COLUMN owners text[];
