"""Memory records, and how their markdown files are read and written (docs/MEMORY_FORMAT.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from lerim.errors import ConflictError, MemoryError_, Problem
from lerim.memory.header import HeaderFault, HeaderOffsets, Yaml, load_header, load_raw_header, split_header
from lerim.memory.header_lines import HeaderValue, change_header, key_lines
from lerim.memory.merge_conflicts import split_conflict
from lerim.memory.reference import comma_list_item, parse_reference

Primitive = Literal["decision", "learning", "question", "theme", "summary"]
LearningKind = Literal["insight", "procedure", "friction", "pitfall", "preference"]
Speaker = Literal["user", "assistant", "tool", "web"]
Scope = Literal["project", "global"]
SPEAKER_NAMES: Mapping[Speaker, str] = {
    "user": "you",
    "assistant": "the agent",
    "tool": "a tool",
    "web": "a web page",
}
"""Who said something in a session on this machine, for the person who reads it."""
MEMORY_SPEAKER_NAMES: Mapping[Speaker, str] = {**SPEAKER_NAMES, "user": "the developer"}
"""As SPEAKER_NAMES, for a memory, which may have come from a teammate through git."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim quote of at most 200 characters, the turn it comes from and its speaker.

    `quote` is "" if the person chose to keep quotes out of git; it is then stored in the project's private folder.
    """

    quote: str
    turn: str
    who: Speaker


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory file. `id` is `YYYYMMDD-<slug>`, the file's stem; `source` is `<platform>:<session>#<turn>` or
    `manual`.

    `references` are `path` or `path#symbol`, relative to the repository, with forward slashes. `confidence` is in 0..1.
    """

    id: str
    primitive: Primitive
    title: str
    created: datetime
    updated: datetime
    source: str
    confidence: float
    tags: tuple[str, ...]
    body: str
    kind: LearningKind | None = None
    references: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    verified: str = ""
    supersedes: tuple[str, ...] = ()
    resolves: tuple[str, ...] = ()
    superseded_by: str = ""
    resolved_by: str = ""
    related: tuple[str, ...] = ()


_REQUIRED_KEYS = ("id", "title", "created", "updated", "source", "confidence", "tags")
HEADER_KEYS = (
    *_REQUIRED_KEYS,
    *("kind", "references", "evidence", "verified", "supersedes", "resolves"),
    *("superseded_by", "resolved_by", "related"),
)
"""Every key of a memory file, as in a record, in the order in which they are written."""
FOLDERS: dict[Primitive, str] = {
    "decision": "decisions",
    "learning": "learnings",
    "question": "questions",
    "theme": "themes",
    "summary": "summaries",
}
KINDS: tuple[LearningKind, ...] = ("insight", "procedure", "friction", "pitfall", "preference")
MAX_FILE_BYTES = 256 * 1024
_PRIMITIVES: dict[str, Primitive] = {folder: primitive for primitive, folder in FOLDERS.items()}
_SPEAKERS: tuple[Speaker, ...] = ("user", "assistant", "tool", "web")
_LINK_KEYS = ("supersedes", "resolves", "related")
_DEFAULT_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def parse_record(text: str, path: Path, primitive: Primitive | None = None) -> MemoryRecord:
    """Reads a memory file's text. Raises MemoryError_ if it is not a memory; `examine_record` also reports guesses."""
    return examine_record(text, path, primitive)[0]


def examine_record(text: str, path: Path, primitive: Primitive | None = None) -> tuple[MemoryRecord, list[Problem]]:
    """Reads a memory file's text and reports which values had to be guessed.

    `path` gives the primitive (by folder) and the id (by stem). An invalid value is replaced by its default and
    reported as a Problem. Raises MemoryError_ only for a missing or unreadable header, and ConflictError for git's
    conflict markers.
    """
    if split_conflict(text) is not None:
        todo = f"Merge them with `lerim memory merge {path.stem}`, or resolve the conflict by hand."
        raise ConflictError(
            "Two branches changed this memory, and git left both sides in it.", where=str(path), todo=todo
        )
    record, faults = examine_values(text, path, primitive)
    return record, [Problem("memory-value", str(path), fault.message) for fault in faults]


