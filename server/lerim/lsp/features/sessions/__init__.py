"""The Sessions view, its search and the transcript viewer."""
