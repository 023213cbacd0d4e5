"""How the memories of a repository stand, looked at beside the person's work: files by stat, in the executor.

A hover and a lens read what is held here and look at nothing. Only what is not fresh is held.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.errors import LerimError

if TYPE_CHECKING:
    from lerim.lsp.repos import Repo
    from lerim.lsp.sidecar import Sidecar
    from lerim.memory.baselines import Stamp
    from lerim.memory.entries import Entry
    from lerim.memory.freshness import Found, Standing

log = logging.getLogger("lerim.lsp")

MOST_STAMPS = 2_000
SLICE = 4
"""Files looked at in one go, so that little is held at once."""
REST_SECONDS = 0.02
"""Between two goes, for what the person waits for."""
WRONG = ("drifted", "gone")


@dataclass(slots=True)
class Standings:
    """What is known of a repository's memories: those drifted, gone or moved, by id; and what waits for a look:
    `files`, `memories` (their files), all (`whole`), and `glances`, whose lenses were asked for.

    `stamps` are of the files looked at in this session, `kept` is of the database: another process may write it.
    """

    by_id: Mapping[str, Standing] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    kept: Stamp = ()
    glances: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    memories: set[Path] = field(default_factory=set)
    whole: bool = False
    looking: bool = False

    def wrong(self, entry: Entry) -> str:
        """`drifted` or `gone` for a memory that is; "" for others."""
        found = self.by_id.get(entry.id) if self.by_id else None
        return found.state if found is not None and found.state in WRONG else ""

    @property
    def waiting(self) -> bool:
        return self.whole or bool(self.files) or bool(self.memories)


def differs(repo: Repo, path: str) -> bool:
    """Whether a file is not as it was when it was looked at (in the executor)."""
    from lerim.memory.sources import stamp_of

    return repo.standings.stamps.get(path) != stamp_of(repo.project.root / path)


async def look(
    sidecar: Sidecar, repo: Repo, files: Iterable[str] = (), *, memories: Iterable[Path] = (), whole: bool = False
) -> None:
    """Looks at what may stand otherwise now, and tells the editor if it does: at `files` by their paths in the
    repository, at the memories in these files, at all that is known (`whole`: HEAD moved). Calls that come meanwhile
    are answered by the one that runs. Nothing in Restricted Mode: nothing may be kept there."""
    if not sidecar.options.trusted:
        return
    known = repo.standings
    known.files.update(files)
    known.memories.update(memories)
    known.whole = known.whole or whole
    if known.looking:
        return
    known.looking = True
    try:
        again = True
        while again:
            if await sidecar.run(_look, sidecar, repo):
                from lerim.lsp import watching

                watching.announce(sidecar, repo)
            again = known.waiting
            if again:
                await asyncio.sleep(REST_SECONDS)
    except LerimError as error:
        log.warning("How memories stand is not known: %s", error)
    finally:
        known.looking = False


def _look(sidecar: Sidecar, repo: Repo) -> bool:
    """True if any memory stands otherwise than was held (in the executor)."""
    from lerim.memory import baselines
    from lerim.memory.freshness import Freshness, Subject
    from lerim.memory.sources import stamp_of

    known, private = repo.standings, sidecar.home.project(repo.project.key)
    files = [known.files.pop() for _ in range(min(SLICE, len(known.files)))]
    memories, whole = known.memories, known.whole
    known.memories, known.whole = set(), False
    stamps = {path: stamp_of(repo.project.root / path) for path in files}
    changed = [path for path, stamp in stamps.items() if known.stamps.get(path) != stamp]
    if len(known.stamps) > MOST_STAMPS:
        known.stamps.clear()
    known.stamps.update(stamps)
    entries = [entry for path in changed for entry in repo.references.for_file(path)]
    entries += filter(None, map(repo.references.entry, memories))
    subjects = [Subject(entry.id, entry.references, entry.verified) for entry in entries if entry.references]
    if not subjects and not baselines.there(private):
        return False
    fresh = Freshness(repo.project, sidecar.home)
    before = known.by_id

    def take(found: Found) -> None:
        standings = found.standings.items()
        known.by_id = {memory: one for memory, one in standings if one.state != "unknown" or one.moved_to}
        repo.references.follow(found.moved)

    if subjects or changed or whole:
        fresh.check(None if whole else changed, subjects=subjects, now=sidecar.clock(), tell=take)
    elif baselines.stamp(private) != known.kept:
        take(fresh.found())
    known.kept = baselines.stamp(private)
    return before != known.by_id
