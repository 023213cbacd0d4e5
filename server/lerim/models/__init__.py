"""Choosing and calling a language model. Nothing here is imported before one is configured and needed."""