def examine_values(text: str, path: Path, primitive: Primitive | None = None) -> tuple[MemoryRecord, list[HeaderFault]]:
    """As `examine_record`, for a text without conflict markers: what had to be guessed, and at which key."""
    parts = split_header(text)
    if parts is None:
        raise MemoryError_(
            "This file has no header between two --- lines.", where=str(path), todo="Add one, or move the file away."
        )
    head = text[parts.start : parts.end]
    reader = _HeaderReader(head, load_header(head, str(path)), path, _read_body(text, parts))
    return reader.read_record(primitive), reader.faults


def _read_body(text: str, parts: HeaderOffsets) -> str:
    body = text[parts.body :].removeprefix(parts.newline).removesuffix(parts.newline)
    return body.replace("\r\n", "\n") if parts.newline == "\r\n" else body


def primitive_of(path: Path) -> Primitive | None:
    """Returns the primitive of a file by its folder, or None. Files of `summaries/` are two folders deeper."""
    for parent in path.parts[-2:-6:-1]:
        if parent in _PRIMITIVES:
            return _PRIMITIVES[parent]
        if parent == "memory":  # the folder of all memories: what is above it is the repository's
            return None
    return None


def id_of(path: Path) -> str:
    """Returns the id of the memory in this file: its stem; for a summary, the day and time of its folders before it."""
    *_, top, day, time, _ = ("", "", "", *path.parts)
    return f"{day}-{time}-{path.stem}" if top == FOLDERS["summary"] else path.stem


