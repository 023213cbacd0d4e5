"""A project's life, day by day: real sessions with other dates and ids, and made ones whose facts change."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from claude_lines import Fields, prompt, reply, text
from desk import Desk, correction
from lerim.jobs import maintain
from lerim.jobs.maintain import MaintainReport
from lerim.jobs.sync_context import SyncOptions
from lerim.memory.references.reference_map import ReferenceMap
from lerim.memory.search.memory_search import search_memories
from lerim.memory.store import StoredMemory

START = datetime(2026, 2, 1, tzinfo=UTC)
HOUR = 3600.0
RULES = (
    "Never call the billing service from tests, each call costs money.",
    "Always write dates in UTC, the reports are read in three countries.",
    "Remember that the staging database is wiped every Monday morning.",
)
"""What a person says that is to be learned."""
_UUID = re.compile(rb"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_NATIVE = re.compile(rb"\b(?:msg|req|toolu)_\w{10,40}")
_TIME = re.compile(rb"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@dataclass(frozen=True)
class Real:
    """A real session's transcript, when it began and the folder it ran in."""

    name: str
    text: bytes
    began: datetime
    folder: bytes


def largest(sessions: Path) -> list[Real]:
    """The sessions of the shared set's largest project of Claude Code, in date order."""
    projects = [folder for folder in (sessions / "claude" / "projects").iterdir() if folder.is_dir()]
    folder = max(projects, key=lambda one: sum(path.stat().st_size for path in one.glob("*.jsonl")))
    found = [_real(path) for path in folder.glob("*.jsonl")]
    return sorted(found, key=lambda one: one.began)


def _real(path: Path) -> Real:
    data = path.read_bytes()
    [cwd] = set(re.findall(rb'"cwd":"([^"]+)"', data)[:1])
    return Real(path.stem, data, _moment(min(_TIME.findall(data))), cwd)


def _moment(text: bytes) -> datetime:
    return datetime.fromisoformat(text.decode())


def _stamp(moment: datetime) -> bytes:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z".encode()


@dataclass
class Life:
    """A repository that is worked on day by day, synced and maintained each evening; `day` counts from 0."""

    desk: Desk
    day: int = -1
    reports: list[MaintainReport] = field(default_factory=list)
    _told: int = 0

    @property
    def now(self) -> datetime:
        """The evening of the day."""
        return START + timedelta(days=self.day, hours=20)

    def work(self, real: Real, turn: int) -> None:
        """A real session is held today, for the `turn`th time: with other ids and dates."""
        tag = b"%02x" % turn
        by = START + timedelta(days=self.day, hours=1) - real.began
        data = _UUID.sub(lambda found: tag + found.group()[2:], real.text)
        data = _NATIVE.sub(lambda found: found.group() + tag, data)
        data = _TIME.sub(lambda found: _stamp(_moment(found.group()) + by), data)
        data = data.replace(real.folder, str(self.desk.repo).encode())
        path = self._folder() / f"{tag.decode()}{real.name[2:]}.jsonl"
        path.write_bytes(data)
        os.utime(path, (self.now.timestamp() - HOUR,) * 2)  # its last exchange is over

    def choose(self, file: str, subject: str, over: str) -> None:
        """Today the person wants one thing used in place of another in a file."""
        self.tell(correction(self.desk, subject, file, over))

    def learn(self, rule: str) -> None:
        """Today the person gives a rule of theirs."""
        self.tell([prompt(rule), reply("a", text("Understood.")), prompt("good, go on"), reply("b", text("Yes."))])

    def tell(self, records: Sequence[Fields]) -> None:
        """A made session is held today."""
        self._told += 1
        begins = START + timedelta(days=self.day, hours=12, minutes=self._told % 400)
        lines = []
        for number, record in enumerate(records):
            message = {**record["message"]}
            if "id" in message:
                message["id"] = f"{message['id']}-{self._told}"
            time = _stamp(begins + timedelta(seconds=number)).decode()
            lines.append({**record, "message": message, "timestamp": time})
        path = self.desk.session(f"00000000-0000-4000-8000-{self._told:012d}", *lines)
        os.utime(path, (self.now.timestamp() - HOUR,) * 2)  # its last exchange is over

    def evening(self) -> MaintainReport:
        """What Lerim does by itself at the end of a day."""
        self.desk.sync(SyncOptions(model="none"), clock=lambda: self.now)
        place = self.desk.place
        report = maintain.maintain_project(
            place.project, place.home, os.environ, lambda _at: None, lambda: False, lambda: self.now
        )
        self.reports.append(report)
        return report

    def active(self) -> list[StoredMemory]:
        return [one for one in self.desk.place.store().load_all()[0] if one.status == "active"]

    def served(self, files: Mapping[str, str]) -> dict[str, set[str]]:
        """For each file, with words about it: the titles of what is served as current, by search, in the file, in the
        list."""
        place = self.desk.place
        shown = ReferenceMap(place.project.memory_dir)
        shown.scan()
        listed = {one.record.title for one in self.active()}
        return {
            file: listed
            | {entry.title for entry in shown.for_file(file)}
            | {hit.stored.record.title for hit in search_memories(place.project, place.home, words, 50)}
            for file, words in files.items()
        }

    def _folder(self) -> Path:
        folder = self.desk.projects / re.sub(r"[^A-Za-z0-9]", "-", str(self.desk.repo))
        folder.mkdir(parents=True, exist_ok=True)
        return folder
