"""Words that a person selected in a transcript: finds the quote as its turn has it, and the files it may be about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from lerim.extraction.facts import find_paths
from lerim.extraction.quote_check import verify_quote
from lerim.extraction.signals import Quote
from lerim.memory import Evidence, Speaker
from lerim.sessions import RedactedTurn, SummaryTurn

MAX_FILES = 3
_MARKUP = "`*_"


def find_selected_quote(turn: RedactedTurn, words: str) -> Evidence | None:
    """Returns the words as the turn has them, in at most 200 characters, and who said them; None if they are not in it.

    The words come from a page, which shows the text without its markup and with other line breaks, so only letters
    and digits are compared. If the selection extends beyond the turn, the longest of its lines that is in the turn
    is quoted.
    """
    lines = sorted((line for line in words.splitlines() if line.strip()), key=len, reverse=True)
    for part in (words, *lines):
        for who, said in _split_by_speaker(turn):
            if (quote := verify_quote(Quote(_find_part(part, said), turn.turn, who), said)) != "":
                return Evidence(quote, turn.turn, who)
    return None


def list_exchange_files(
    turns: Sequence[SummaryTurn], turn: str, words: str, locate: Callable[[str, str], str]
) -> tuple[str, ...]:
    """Returns up to `MAX_FILES` files: first those that the words name, then those that were changed in the exchange
    of the turn, then those that the exchange names. An exchange is a prompt and everything up to the next one.
    `turns` are the session's turns. `locate` maps a path as written, and the folder in which it was written, to a
    path in the repository, or to ""."""
    at = next((position for position, one in enumerate(turns) if one.id == turn), None)
    if at is None:
        return ()
    prompts = [position for position, one in enumerate(turns) if one.role == "user" and one.kind == "prompt"]
    first = max((position for position in prompts if position <= at), default=0)
    end = min((position for position in prompts if position > at), default=len(turns))
    exchange = turns[first:end]
    written = [(path, turns[at].cwd) for path in find_paths(words)]
    written += [
        (path, one.cwd)
        for one in exchange
        for call in one.calls
        if call.changes_files and call.status == "ok"
        for path in call.find_named_paths(one.paths)
    ]
    written += [(path, one.cwd) for one in exchange for path in find_paths(one.text)]
    found = dict.fromkeys(path for name, cwd in written if (path := locate(name, cwd)))
    return tuple(found)[:MAX_FILES]


def _split_by_speaker(turn: RedactedTurn) -> Iterator[tuple[Speaker, str]]:
    yield turn.role, turn.text
    for call in turn.calls:
        for answer in call.answers:
            yield "user", answer.answer
            yield "assistant", answer.question
        yield "tool", call.text


def _find_part(words: str, said: str) -> str:
    """Returns the part of `said` that has the letters and digits of `words`, or "". Markup at its ends is included
    where the part would otherwise have only one mark of a pair."""
    if words.strip() in said:
        return words.strip()
    wanted = "".join(filter(str.isalnum, words))
    places = [at for at, char in enumerate(said) if char.isalnum()]
    at = "".join(said[place] for place in places).find(wanted) if wanted else -1
    if at < 0:
        return ""
    start, end = places[at], places[at + len(wanted) - 1] + 1
    wide_start = len(said[:start].rstrip(_MARKUP))
    wide_end = len(said) - len(said[end:].lstrip(_MARKUP))
    for lo, hi in product((start, wide_start), (end, wide_end)):
        if all(said[lo:hi].count(mark) % 2 == 0 for mark in _MARKUP):
            start, end = lo, hi
            break
    selected_end = words.rstrip()[-1:]
    after = said[end : end + 1]
    return said[start : end + (after == selected_end and not after.isalnum())]
