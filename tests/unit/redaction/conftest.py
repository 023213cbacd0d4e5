"""A desk for what is redacted in whole syncs."""

from __future__ import annotations
