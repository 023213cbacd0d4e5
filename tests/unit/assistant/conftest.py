"""A desk whose person has the key of a model that is no provider's own, as the servers of tests are."""

from __future__ import annotations
