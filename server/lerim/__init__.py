"""Lerim: a memory for developers who work with coding agents."""

__version__ = "0.1.0"
