"""Parses feed files: RSS 2.0, Atom and JSON Feed. Their content is untrusted, and a file may be anything.

XML is parsed by defusedxml, which refuses entities, document types and external references.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from xml.etree.ElementTree import Element, ParseError

import msgspec

from lerim.errors import LerimError

MAX_ITEMS = 2_000
"""Maximum number of items read of a feed, the first ones in the file."""
_ATOM = "{http://www.w3.org/2005/Atom}"
_TIME_NAMES = ("pubDate", f"{_ATOM}published", f"{_ATOM}updated", "{http://purl.org/dc/elements/1.1/}date")
_TEXT_NAMES = ("description", f"{_ATOM}summary", f"{_ATOM}content")
_TITLE_NAMES = ("title", f"{_ATOM}title")


class FeedError(LerimError):
    """A file is not a feed, or contains something that no feed needs."""

    code = "feed"


@dataclass(frozen=True, slots=True)
class FeedItem:
    """One item of a feed, not redacted and with its markup. An item without a time belongs to no day and is left
    out."""

    title: str
    text: str
    time: datetime


class _JsonItem(msgspec.Struct):
    title: str = ""
    summary: str = ""
    content_text: str = ""
    content_html: str = ""
    date_published: str = ""
    date_modified: str = ""


class _JsonFeed(msgspec.Struct):
    items: list[_JsonItem]


def parse_feed(data: bytes, where: str) -> list[FeedItem]:
    """Returns the items of a feed, in the order of the file. Raises FeedError."""
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    items = _parse_json(data, where) if start == b"{" else _parse_xml(data, where)
    return [item for item in items if item.title.strip() or item.text.strip()]


def _parse_json(data: bytes, where: str) -> Iterator[FeedItem]:
    try:
        feed = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_JsonFeed)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _make_error(where) from error
    for item in feed.items[:MAX_ITEMS]:
        time = _parse_time(item.date_published or item.date_modified)
        if time is not None:
            yield FeedItem(item.title, item.summary or item.content_text or item.content_html, time)


def _parse_xml(data: bytes, where: str) -> Iterator[FeedItem]:
    from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError, RecursionError) as error:
        raise _make_error(where) from error
    elements = [*root.iter("item"), *root.iter(f"{_ATOM}entry")]
    for element in elements[:MAX_ITEMS]:
        time = _parse_time(_find_text(element, _TIME_NAMES))
        if time is not None:
            yield FeedItem(_find_text(element, _TITLE_NAMES), _find_text(element, _TEXT_NAMES), time)


def _find_text(element: Element, names: Sequence[str]) -> str:
    for name in names:
        found = element.find(name)
        if found is not None and (text := "".join(found.itertext()).strip()):
            return text
    return ""


def _parse_time(text: str) -> datetime | None:
    """Parses a time in the format of RSS (`Mon, 02 Mar 2026 10:00:00 GMT`) or of Atom and JSON Feed. A time without
    a zone counts as UTC."""
    try:
        time = datetime.fromisoformat(text.strip()) if text[:4].isdigit() else parsedate_to_datetime(text.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None


def _make_error(where: str) -> FeedError:
    todo = "Save it as RSS, Atom or JSON Feed without a document type, or remove it from journal.sources."
    return FeedError("This file cannot be read as a feed.", where=where, todo=todo)
