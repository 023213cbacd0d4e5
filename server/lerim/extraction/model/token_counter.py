"""Counts the tokens of turns. Counts are kept in the catalog by digest, so that each text is counted only once."""

from __future__ import annotations

from lerim.models import tokens
from lerim.sessions import Catalog, digest_text


class TokenCounter:
    """A callable that returns the number of tokens in a text. May only be used in the catalog's thread."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._new_counts: dict[int, int] = {}

    def __call__(self, text: str) -> int:
        """Raises SettingsError if tokens cannot be counted, CatalogError if the catalog fails."""
        text_digest = digest_text(text)
        token_count = self._new_counts.get(text_digest)
        if token_count is None:
            token_count = self._catalog.find_token_count(text_digest)
        if token_count is None:
            token_count = self._new_counts[text_digest] = tokens.count_tokens(text)
        return token_count

    def store(self) -> None:
        """Stores the counts made since the last call. Raises CatalogError."""
        if self._new_counts:
            self._catalog.keep_token_counts(self._new_counts)
            self._new_counts = {}
