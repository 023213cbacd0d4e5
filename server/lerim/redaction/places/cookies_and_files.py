"""Finds secrets that no keyword introduces: session cookies, entries of password files, and URLs with a token."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Set

from lerim.patterns import compile_later
from lerim.redaction.places.keywords import trim_value, yield_value
from lerim.redaction.values import NameGroup, Span, find_places, is_uuid, looks_random, select_found_names

_COOKIE_NAME_LIST = """
    connect.sid sessionid session_id phpsessid jsessionid _session session-token session sid csrftoken
    remember_token access-token auth-token .aspxauth asp.net_sessionid xsrf-token
"""
_COOKIE_NAMES = NameGroup(_COOKIE_NAME_LIST.split())
_PGPASS_PORTS = NameGroup((":5432:", ":5433:", ":6432:", ":*:"))
SEARCHED_NAMES = (*_COOKIE_NAMES, *_PGPASS_PORTS, "auth")
_COOKIE_VALUE = compile_later(
    r"\\{0,3}[\"']?\s{0,2}[=:]\s{0,2}\\{0,3}[\"']?(?P<value>(?:s%3A|s:)?[A-Za-z0-9%+/_.=~-]{16,1200})"
)
_PGPASS_LINE = compile_later(
    r"[^:\s#\"']{1,120}:(?:\d{2,5}|\*):[^:\s]{1,80}:[^:\s]{1,80}:(?P<value>[^\s:\"']{4,200})(?=\s|\\n|[\"'`]|\Z)"
)
_AUTH_ENTRY = compile_later(r"auth\\{0,3}[\"']?\s{0,3}[:=]\s{0,3}\\{0,3}[\"']?(?P<value>[A-Za-z0-9+/]{12,600}={0,2})")
_URL_TOKEN = compile_later(
    r"://(?P<value>[A-Za-z0-9_%.~-]{16,300})(?::(?:x-oauth-basic|x-token-auth)?)?@(?!o\d{1,12}\.ingest|sentry\.)"
)


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> list[Span]:
    """Finds secrets that no keyword introduces."""
    return [*_find_cookies(text, lowered, found_parts), *_find_file_entries(text, lowered, found_parts)]


def _find_cookies(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields the values of session cookies, wherever their names are."""
    if "=" not in text and ":" not in text:
        return
    for name in select_found_names(_COOKIE_NAMES, found_parts):
        searched_to = 0
        for at in find_places(lowered, name):
            match = _COOKIE_VALUE.match(text, at + len(name)) if at >= searched_to else None
            searched_to = match.end() if match else searched_to
            if match is None or (name in ("session", "sid") and len(match["value"]) < 24):
                continue
            value = trim_value(match)
            is_signed = value.startswith(("s%3A", "s:"))
            if is_signed or (looks_random(value) and not is_uuid(value) and "=" in text[at : match.start("value")]):
                yield from yield_value(match, "cookie")


def _find_file_entries(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields secrets in password files (`.pgpass`, docker's `config.json`, `.npmrc`) and in URLs that begin with a
    token."""
    for literal in select_found_names(_PGPASS_PORTS, found_parts):
        for at in find_places(text, literal):
            start = (
                max(
                    text.rfind("\n", max(0, at - 120), at),
                    text.rfind('"', max(0, at - 120), at),
                    text.rfind(" ", max(0, at - 120), at),
                    text.rfind("'", max(0, at - 120), at),
                )
                + 1
            )
            yield from yield_value(_PGPASS_LINE.match(text, max(start, at - 120)), "password")
    for at in find_places(lowered, "auth") if "auth" in found_parts else ():
        match = _AUTH_ENTRY.match(lowered, at)
        if match is None or text[match.end() : match.end() + 1] == "(":
            continue  # nothing, or a call
        is_named = lowered[max(0, at - 1) : at] == "_" or '"auths' in lowered[max(0, at - 300) : at]
        if is_named or _is_login(text[match.start("value") : match.end("value")]):
            yield Span(match.start("value"), match.end("value"), "authorization")
    for at in find_places(text, "://") if "://" in text and "@" in text else ():
        match = _URL_TOKEN.match(text, at)
        if match is not None and looks_random(match["value"]):
            yield from yield_value(match, "url-password")


def _is_login(value: str) -> bool:
    """Returns whether a base64 value decodes to `user:password`."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain[:200] and plain.isascii() and plain.decode().isprintable()
