"""Deterministic facts and signals from turns; no model."""
