"""Finds private keys: complete blocks, blocks without their first or last line, and bare bodies."""

from __future__ import annotations

import base64
import binascii

from lerim.patterns import compile_later
from lerim.redaction.values.rule_types import Span

_END_MARK = compile_later(r"END [A-Z0-9 ]{0,30}\Z")
_BEGIN_MARK = compile_later(r"-{0,5} ?(?:BEGIN)? ?[A-Z0-9 ]{0,30}\Z")
_BODY = compile_later(r"(?:[A-Za-z0-9+/=:,\- \t\r\n→│|>]|\\{1,3}[nr]){0,20000}")
_BASE64_PIECE = compile_later(r"[A-Za-z0-9+/=]{2,}")
_SEPARATOR = compile_later(r"(?:\\{1,3}[nr]|[\s\"'+,>|→│\\\d:-])*\Z")
_FILLED_LINE = compile_later(r"[A-Za-z0-9+/]{16,}")
_LAST_LINES = compile_later(r"[A-Za-z0-9+/]{16,}(?:\r?\n[A-Za-z0-9+/]{1,15}(?==|\r?\n))?={0,2}")
_MOST_CHARACTERS_BACK = 20_000
_START_OF_BODY = compile_later(
    r"MII[A-Za-z0-9+/]{2}[A-Za-z0-9+/]IBAA(?:KC|KB|SC)|MII[A-Za-z0-9+/]{2,3}[A-Za-z0-9+/]?IBAD?AN[A-Za-z0-9+/]|"
    r"MII[A-Za-z0-9+/]{2,4}BAAKC|MII[A-Za-z0-9+/]{2,4}(?:IBADAN|AgEAM|gEAAo)|"
    r"MII[A-Za-z0-9+/]{2,4}(?:TBXBgkqhkiG9w0BBQ0|DBOBgkqhkiG9w0BBQ0|BgkqhkiG9w0BBQ)|"
    r"MHcCAQEE|MIG[A-Za-z0-9+/]{1,2}AgE[AB]|MC4CAQAw|MFECAQEw|MIH[A-Za-z0-9+/]{1,2}AgE[AB]|"
    r"b3BlbnNzaC1rZXktdjE|l(?:QdG|QOY|QVY|IYE|FgE)[A-Za-z0-9+/]{60}"
)
_BASE64_BODY = compile_later(r"(?:[A-Za-z0-9+/]{4,}|\\{1,3}[nr]|[\r\n]{1,2}[ \t>|+]{0,12}){1,2000}={0,2}")
_ENCODED_KEY = compile_later(r"LS0t[A-Za-z0-9+/]{40,60000}={0,2}")
_PUTTY_KEY = compile_later(
    r"Private-(?:Lines: \d{1,3}|MAC: )(?:\\{1,3}[nr]|[\s])*(?:[A-Za-z0-9+/=]{16,90}(?:\\{1,3}[nr]|\s)*){1,80}"
)


def find_private_keys(text: str) -> list[Span]:
    """Finds every private key in a text, including truncated ones."""
    spans: list[Span] = []
    if "PRIVATE KEY" in text:
        spans += _find_blocks(text)
    if "LS0t" in text:
        spans += _find_encoded_blocks(text)
    if "Private-" in text:
        spans += [Span(*match.span(), "private-key") for match in _PUTTY_KEY.finditer(text)]
    if _may_be_bare(text):
        for match in _START_OF_BODY.finditer(text):
            if match.start() and text[match.start() - 1].isalnum() and text[match.start() - 2 : match.start()] != "\\n":
                continue
            body = _BASE64_BODY.match(text, match.start())
            if body and len(body.group()) >= 40:
                spans.append(Span(*body.span(), "private-key"))
    return spans


def _may_be_bare(text: str) -> bool:
    """Returns whether the text may contain the beginning of a key's body: a quick check with as few searches as
    possible."""
    if "MI" in text or "lQ" in text or "b3BlbnNz" in text:
        return True
    return "MHcCA" in text or "MC4CAQ" in text or "MFECAQ" in text or "lIYE" in text or "lFgE" in text


def _find_blocks(text: str) -> list[Span]:
    spans: list[Span] = []
    searched_to = 0
    at = text.find("PRIVATE KEY")
    while at >= 0:
        end = at + len("PRIVATE KEY")
        end += len(" BLOCK") if text.startswith(" BLOCK", end) else 0
        marks = text[end : end + 5].rstrip("\n\r\\")
        if marks.strip().startswith("---"):
            end = end + len(marks) if marks.endswith("-") else end + marks.rfind("-") + 1
            span = (
                _find_block_before(text, at, end, searched_to)
                if _END_MARK.search(text, max(0, at - 40), at)
                else _find_block_after(text, at, end)
            )
            if span is not None and span.end > searched_to:
                spans.append(span)
            searched_to = max(searched_to, span.end if span is not None else end)
        at = text.find("PRIVATE KEY", max(end, searched_to))
    return spans


def _find_block_after(text: str, at: int, end: int) -> Span | None:
    """Returns the block that begins with this first line; a truncated block ends with its last valid characters."""
    line = _BEGIN_MARK.search(text, max(0, at - 45), at)
    start = line.start() if line else at
    marks = text.find("-----", end)
    body = _BODY.match(text, end, marks if marks >= 0 else len(text))
    stop = body.end() if body else end
    if (
        not _FILLED_LINE.search(text, end, stop)
        and text.find("-----END ", end, end + 400) < 0
        and "\n" not in text[end : end + 4]
    ):
        return None  # only the words, in a sentence or in code
    tail = text.find("-----END ", end, end + _MOST_CHARACTERS_BACK)
    if 0 <= tail <= stop + 9:
        last = text.find("-----", tail + 9, tail + 80)
        stop = last + 5 if last >= 0 else max(stop, tail)
    elif filled := [match.end() for match in _LAST_LINES.finditer(text, end, stop)]:
        stop = filled[-1]  # what follows is not part of the key
    return Span(start, stop, "private-key")


def _find_block_before(text: str, at: int, end: int, searched_to: int) -> Span | None:
    """Returns the block that ends with this last line, if its first line is missing."""
    line = text.rfind("-----END", max(searched_to, at - 60), at)
    first = line if line >= 0 else at
    earliest = max(searched_to, first - _MOST_CHARACTERS_BACK)
    start, has_body = first, False
    for piece in reversed(list(_BASE64_PIECE.finditer(text, earliest, first))):
        word = piece.group()
        if not _SEPARATOR.match(text[piece.end() : start]):
            break
        if len(word) >= 16:
            has_body = True
        elif not word.isdigit() and start != first:  # line numbers and the last line may be short
            break
        start = piece.start()
    return Span(start, end, "private-key") if has_body else None


def _find_encoded_blocks(text: str) -> list[Span]:
    """Finds blocks that are base64-encoded once more, as in kubeconfig; certificates are not included."""
    spans = []
    for match in _ENCODED_KEY.finditer(text):
        try:
            head = base64.b64decode(match.group()[:88])
        except (binascii.Error, ValueError):
            continue
        if b"PRIVATE KEY" in head:
            spans.append(Span(*match.span(), "private-key"))
    return spans
