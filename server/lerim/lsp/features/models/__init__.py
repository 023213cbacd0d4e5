"""Choosing a model and testing it."""
