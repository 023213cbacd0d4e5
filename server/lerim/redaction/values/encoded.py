"""Finds base64 that contains a text with a secret, such as whole key files in build settings."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from lerim.redaction.values.rules import Span

_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/])(?=(?:ew|ey|W|Y|LS|Z|PD|Q|R|U|T|c2|I|S))[A-Za-z0-9+/]{40,60000}(?:\r?\n[A-Za-z0-9+/]{40,200}"
    r"){0,800}"
    r"(?:\r?\n[A-Za-z0-9+/]{1,200}={1,2})?={0,2}"
)
_STARTS = (
    "ewog",
    "eyJ",
    "ewoJ",
    "ewo",
    "Wwp",
    "W1",
    "YXBp",
    "LS0t",
    "W2",
    "ZX",
    "PD94",
    "QV",
    "RE",
    "U0",
    "R0",
    "T1",
    "c2",
    "Iy",
    "SE",
    "UE",
    "Q0",
)
"""How base64-encoded settings begin: `{`, `[`, `apiVersion`, `export`, `<?xml`, names in capitals, comments."""
SHORTEST_RUN = 40
_LONGEST = 60_000
_EMBEDDED = re.compile(r"base64,\s?\Z")
_ACCOUNT = (b'"service_account"', b'"private_key"', b"PRIVATE KEY")


def find_encoded_secrets(text: str, look: Callable[[str], list[Span]]) -> Iterator[Span]:
    """Yields runs of base64 that decode to a text with a secret. `look` finds the secrets of a text and does not
    decode again."""
    left = 2 * _LONGEST
    for match in _BASE64.finditer(text):
        run = match.group()
        if not run.startswith(_STARTS) or _EMBEDDED.search(text, max(0, match.start() - 9), match.start()):
            continue
        if match.start() and (text[match.start() - 1] == "." or text[match.end() : match.end() + 1] == "."):
            continue  # part of a JSON Web Token
        plain = _decoded(run)
        left -= len(plain)
        if left < 0:
            return
        if plain and (any(sign in plain for sign in _ACCOUNT) or look(plain.decode("utf-8", "replace"))):
            yield Span(*match.span(), "encoded-secret")


def _decoded(run: str) -> bytes:
    """Decodes the run. Returns b"" if the result is not text."""
    packed = "".join(run.split()).rstrip("=")
    packed = packed[: len(packed) - (len(packed) % 4 == 1)]
    try:
        head = base64.b64decode(packed[:64])
        if not head.isascii() or not all(32 <= byte < 127 or byte in (9, 10, 13) for byte in head):
            return b""
        return base64.b64decode(packed + "=" * (-len(packed) % 4))
    except (binascii.Error, ValueError):
        return b""
