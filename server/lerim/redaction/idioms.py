"""Secrets in idioms of single tools and of speech: a word that must stand in the text, and the shape around the value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lerim.redaction.chance import is_uuid, scrambled, strange
from lerim.redaction.positional import places
from lerim.redaction.rules import PLACEHOLDER, SHAM, Span

_NAME = r"[\"']?\w{0,40}(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PWD|PW|CREDENTIALS?)(?:_\w{1,12})?[\"']?"
_IDIOMS = {
    literal: re.compile(pattern.replace("NAME", _NAME).replace("VALUE", r"(?P<value>[^\s\"'`|,;<>(){}]{8,400})"))
    for literal, pattern in {
        "auth=": r"(?<![\w?&.-])AUTH=[\"']?VALUE",
        "setenv ": r"setenv\s{1,3}NAME\s{1,3}[\"']?VALUE",
        "env ": r"(?:(?<=\n)|\A)[ \t]{0,8}ENV\s{1,3}NAME\s{1,3}[\"']?VALUE",
        "setenvironmentvariable": r"\(\s?NAME\s?,\s?[\"']VALUE[\"']",
        "/user:": r"/user:[^\s\"']{1,80}\s{1,3}[\"']?VALUE",
        "creds": r"[Cc]reds\s?[:=]?\s{0,2}[\"'`]?[\w.@-]{2,40}\s?[/:]\s?VALUE",
        "pass": r"pass(?:word|phrase|code)[^\n]{0,40}?\b(?:type|enter|use|try|put in)\s{1,2}[\"'`]?VALUE",
        '"value"': r"\w{0,30}(?:password|secret|token|api_key)\w{0,20}\"\s{0,3}:\s{0,3}\{\s{0,20}\"value\"\s{0,3}:\s{0,3}\"VALUE\"",
        "\ttrue\t": r"[^\s]{1,120}\t(?:TRUE|FALSE)\t[^\s]{0,120}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,80}\tVALUE",
    }.items()
}  # fmt: skip
_BEFORE, _BEYOND = 160, 460


def spans(text: str, low: str, words: str) -> Iterator[Span]:
    """Every secret in such an idiom; `low` is the text in lower case, of the same length."""
    for literal, pattern in _IDIOMS.items():
        done = 0
        for at in places(low, literal):
            if at < done:
                continue
            done = at + _BEYOND
            for match in pattern.finditer(text, max(0, at - _BEFORE), done):
                value = match["value"].rstrip(".,:)`")
                if _good(value):
                    yield Span(match.start("value"), match.start("value") + len(value), "password")


def _good(value: str) -> bool:
    if PLACEHOLDER.search(value[:80]) or SHAM.search(value):
        return False
    parts = value.split("-")
    mixed = all(any(map(kind, value)) for kind in (str.isdigit, str.islower, str.isupper)) and "/" not in value
    return mixed or strange(value) or is_uuid(value) or any(scrambled(part) for part in parts if len(part) >= 8)
