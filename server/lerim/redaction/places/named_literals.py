"""Finds literals after the name of a secret, whatever wraps them: `let token = String::from("…")`,
`page.fill('#password', '…')`, `define('AUTH_KEY', '…')`, `<string name="api_key">…</string>`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from lerim.patterns import compile_later
from lerim.redaction.values import (
    NameGroup,
    Span,
    find_places,
    is_placeholder,
    is_punctuated_key,
    is_sample,
    is_scrambled,
    is_uuid,
    looks_like_password,
    select_found_names,
)

_NAME_LIST = """
    passw token secret apikey api_key api-key api.key accesskey access_key auth_key authkey auth_salt _salt
    private_key privatekey psk credential db_pass encrypt sessionid logged_in_key nonce_key signing seed salt
    totp
"""
_NAMES = NameGroup(_NAME_LIST.split())
_REST_OF_LINE = compile_later(r"[^\n]{0,180}")
_LITERAL = compile_later(
    r"(?<=[\s(\[{,=:@bru\\])\\{0,3}(?P<quote>[\"'`])(?P<value>(?:(?!(?P=quote))[^\n\\]){8,200})(?P=quote)"
)
_ASSIGNED_LITERAL = compile_later(
    r"[\w-]{0,24}\\{0,3}(?:[\"'`\]]{1,3}|\[\w{0,6}\])?\s{0,20}(?:=>|:=|\|\|=|={1,2}|:|,)\s{0,20}[bru@]?(?P<quote>[\"'])"
    r"(?P<value>(?:(?!(?P=quote))[^\n\\]){16,200})(?P=quote)"
)
_TYPED_DECLARATION = compile_later(r"[\w-]{0,24}\s?:\s?&?[\w:<>' ]{1,30}=\s{0,4}[\"'](?P<value>[^\s\"']{8,200})[\"']")
_XML_ELEMENT = compile_later(
    r"[\w.-]{0,24}[\"']?[^<>\n]{0,40}>\s{0,12}(?:</\w{1,20}>\s{0,12}<string>)?(?P<value>[^<>\s]{8,200})\s{0,12}</"
)
_PLIST_ENTRY = compile_later(r"[\w.-]{0,24}</key>\s{0,20}<string>(?P<value>[^<>\s]{8,400})</")
_WIFI_PASSPHRASE = compile_later(r"[\w-]{0,12}\s{0,2}[=:]\s{0,2}(?P<quoted>[\"'])?(?P<value>[^\s\"']{8,63})")
_ENVIRONMENT_LINE = compile_later(r"[A-Z0-9_]{0,24}=(?P<value>[^\s\"'`“”‘’]{16,200})[ \t]{0,4}(?=\r?\n|\Z)")
_OTHER_CODE = compile_later(
    r"[;{}]\s|\bif\b|\bsha\d|\bdigest|checksum|integrity|fingerprint|data-testid|className|class=", re.IGNORECASE
)
_ATTRIBUTE_OF_SECRET = compile_later(
    r"[\w-]{0,24}?(?:id|name|url|uri|path|file|hash|type|count|limit|expir\w*|address|label|hint)s?(?![a-zA-Z])",
    re.IGNORECASE,
)
_WIFI_CODE = compile_later(r"WIFI:[^\n]{0,120}?P:(?P<value>[^;\n]{8,63});")
_APP_PASSWORD = compile_later(
    r"(?<![\w-])(?P<value>[a-z]{4}(?:[ -][a-z]{4}){3}|[A-Za-z0-9]{4}(?: [A-Za-z0-9]{4}){5}"
    r"|[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,7})(?![\w-])"
)
_APP_PASSWORD_NAME_LIST = (
    "app password|app-password|application password|app-specific|gmail|host_password|setup key|smtp|"
    "authenticator|2fa|totp"
)
_APP_PASSWORD_NAMES = NameGroup(_APP_PASSWORD_NAME_LIST.split("|"))
SEARCHED_NAMES = (*_NAMES, *_APP_PASSWORD_NAMES)


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields every literal after the name of a secret."""
    has_quotes = '"' in text or "'" in text or "`" in text
    for name in select_found_names(_NAMES, found_parts):
        for at in find_places(lowered, name):
            end = at + len(name) - (name[-1] in "'\"")
            if has_quotes:
                yield from _find_literals(text, end)
            if text[at].isupper():
                yield from _check_environment_line(_ENVIRONMENT_LINE.match(text, end))
            yield from _find_unquoted(text, name, end)
    if "WIFI:" in text:
        for at in find_places(text, "WIFI:"):
            match = _WIFI_CODE.match(text, at)
            if match is not None:
                yield Span(*match.span("value"), "password")
    for name in select_found_names(_APP_PASSWORD_NAMES, found_parts):
        for at in find_places(lowered, name):
            match = _APP_PASSWORD.search(text, at, at + 120)
            if match is not None and "\n\n" not in text[at : match.start()] and _is_unlike_word_groups(match["value"]):
                yield Span(*match.span("value"), "password")