class _HeaderReader:
    """Reads the values of one header and collects what is wrong with them."""

    def __init__(self, head: str, fields: dict[str, Yaml], path: Path, body: str) -> None:
        self.head = head
        self.fields = fields
        self.path = path
        self.body = body
        self.faults: list[HeaderFault] = []
        self._raw_values: dict[str, Yaml] | None = None

    def read_record(self, primitive: Primitive | None) -> MemoryRecord:
        found = primitive or primitive_of(self.path) or _PRIMITIVES.get(self._text("primitive") + "s")
        if found is None:
            raise MemoryError_(
                "This file is not in a folder of memories.",
                where=str(self.path),
                todo=("Move it into a folder such as decisions/."),
            )
        stem = id_of(self.path)
        if (written := self._text("id")) != stem:
            self._add_fault(
                "id",
                f"the id {written!r} is not the file's name, which is used instead: rename one of them"
                if written
                else "there is no id",
            )
        created = self._time("created", None)
        lists = {key: self._text_list(key) for key in ("tags", *_LINK_KEYS)}
        return MemoryRecord(
            id=stem,
            primitive=found,
            title=self._title(),
            created=created,
            updated=self._time("updated", created),
            source=self._text("source") or "manual",
            confidence=self._confidence(),
            tags=lists["tags"],
            body=self.body,
            kind=self._kind(found),
            references=self._references(),
            evidence=self._evidence(),
            verified=self._text("verified"),
            supersedes=lists["supersedes"],
            resolves=lists["resolves"],
            superseded_by=self._text("superseded_by"),
            resolved_by=self._text("resolved_by"),
            related=lists["related"],
        )

    def _add_fault(self, key: str, message: str, item: str | None = None) -> None:
        self.faults.append(HeaderFault(key, f"{message[:1].upper()}{message[1:]}.", item))

    def _text(self, key: str) -> str:
        value = self.fields.get(key)
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        if isinstance(value, list | dict):
            self._add_fault(key, f"{key} must be one line of text")
            return ""
        return self._as_written(value, key)

    def _as_written(self, value: Yaml, *at: str | int) -> str:
        """Returns a value as the person wrote it: YAML reads `Yes` as a boolean and `1.10` as a number."""
        if isinstance(value, str):
            return value
        if self._raw_values is None:
            self._raw_values = load_raw_header(self.head)
        found: Yaml = self._raw_values
        for step in at:
            if isinstance(found, dict) and isinstance(step, str):
                found = found.get(step)
            elif isinstance(found, list) and isinstance(step, int) and step < len(found):
                found = found[step]
            else:
                return str(value)
        return found if isinstance(found, str) else str(value)

    def _title(self) -> str:
        written = self._text("title")
        if written.strip():
            return written
        self._add_fault("title", "there is no title")
        first = next((line.lstrip("# ").strip() for line in self.body.splitlines() if line.strip("# ")), "")
        return first[:120] or self.path.stem

    def _time(self, key: str, default: datetime | None) -> datetime:
        value = self.fields.get(key)
        if isinstance(value, datetime) and value.tzinfo is UTC:
            return value
        try:
            if isinstance(value, str):
                value = datetime.fromisoformat(value.strip())
            if isinstance(value, datetime):
                return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
            if isinstance(value, date):
                return datetime(value.year, value.month, value.day, tzinfo=UTC)
            if value is not None:
                self._add_fault(key, f"{key} is not a date")
        except ValueError:
            self._add_fault(key, f"{key} is not a date")
        except OverflowError:
            self._add_fault(key, f"{key} is out of range")
        return default or self._day_from_id()

    def _day_from_id(self) -> datetime:
        try:
            return datetime.strptime(id_of(self.path)[:8], "%Y%m%d").replace(tzinfo=UTC)
        except ValueError:
            return _DEFAULT_TIME

    def _confidence(self) -> float:
        value = self.fields.get("confidence")
        number = None if isinstance(value, bool) else value
        if isinstance(number, str):
            try:
                number = float(number)
            except ValueError:
                number = None
        if isinstance(number, int | float) and 0 <= number <= 1:
            return round(float(number), 4)
        message = "there is no confidence" if value is None else "the confidence is not a number from 0 to 1"
        self._add_fault("confidence", message)
        return 0.5

    def _text_list(self, key: str) -> tuple[str, ...]:
        value = self.fields.get(key)
        if value is None:
            return ()
        if isinstance(value, str):
            return tuple(found.group() for found in comma_list_item(key).finditer(value))
        if isinstance(value, list) and len(texts := [item for item in value if isinstance(item, str)]) == len(value):
            return tuple(texts)
        items = list(enumerate(value)) if isinstance(value, list) else [(-1, value)]
        good = [(at, item) for at, item in items if item is not None and not isinstance(item, list | dict)]
        if len(good) < len(items):
            what = "paths, such as `- src/prices.py#total`" if key == "references" else "texts"
            self._add_fault(key, f"`{key}` must be a list of {what}")
        return tuple(self._as_written(item, key, *(() if at < 0 else (at,))) for at, item in good)

    def _references(self) -> tuple[str, ...]:
        """Returns the references as written, because the file is the person's; `parse_reference` normalises them."""
        found = self._text_list("references")
        for text in found:
            if parse_reference(text) is None:
                message = f"the reference {text[:80]!r} is not a path in this repository and is ignored"
                self._add_fault("references", message, text)
        return found

    def _kind(self, primitive: Primitive) -> LearningKind | None:
        written = self._text("kind")
        if written and primitive != "learning":
            self._add_fault("kind", f"a {primitive} has no kind; only a learning has one. Remove it")
        for kind in KINDS:
            if kind == written:
                return kind
        if written and primitive == "learning":
            self._add_fault("kind", f"the kind {written[:40]!r} is not one of {', '.join(KINDS)}")
        return None

    def _evidence(self) -> tuple[Evidence, ...]:
        value = self.fields.get("evidence")
        found: list[Evidence] = []
        for at, item in enumerate(value if isinstance(value, list) else [value] if value is not None else []):
            entry = item if isinstance(item, dict) else {}
            quote, turn = entry.get("quote"), entry.get("turn")
            who = next((speaker for speaker in _SPEAKERS if speaker == entry.get("who")), None)
            if who is None or isinstance(quote, list | dict) or turn is None or isinstance(turn, list | dict):
                self._add_fault("evidence", "an evidence entry is not `quote`, `turn` and `who`")
                continue
            spoken = "" if quote is None else self._as_written(quote, "evidence", at, "quote")
            found.append(Evidence(spoken, self._as_written(turn, "evidence", at, "turn"), who))
        return tuple(found)


