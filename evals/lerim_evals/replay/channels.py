"""What each channel would have given an agent at each moment of a session, from the memories of that day.

These follow the hooks, the export and `lerim mcp`; only freshness is left out, because the repositories are not there.
All of them match with the hooks' own module.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

from lerim.export.choosing import KIND_WEIGHTS, MAX_BYTES, MAX_LINES
from lerim.hook.program import match
from lerim.hook.program.main import (
    MAX_PROMPT_CHARS,
    MAX_PROMPT_ITEMS,
    MAX_START_CHARS,
    MAX_TOOL_CHARS,
    MAX_TOOL_ITEMS,
)
from lerim.memory.claims import body_without_title
from lerim.memory.record import FOLDERS, MemoryRecord, render_record
from lerim.memory.reference import Reference, parse_reference
from lerim.memory.serving import AgentMemories, neutral_line, render_memory
from lerim.paths import Home
from lerim.project import Project, make_personal_project
from lerim.sessions.model import ToolCall, Turn
from lerim_evals.replay.projects import ReplaySession

Channel: TypeAlias = Literal["rules", "start", "prompt", "read", "failure", "recall"]
CHANNELS: tuple[Channel, ...] = ("rules", "start", "prompt", "read", "failure", "recall")
MAX_RECALLED, MAX_RECALL_CHARS = 5, 6_000
MAX_SECTION: Mapping[str, int] = {"decided": 12, "open": 6}
MAX_LINE_CHARS, MAX_TITLE_CHARS = 300, 160
BYTES_PER_TOKEN = 4
_RULES = ("decision", "pitfall")
_FIXES = ("friction", "pitfall", "procedure")


@dataclass(frozen=True, slots=True)
class Serving:
    """One memory given in a session: at which of its turns (-1: at its start), by which channel, and how many tokens
    its text takes."""

    session: str
    channel: Channel
    turn: str
    position: int
    memory: str
    tokens: int


@dataclass(frozen=True, slots=True)
class _Entry:
    record: MemoryRecord
    line: str
    title_terms: tuple[str, ...]
    quote_terms: tuple[str, ...]
    places: tuple[Reference, ...]

    @property
    def kind(self) -> str:
        return self.record.kind or self.record.primitive


class Channels:
    """The memories of a project up to some day, and what its channels give. A context manager: `recall` searches a
    store in a temporary folder."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._weights: dict[str, float] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Channels:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        home = Home(folder / "home")
        home.memory.mkdir(parents=True)
        self._project: Project = make_personal_project(home)
        self._memories = self._stack.enter_context(AgentMemories(None, home, lambda _stored, _scope: True))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    @property
    def records(self) -> list[MemoryRecord]:
        """All memories, in the order in which they were added."""
        return [entry.record for entry in self._entries.values()]

    def add(self, records: Iterable[MemoryRecord]) -> None:
        """Adds memories; one whose id is there already is the same claim again and is left out."""
        for record in records:
            if record.id in self._entries or record.primitive not in ("decision", "learning", "question"):
                continue
            quotes = " ".join(item.quote for item in record.evidence)
            title_terms, quote_terms = match.list_terms(record.title), match.list_terms(quotes)
            places = tuple(filter(None, map(parse_reference, record.references)))
            self._entries[record.id] = _Entry(
                record, _render_line(record), tuple(title_terms), tuple(quote_terms), places
            )
            path = self._project.memory_dir / FOLDERS[record.primitive] / f"{record.id}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(render_record(record), encoding="utf-8")
        counts = Counter(term for one in self._entries.values() for term in {*one.title_terms, *one.quote_terms})
        self._weights = {term: match.weigh_term(count, len(self._entries)) for term, count in counts.items()}

    def serve(self, session: ReplaySession) -> Iterator[Serving]:
        """Yields what each channel would have given in a session, each memory once by each."""
        given: set[tuple[Channel, str]] = set()
        for channel, turn, position, entries in self._events(session):
            for entry, text in entries:
                if (channel, entry.record.id) not in given:
                    given.add((channel, entry.record.id))
                    tokens = -(-len(text.encode()) // BYTES_PER_TOKEN)
                    yield Serving(session.id, channel, turn, position, entry.record.id, tokens)

    def _events(self, session: ReplaySession) -> Iterator[tuple[Channel, str, int, list[tuple[_Entry, str]]]]:
        yield "rules", "", -1, self._choose_rules()
        yield "start", "", -1, self._choose_start()
        given: dict[Channel, set[str]] = {"prompt": set(), "read": set(), "failure": set()}
        for position, turn in enumerate(session.turns):
            if turn.kind == "prompt" and not turn.unattended and not turn.sidechain:
                found = self._match_prompt(turn.text)
                yield "prompt", turn.id, position, _take(found, given["prompt"], MAX_PROMPT_ITEMS, MAX_PROMPT_CHARS)
                yield "recall", turn.id, position, self._recall(turn.text)
            for call in turn.tool_calls:
                if call.kind in ("read", "edit", "write") and call.paths:
                    found = self._match_paths(call, turn)
                    yield "read", turn.id, position, _take(found, given["read"], MAX_TOOL_ITEMS, MAX_TOOL_CHARS)
                elif _has_failed(call):
                    scores = self._score_words(f"{call.command}\n{call.output}")
                    found = [entry for entry in _best(scores, self._entries) if entry.kind in _FIXES]
                    yield "failure", turn.id, position, _take(found, given["failure"], MAX_TOOL_ITEMS, MAX_TOOL_CHARS)

    def _choose_rules(self) -> list[tuple[_Entry, str]]:
        worth = sorted(
            self._entries.values(),
            key=lambda one: (-one.record.confidence * KIND_WEIGHTS.get(one.kind, 0.5), one.record.id),
        )
        said = (one for one in worth if not _is_from_tool(one.record))
        return [(one, one.line) for one in _fit(said, MAX_LINES, MAX_BYTES)]

    def _choose_start(self) -> list[tuple[_Entry, str]]:
        newest = sorted(self._entries.values(), key=lambda one: (one.record.updated, one.record.id), reverse=True)
        decided = [one for one in newest if one.kind in ("decision", "preference")][: MAX_SECTION["decided"]]
        asked = [one for one in newest if one.record.primitive == "question"][: MAX_SECTION["open"]]
        return [(one, one.line) for one in _fit((*decided, *asked), len(newest), MAX_START_CHARS)]

    def _match_prompt(self, text: str) -> list[_Entry]:
        scores = self._score_words(text)
        for name in self._name_places(match.clip_text(text)):
            scores[name] = scores.get(name, 0.0) + match.PLACE_SCORE
        return _best(scores, self._entries)

    def _score_words(self, text: str) -> dict[str, float]:
        terms = match.list_terms(match.clip_text(text))
        scores: dict[str, float] = {}
        for name, entry in self._entries.items():
            score = max(
                _score_match(terms, list(some), self._weights) for some in (entry.title_terms, entry.quote_terms)
            )
            if score:
                scores[name] = score
        return scores

    def _name_places(self, text: str) -> set[str]:
        """Returns the memories about a file or symbol that a text names."""
        paths, symbols = set(match.find_paths(text)), set(match.find_symbols(text))
        places = [(name, place) for name, entry in self._entries.items() for place in entry.places]
        files = {place.path for _, place in places}
        unique = Counter(path.rpartition("/")[2] for path in files)
        found: set[str] = set()
        for name, place in places:
            file = place.path.rpartition("/")[2]
            last = place.symbol.replace("::", ".").rpartition(".")[2]
            if place.path in paths or (file in paths and unique[file] == 1) or {place.symbol, last} & symbols - {""}:
                found.add(name)
        return found

    def _match_paths(self, call: ToolCall, turn: Turn) -> list[_Entry]:
        wanted = {_relative(path, turn.cwd) for path in call.paths}
        found = [
            entry
            for entry in self._entries.values()
            if entry.kind in _RULES and any(place.path in wanted for place in entry.places)
        ]
        return sorted(found, key=lambda one: (-one.record.updated.timestamp(), one.record.id))

    def _recall(self, text: str) -> list[tuple[_Entry, str]]:
        if not text.strip() or not self._entries:
            return []
        found = self._memories.recall(text[:1_000], limit=MAX_RECALLED).memories
        return [(self._entries[one.record.id], render_memory(one.record)) for one in found]


def _take(found: Sequence[_Entry], given: set[str], most: int, chars: int) -> list[tuple[_Entry, str]]:
    """Returns the first of these that a session was not given yet and that fit, and notes them as given."""
    taken = _fit((one for one in found if one.record.id not in given), most, chars)
    given.update(one.record.id for one in taken)
    return [(one, one.line) for one in taken]


def _fit(entries: Iterable[_Entry], most: int, chars: int) -> list[_Entry]:
    taken: list[_Entry] = []
    for entry in entries:
        size = len(entry.line.encode()) + 1
        if len(taken) < most and size <= chars:
            taken.append(entry)
            chars -= size
    return taken


def _best(scores: Mapping[str, float], entries: Mapping[str, _Entry]) -> list[_Entry]:
    ordered = sorted(scores, key=lambda name: (-scores[name], -entries[name].record.updated.timestamp(), name))
    return [entries[name] for name in ordered]


def _has_failed(call: ToolCall) -> bool:
    return call.kind == "shell" and bool(call.command) and (call.status == "error" or bool(call.exit_code))


def _is_from_tool(record: MemoryRecord) -> bool:
    return bool(record.evidence) and all(item.who in ("tool", "web") for item in record.evidence)


def _relative(path: str, cwd: str) -> str:
    plain, root = path.replace("\\", "/"), cwd.replace("\\", "/").rstrip("/") + "/"
    return plain.removeprefix(root)


def _render_line(record: MemoryRecord) -> str:
    """Returns a memory as one line, as the hooks and rules files have it."""
    head = f"- {record.kind or record.primitive}: {neutral_line(record.title, MAX_TITLE_CHARS)}"
    end = f" ({record.created:%Y-%m-%d}; id {record.id[:80]})"
    room = MAX_LINE_CHARS - len(head) - len(end) - 3
    reason = neutral_line(body_without_title(record.title, record.body), room) if room >= 40 and record.body else ""
    return f"{head}{f' — {reason}' if reason else ''}{end}"


def _score_match(text_terms: list[str], memory_terms: list[str], weights: dict[str, float]) -> float:
    """Returns the score of a title or quote, given as its terms, for a text; 0 if that is no strong match. `weights`
    are those of `match.weigh_term`; a term without one counts nothing."""
    known = set(text_terms)
    total = [weights.get(term, 0.0) for term in memory_terms]
    found = [weights[term] for term in memory_terms if term in known and weights.get(term)]
    return match.share_found(sum(found), sum(total), len(found))
