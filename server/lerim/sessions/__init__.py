"""Reading the sessions that coding agents leave on disk."""
