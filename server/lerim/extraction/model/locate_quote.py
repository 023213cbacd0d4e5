"""Finds a model's quote in what the model was shown, verbatim except for spaces, quotation marks and dashes, and checks
whether the exact parts of a model's words (code, numbers, paths, names) occur in a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lerim.extraction.transcript import THOUGHT, ShownTurn
from lerim.memory import Speaker
from lerim.patterns import compile_later
from lerim.redaction import HIDDEN_CHARACTERS

MIN_QUOTE_CHARS = 8  # minimum letters and digits of a quote
MAX_SEARCHED_CHARS = 2_000  # characters searched of a model's quote
MAX_WHOLE_PIECE_CHARS = 80
"""A quote shorter than `MIN_QUOTE_CHARS` is accepted only if it is a whole piece of at most this many characters."""
_EDGE_CHARACTERS = " .,!\"'"
_SPEAKERS: tuple[Speaker, ...] = ("user", "assistant", "tool", "web")
_OMISSION = compile_later(r"\[redacted:[a-z-]{1,30}\]|\[…[^\]\n]{0,60}…\]|…|\.\.\.(?=\s|$)|(?<=\s)\.\.\.")
_ESCAPED_CHARACTER = compile_later(r"⟨U\+[0-9A-F]{4,6}⟩")
_EQUIVALENT_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "⟦": "[[",
        "⁅": "[",
        "›": '"',
    }
)
_HARD = compile_later(r"`[^`\n]{1,120}`|[\w@~][\w./@#+-]*")
_EXACT = compile_later(r"\d|[/_#@]|\w\.\w|[a-z][A-Z]")


@dataclass(frozen=True, slots=True)
class FoundQuote:
    """A located quote: its turn, its speaker, and its text verbatim from the turn."""

    turn: ShownTurn
    who: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class MissingQuote:
    """The quote was not found, or was found in several turns; `why` is for the report."""

    why: str


def locate_quote(quote: str, number: int, turns: Sequence[ShownTurn]) -> FoundQuote | MissingQuote:
    """Looks up a quote in the turn with this number, then in all turns, where it must occur in only one.

    The model may have copied a label of the rendering with the quote. A very short quote is enough if it is
    everything the person said in that place ("use MIT").
    """
    named_turn = next((turn for turn in turns if turn.number == number), None)
    found = _find_in_turns(quote, named_turn, turns)
    if isinstance(found, MissingQuote) and named_turn is not None and (bare := _without_label(quote, named_turn)):
        again = _find_in_turns(bare, named_turn, turns)
        return again if isinstance(again, FoundQuote) else found
    return found


def _find_in_turns(quote: str, named_turn: ShownTurn | None, turns: Sequence[ShownTurn]) -> FoundQuote | MissingQuote:
    wanted = _normalize_quote(quote)
    if not wanted:
        whole = _match_whole_turn(quote, named_turn) if named_turn is not None else None
        return whole or MissingQuote("the quote is too short to show anything")
    if named_turn is not None and (found := _find_in_turn(wanted, named_turn)) is not None:
        return found
    places = [found for turn in turns if turn is not named_turn and (found := _find_in_turn(wanted, turn)) is not None]
    if len(places) == 1:
        return places[0]
    return MissingQuote(f"the quote is in {len(places)} turns" if places else "the quote is in no turn")


def is_overlapping(one: str, two: str) -> bool:
    """Returns whether one of two quotes contains the other."""
    a, b = fold_text(one)[0].strip(), fold_text(two)[0].strip()
    return bool(a) and bool(b) and (a in b or b in a)


def fold_text(text: str) -> tuple[str, list[int]]:
    """Returns the text normalized for comparison, and for each of its characters the offset in the original text,
    followed by the offset of the end."""
    out: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if char.isspace():
            if not out or out[-1] != " ":
                out.append(" ")
                places.append(at)
        elif not HIDDEN_CHARACTERS.match(char):
            for same in char.translate(_EQUIVALENT_CHARACTERS).lower():
                out.append(same)
                places.append(at)
    return "".join(out), [*places, len(text)]


def _fold_without_offsets(text: str) -> str:
    seen = HIDDEN_CHARACTERS.sub(lambda match: match.group() if match.group().isspace() else "", text)
    return " ".join(seen.split()).translate(_EQUIVALENT_CHARACTERS).lower()


def _normalize_quote(quote: str) -> str:
    """Returns the longest part of a quote between cuts, folded, or "" if it is too short."""
    parts = (
        fold_text(_ESCAPED_CHARACTER.sub("", part))[0].strip(" \"'")
        for part in _OMISSION.split(quote[:MAX_SEARCHED_CHARS])
    )
    longest = max(parts, key=len, default="")
    return longest if sum(map(str.isalnum, longest)) >= MIN_QUOTE_CHARS else ""


def _without_label(quote: str, turn: ShownTurn) -> str:
    """Returns the text after the label of the turn or of one of its pieces, or "" if the quote does not begin with a
    label."""
    text = quote[:MAX_SEARCHED_CHARS].lstrip(" \t\n»›")
    heads = (f"{piece.head}:" for piece in turn.pieces if piece.head)
    for label in (f"[{turn.number}] {turn.role}:", f"{turn.role}:", *heads):
        if text.lower().startswith(label.lower()):
            return text[len(label) :].strip()
    return ""


def _match_whole_turn(quote: str, turn: ShownTurn) -> FoundQuote | None:
    wanted = fold_text(quote[:MAX_WHOLE_PIECE_CHARS])[0].strip(_EDGE_CHARACTERS)
    for piece in turn.pieces if any(map(str.isalnum, wanted)) else ():
        if piece.who != "user" or len(piece.text) > MAX_WHOLE_PIECE_CHARS:
            continue
        folded, places = fold_text(piece.text)
        if folded.strip(_EDGE_CHARACTERS) == wanted:
            at = folded.find(wanted)
            return FoundQuote(turn, "user", piece.text[places[at] : places[at + len(wanted) - 1] + 1])
    return None


def _find_in_turn(wanted: str, turn: ShownTurn) -> FoundQuote | None:
    for who in _SPEAKERS:
        for piece in turn.pieces:
            if piece.who != who or piece.head == THOUGHT:
                continue
            if wanted not in _fold_without_offsets(piece.text):
                continue
            folded, places = fold_text(piece.text)
            at = folded.find(wanted)
            if at >= 0:
                last = places[at + len(wanted) - 1]
                return FoundQuote(turn, who, piece.text[places[at] : last + 1])
    return None


def has_exact_parts(sentence: str, text: str) -> bool:
    """Returns whether all code, numbers, paths and names of a sentence occur in a text, which must be in lower case."""
    for match in _HARD.finditer(sentence):
        word = match.group().strip("`").lower().rstrip(".-/")
        if (match.group().startswith("`") or _EXACT.search(match.group())) and not _has(text, word):
            return False
    return True


def _has(low: str, word: str) -> bool:
    """Returns whether the text contains the word. A number must be a whole one: 5 is not in 15 or in 1.5."""
    before = r"(?<!\d)(?<!\d[.,])" if word[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if word[-1:].isdigit() else ""
    return re.search(before + re.escape(word) + after, low) is not None if before or after else word in low