def _find_unquoted(text: str, name: str, end: int) -> Iterator[Span]:
    if name == "psk":
        yield from _check_passphrase(_WIFI_PASSPHRASE.match(text, end))
    elif text.find("<", end, end + 90) >= 0:
        yield from _check_value(_PLIST_ENTRY.match(text, end) or _XML_ELEMENT.match(text, end))


def _check_environment_line(match: re.Match[str] | None) -> Iterator[Span]:
    """Yields the key of a line such as `SECRET_KEY=a1!(b2&`, which has the marks of code."""
    if match is not None and is_punctuated_key(match["value"]) and not is_placeholder(match["value"]):
        yield Span(*match.span("value"), "secret")


def _is_unlike_word_groups(value: str) -> bool:
    """Returns whether groups of four characters are not words: at least two have no vowel, an unusual letter
    sequence, digits or capitals."""
    groups = re.split(r"[ -]", value)
    odd_groups = sum(
        not re.search(r"[aeiou]", part) or bool(re.search(r"[^aeiou]{3}|[jqxz]|\d|[A-Z]", part)) for part in groups
    )
    return odd_groups >= 2


def _check_passphrase(match: re.Match[str] | None) -> Iterator[Span]:
    """Yields a network's passphrase: a person chose it, so it may look like words."""
    value = match["value"] if match is not None else ""
    is_no_secret = not value or is_uuid(value) or is_placeholder(value) or is_sample(value)
    if match is not None and not is_no_secret and (looks_like_password(value) or match["quoted"]):
        yield Span(*match.span("value"), "password")


def _check_value(match: re.Match[str] | None) -> Iterator[Span]:
    if match is not None and looks_like_password(match["value"]) and not is_uuid(match["value"]):
        yield Span(*match.span("value"), "secret")


def _find_literals(text: str, end: int) -> Iterator[Span]:
    assigned = _ASSIGNED_LITERAL.match(text, end)
    if (
        assigned is not None
        and (is_punctuated_key(assigned["value"]) or looks_like_password(assigned["value"]))
        and not is_uuid(assigned["value"])
    ):
        yield Span(*assigned.span("value"), "secret")
        return
    declaration = _TYPED_DECLARATION.match(text, end)
    if declaration is not None:
        yield from _check_value(declaration)
        return
    if _ATTRIBUTE_OF_SECRET.match(text, end):
        return
    line = _REST_OF_LINE.match(text, end)
    line_end = line.end() if line else end
    for literal in list(_LITERAL.finditer(text, end, line_end))[:4]:
        value = literal["value"]
        if _OTHER_CODE.search(text, end, literal.start()):
            return
        if is_scrambled(value) and not is_uuid(value) and len(value) >= 10 and " " not in value:
            yield Span(*literal.span("value"), "secret")
            return
