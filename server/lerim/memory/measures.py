"""The amount a claim gives for a “how long”, “how often” or “how many”, taken out of what it says besides."""

from __future__ import annotations

import re

from lerim.memory.contrast import read
from lerim.memory.wording import phrased

_UNIT = r"(?:ms|s|min|h|d|w|mon|y)"
_LONG = re.compile(rf"(?:\b(?:for|after|of) )?(?<![\w.])\d[\d.]*{_UNIT}\b", re.IGNORECASE)
_OFTEN = re.compile(
    rf"\b(?:every|each) \d+{_UNIT}\b|\b(?:\d+ times|once) (?:a|an|per|every|each) [a-z]+\b"
    r"|\b(?:every|each) (?:second|minute|hour|day|night|week|month|quarter|year|commit|push|merge|release)\b"
    r"|\b(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly)\b",
    re.IGNORECASE,
)
_TIMES = re.compile(r"(?<![\w.])\d+ times\b", re.IGNORECASE)
_COUNT = re.compile(r"(?<![\w.])\d[\d.,]*(?: (?P<of>[\w-]+))?(?![\w.]*\d)")
_MUCH = re.compile(r"(?:\bof )?(?<![\w.])\d[\d.,]*(?:[kmgt]i?b|pct|%)?(?![\w.])", re.IGNORECASE)


def rest(asks: str, kind: frozenset[str], title: str) -> str | None:
    """What a title says besides the amount that `asks` (“how long” and the like) asks for; None where it gives none.

    `kind` are the words of what is counted: the number stands at it (“4 workers”), or it is what is done so many times
    (“Retry uploads 3 times”).
    """
    plain = phrased(title)
    if asks == "how many":  # of things; “how many times” is below
        times = _TIMES.search(plain)
        if times:
            doing = read(plain.split(" ", 1)[0], "").bare.title
            return _without(plain, times) if doing and doing <= kind else None
        count = _COUNT.search(plain)
        counted = read(count["of"], "").bare.title if count and count["of"] else frozenset()
        return plain[: count.start()] + plain[count.start("of") :] if count and counted and counted <= kind else None
    found = {"how long": _LONG, "how often": _OFTEN, "how many times": _TIMES}.get(asks, _MUCH).search(plain)
    return _without(plain, found) if found else None


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}".strip()
