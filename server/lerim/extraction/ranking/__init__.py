"""Finds what is worth remembering without a model of language: passages, their features, and a small learned ranker."""