def header_values(record: MemoryRecord) -> dict[str, HeaderValue]:
    """Returns a record's header as keys and values in schema order; optional keys only if they have a value."""
    values: dict[str, HeaderValue] = {key: getattr(record, key) for key in HEADER_KEYS}
    values["evidence"] = evidence_values(record.evidence)
    return {key: value for key, value in values.items() if value or key in _REQUIRED_KEYS}


def evidence_values(evidence: Iterable[Evidence]) -> tuple[dict[str, str], ...]:
    """Returns evidence in the form of a header value."""
    return tuple({"quote": item.quote, "turn": item.turn, "who": item.who} for item in evidence)


def render_record(record: MemoryRecord, extra: Mapping[str, HeaderValue] | None = None) -> str:
    """Returns a whole memory file: header, empty line, body, newline. `extra` keys follow those of the schema.

    Redacts the text again, whatever happened to it since it was first redacted, so that no secret is ever written.
    """
    header = header_values(record) | dict(extra or {})
    lines = [line for key, value in header.items() for line in key_lines(key, _redact_value(key, value, ""))]
    body = _redact_new(record.body, "").encode("utf-8", "replace").decode()
    return "\n".join(["---", *lines, "---", "", body, ""])


def update_record_text(text: str, changes: Mapping[str, HeaderValue], body: str | None = None, where: str = "") -> str:
    """Returns the text with only the lines of the given keys, and the body if given, changed; all else is preserved
    byte for byte. The body gets the file's line ends.

    A value equal to the one in the file changes nothing; None removes the key. A secret is written only if the file
    already contains it, because then a person put it there. Raises MemoryError_ if the header cannot be changed line by
    line.
    """
    changes = {key: _redact_value(key, value, text) for key, value in changes.items()}
    body = None if body is None else _redact_new(body, text)
    parts = split_header(text)
    if parts is None:
        raise MemoryError_("This file has no header between two --- lines.", where=where, todo="Add one.")
    head = change_header(text[parts.start : parts.end], changes, HEADER_KEYS, parts.newline, where)
    old = text[parts.body :]
    if body is not None and body != _read_body(text, parts):
        lead = parts.newline if old.startswith(parts.newline) else ""
        tail = parts.newline if old.removeprefix(lead).endswith(parts.newline) else ""
        if parts.newline == "\r\n":
            body = body.replace("\r\n", "\n").replace("\n", "\r\n")
        old = lead + body.encode("utf-8", "replace").decode() + tail
    return text[: parts.start] + head + text[parts.end : parts.body] + old


_UNREDACTED_KEYS = frozenset(
    ("id", "source", "supersedes", "resolves", "superseded_by", "resolved_by", "related", "kind")
)
"""Keys whose values are names: they are made from redacted text, and must stay as other memories spell them."""


def _redact_value(key: str, value: HeaderValue, before: str) -> HeaderValue:
    if key in _UNREDACTED_KEYS:
        return value
    if isinstance(value, str):
        return _redact_new(value, before)
    if isinstance(value, tuple):
        if value and isinstance(value[0], str):
            return tuple(_redact_new(str(item), before) for item in value)
        return tuple({key: _redact_new(text, before) for key, text in dict(item).items()} for item in value)
    return value


def _redact_new(text: str, before: str) -> str:
    from lerim.redaction import redact_new  # imported late: not needed at startup

    return redact_new(text, before)
