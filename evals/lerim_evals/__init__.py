"""Measures Lerim on labelled data: extraction, search, the comparison of claims, and what a model is shown.

A developer's tool, run by `make eval`. The program does not import it, and neither the wheel nor the .vsix holds it.
"""
