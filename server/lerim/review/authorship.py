"""Who wrote the sentences of a memory's text: Lerim, as the ledger knows, or else a person."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lerim import files
from lerim.memory import IsWrittenByLerim, never_written_by_lerim, split_sentences
from lerim.review.ledger import open_ledger


def make_our_sentence_test(
    private: Path, moves: Sequence[tuple[str, str]], memory_id: str, text_hash: str
) -> IsWrittenByLerim:
    """Which sentences of a memory's text (of this hash) are Lerim's: all where no person wrote a word of it, else those
    of the claims that were accepted into it. Raises MemoryError_ where the ledger cannot be used."""
    if files.is_absent(private / "review.sqlite3"):
        return never_written_by_lerim
    with open_ledger(private, moves) as ledger:
        if ledger.is_ours(text_hash):
            return lambda _: True
        told = [ledger.load_proposed(one.id) for one in ledger.claims("accepted") if one.memory == memory_id]
    texts = [text for claim in told if claim is not None for text in (claim.title, f"{claim.title}.", claim.body)]
    said = {sentence for text in texts for sentence in split_sentences(text)}
    return said.__contains__
