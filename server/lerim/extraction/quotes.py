"""Finding a model's quote in what it was shown, verbatim but for spaces, quotation marks and dashes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lerim.extraction.transcript import THOUGHT, Shown
from lerim.memory.record import Speaker
from lerim.redaction import HIDDEN

SHORTEST = 8  # letters and digits a quote must have to show anything
LONGEST = 2_000
SHORT = 80
"""Characters within which a quote of few letters is looked for."""
_ENDS = " .,!\"'"
_SPEAKERS: tuple[Speaker, ...] = ("user", "assistant", "tool", "web")
_CUTS = re.compile(r"\[redacted:[a-z-]{1,30}\]|\[…[^\]\n]{0,60}…\]|…|\.\.\.(?=\s|$)|(?<=\s)\.\.\.")
_WRITTEN = re.compile(r"⟨U\+[0-9A-F]{4,6}⟩")
_SAME = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "⟦": "[[",
        "⁅": "[",
        "›": '"',
    }
)


@dataclass(frozen=True, slots=True)
class Stands:
    """Where a quote stands: in which turn, who said it, and its words as they are there."""

    turn: Shown
    who: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Nowhere:
    """The quote stands nowhere, or nobody can say where; `why` is for the report."""

    why: str


def locate(quote: str, number: int, turns: Sequence[Shown]) -> Stands | Nowhere:
    """Looks a quote up in the turn of this number; if it is not there, in all turns: it must then stand in one only.

    The label that a text has in the rendering may have been copied with it. Few words are enough where they are all
    that the person said at that place ("use MIT").
    """
    named = next((turn for turn in turns if turn.number == number), None)
    found = _placed(quote, named, turns)
    if isinstance(found, Nowhere) and named is not None and (bare := _without_label(quote, named)):
        again = _placed(bare, named, turns)
        return again if isinstance(again, Stands) else found
    return found


def _placed(quote: str, named: Shown | None, turns: Sequence[Shown]) -> Stands | Nowhere:
    wanted = _wanted(quote)
    if not wanted:
        whole = _all_of_it(quote, named) if named is not None else None
        return whole or Nowhere("the quote is too short to show anything")
    if named is not None and (found := _within(wanted, named)) is not None:
        return found
    places = [found for turn in turns if turn is not named and (found := _within(wanted, turn)) is not None]
    if len(places) == 1:
        return places[0]
    return Nowhere(f"the quote stands in {len(places)} turns" if places else "the quote stands nowhere")


def overlap(one: str, two: str) -> bool:
    """Whether one of two quotes is part of the other."""
    a, b = fold(one)[0].strip(), fold(two)[0].strip()
    return bool(a) and bool(b) and (a in b or b in a)


def fold(text: str) -> tuple[str, list[int]]:
    """The text as quotes are compared, and for each of its characters where it stood; one more for the end."""
    out: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if char.isspace():
            if not out or out[-1] != " ":
                out.append(" ")
                places.append(at)
        elif not HIDDEN.match(char):
            for same in char.translate(_SAME).lower():
                out.append(same)
                places.append(at)
    return "".join(out), [*places, len(text)]


def _plain(text: str) -> str:
    """What `fold` gives, without the places, and fast."""
    seen = HIDDEN.sub(lambda match: match.group() if match.group().isspace() else "", text)
    return " ".join(seen.split()).translate(_SAME).lower()


def _wanted(quote: str) -> str:
    """The longest part of a quote between cuts, folded; "" where it says too little."""
    parts = (fold(_WRITTEN.sub("", part))[0].strip(" \"'") for part in _CUTS.split(quote[:LONGEST]))
    longest = max(parts, key=len, default="")
    return longest if sum(map(str.isalnum, longest)) >= SHORTEST else ""


def _without_label(quote: str, turn: Shown) -> str:
    """What follows the label of the turn or of one of its pieces; "" where the quote does not begin with one."""
    text = quote[:LONGEST].lstrip(" \t\n»›")
    heads = (f"{piece.head}:" for piece in turn.pieces if piece.head)
    for label in (f"[{turn.number}] {turn.role}:", f"{turn.role}:", *heads):
        if text.lower().startswith(label.lower()):
            return text[len(label) :].strip()
    return ""


def _all_of_it(quote: str, turn: Shown) -> Stands | None:
    """The quote, however short, where it is everything that a piece of the person's words says."""
    wanted = fold(quote[:SHORT])[0].strip(_ENDS)
    for piece in turn.pieces if any(map(str.isalnum, wanted)) else ():
        if piece.who != "user" or len(piece.text) > SHORT:
            continue
        folded, places = fold(piece.text)
        if folded.strip(_ENDS) == wanted:
            at = folded.find(wanted)
            return Stands(turn, "user", piece.text[places[at] : places[at + len(wanted) - 1] + 1])
    return None


def _within(wanted: str, turn: Shown) -> Stands | None:
    for who in _SPEAKERS:
        for piece in turn.pieces:
            if piece.who != who or piece.head == THOUGHT:
                continue
            if wanted not in _plain(piece.text):
                continue
            folded, places = fold(piece.text)
            at = folded.find(wanted)
            if at >= 0:
                last = places[at + len(wanted) - 1]
                return Stands(turn, who, piece.text[places[at] : last + 1])
    return None
