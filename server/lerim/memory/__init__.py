"""Memories: records, files, derived index, search, reconciling."""
