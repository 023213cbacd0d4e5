"""Finds base64 that contains a text with a secret, such as whole key files in build settings."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator

from lerim.patterns import compile_later
from lerim.redaction.values.rule_types import Span

_BASE64 = compile_later(
    r"[eWYLZPQRUTcIS](?<![A-Za-z0-9+/].)(?<=(?=ew|ey|W|Y|LS|Z|PD|Q|R|U|T|c2|I|S).)[A-Za-z0-9+/]{39,59999}"
    r"(?:\r?\n[A-Za-z0-9+/]{40,200}){0,800}(?:\r?\n[A-Za-z0-9+/]{1,200}={1,2})?={0,2}"
)
_ENCODED_STARTS_LIST = """
    ewog eyJ ewoJ ewo Wwp W1 YXBp LS0t W2 ZX PD94 QV RE U0 R0 T1 c2 Iy SE UE Q0
"""
_ENCODED_STARTS = tuple(_ENCODED_STARTS_LIST.split())
"""The beginnings of base64-encoded settings: `{`, `[`, `apiVersion`, `export`, `<?xml`, names in capitals, comments."""
SHORTEST_RUN = 40
_MOST_DECODED_BYTES = 60_000
_DATA_URL_END = compile_later(r"base64,\s?\Z")
_SERVICE_ACCOUNT_SIGNS = (b'"service_account"', b'"private_key"', b"PRIVATE KEY")


def find_encoded_secrets(text: str, find_secrets: Callable[[str], list[Span]]) -> Iterator[Span]:
    """Yields runs of base64 that decode to a text with a secret. `find_secrets` must not decode base64 again."""
    remaining_bytes = 2 * _MOST_DECODED_BYTES
    for match in _BASE64.finditer(text):
        run = match.group()
        if not run.startswith(_ENCODED_STARTS) or _DATA_URL_END.search(text, max(0, match.start() - 9), match.start()):
            continue
        if match.start() and (text[match.start() - 1] == "." or text[match.end() : match.end() + 1] == "."):
            continue  # part of a JSON Web Token
        decoded = _decode(run)
        remaining_bytes -= len(decoded)
        if remaining_bytes < 0:
            return
        if decoded and (
            any(sign in decoded for sign in _SERVICE_ACCOUNT_SIGNS) or find_secrets(decoded.decode("utf-8", "replace"))
        ):
            yield Span(*match.span(), "encoded-secret")


def _decode(run: str) -> bytes:
    """Decodes the run. Returns b"" if the result is not text."""
    encoded = "".join(run.split()).rstrip("=")
    encoded = encoded[: len(encoded) - (len(encoded) % 4 == 1)]
    try:
        head = base64.b64decode(encoded[:64])
        if not head.isascii() or not all(32 <= byte < 127 or byte in (9, 10, 13) for byte in head):
            return b""
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4))
    except (binascii.Error, ValueError):
        return b""
