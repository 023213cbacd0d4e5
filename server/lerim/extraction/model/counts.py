"""Tokens of turns, each text counted once ever: what was counted is kept in the catalog by a digest."""

from __future__ import annotations

from lerim.models import tokens
from lerim.sessions import Catalog, digest_text


class TokenCounter:
    """How many tokens a text has; call it. Belongs to the catalog's thread."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._fresh: dict[int, int] = {}

    def __call__(self, text: str) -> int:
        """Raises SettingsError where tokens cannot be counted, CatalogError."""
        text_digest = digest_text(text)
        known = self._fresh.get(text_digest)
        if known is None:
            known = self._catalog.counted(text_digest)
        if known is None:
            known = self._fresh[text_digest] = tokens.count_tokens(text)
        return known

    def keep(self) -> None:
        """Keeps what was counted since the last time. Raises CatalogError."""
        if self._fresh:
            self._catalog.keep_counted(self._fresh)
            self._fresh = {}
