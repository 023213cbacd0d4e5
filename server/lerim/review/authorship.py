"""Tells which sentences of a memory were written by Lerim, according to the ledger, and which by a person."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lerim import files
from lerim.memory import IsWrittenByLerim, never_written_by_lerim, split_sentences
from lerim.review.ledger import open_ledger


def make_lerim_sentence_test(
    private: Path, moves: Sequence[tuple[str, str]], memory_id: str, text_hash: str
) -> IsWrittenByLerim:
    """Return a function that tells whether Lerim wrote a sentence of this memory, whose file's text has this hash.

    If no person edited the text, Lerim wrote all sentences; otherwise, it wrote those of the claims that were accepted
    into the memory. Raises MemoryError_ if the ledger cannot be used.
    """
    if files.is_absent(private / "review.sqlite3"):
        return never_written_by_lerim
    with open_ledger(private, moves) as ledger:
        if ledger.is_ours(text_hash):
            return lambda _: True
        accepted_claims = [
            ledger.load_proposed(one.id) for one in ledger.claims_about([memory_id]) if one.state == "accepted"
        ]
    texts = [
        text for claim in accepted_claims if claim is not None for text in (claim.title, f"{claim.title}.", claim.body)
    ]
    lerim_sentences = {sentence for text in texts for sentence in split_sentences(text)}
    return lerim_sentences.__contains__
