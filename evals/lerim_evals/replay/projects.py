"""Finds the sessions of each project below a folder, and reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args

from lerim.errors import LerimError, Problem
from lerim.sessions.model import Platform, Transcript, Turn
from lerim.sessions.readers.platform_readers import read_session

MIN_SESSIONS = 6
MANIFEST = "MANIFEST.tsv"
_PLATFORMS: Mapping[str, Platform] = {
    **{name: name for name in get_args(Platform)},
    "copilot-cli": "copilot",
    "copilot-chat": "copilot",
}


@dataclass(frozen=True, slots=True)
class ReplaySession:
    """A session that was read: its turns, and when it began and ended."""

    platform: Platform
    id: str
    turns: tuple[Turn, ...]
    started: datetime
    ended: datetime

    @property
    def prompts(self) -> Iterator[Turn]:
        """What a person typed, in order."""
        return (turn for turn in self.turns if turn.kind == "prompt" and not turn.unattended and not turn.sidechain)


def find_projects(folders: Sequence[Path]) -> dict[str, list[Transcript]]:
    """Returns the transcripts of each project, by `owner/name`. A folder has either a manifest that names the
    repository of each file, or its own layout: OWNER+NAME/PLATFORM/SESSION.jsonl."""
    found: dict[str, list[Transcript]] = defaultdict(list)
    for folder in folders:
        listed = _list_manifest(folder) if (folder / MANIFEST).is_file() else _list_layout(folder)
        for project, transcript in listed:
            found[project].append(transcript)
    return dict(sorted(found.items()))


def read_sessions(transcripts: Sequence[Transcript]) -> tuple[list[ReplaySession], list[Problem]]:
    """Reads the sessions of a project, in the order in which they began. Of one that is there twice, the longer is
    taken; one without a prompt or a time is left out. What cannot be read is a problem."""
    by_id: dict[str, ReplaySession] = {}
    problems: list[Problem] = []
    for transcript in transcripts:
        try:
            turns = tuple(read_session(transcript))
        except LerimError as error:
            problems.append(error.problem(transcript.place))
            continue
        times = [turn.time for turn in turns if turn.time is not None]
        if not times or not any(turn.kind == "prompt" for turn in turns):
            continue
        session = ReplaySession(transcript.platform, transcript.session_id, turns, min(times), max(times))
        known = by_id.get(session.id)
        if known is None or len(known.turns) < len(turns):
            by_id[session.id] = session
    return sorted(by_id.values(), key=lambda one: (one.started, one.id)), problems


def _list_manifest(folder: Path) -> Iterator[tuple[str, Transcript]]:
    for line in (folder / MANIFEST).read_text("utf-8").splitlines()[1:]:
        path, platform, kind, source, *_ = line.split("\t")
        project = source.removeprefix("github:").partition("@")[0]
        file = folder / path
        is_session = file.suffix in (".jsonl", ".json") and file.is_file()
        if kind == "real" and source.startswith("github:") and platform in _PLATFORMS and is_session:
            yield project, _make_transcript(_PLATFORMS[platform], file, _session_of(file))


def _list_layout(folder: Path) -> Iterator[tuple[str, Transcript]]:
    for path in sorted(folder.glob("*+*/*/*.json*")):
        platform = _PLATFORMS.get(path.parent.name)
        if platform is not None:
            yield path.parent.parent.name.replace("+", "/", 1), _make_transcript(platform, path, path.stem)


def _session_of(path: Path) -> str:
    """Returns the session's own id, from the name of its file or, for Copilot's `events.jsonl`, of its folder."""
    if path.name == "events.jsonl":
        return path.parent.name
    is_rollout = path.stem.startswith("rollout-")
    return path.stem[-36:] if is_rollout else path.stem


def _make_transcript(platform: Platform, path: Path, session: str) -> Transcript:
    stat = path.stat()
    return Transcript(platform, path, session, stat.st_size, stat.st_mtime_ns, stat.st_ino)
