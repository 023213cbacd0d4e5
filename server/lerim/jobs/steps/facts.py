"""The step of a sync that keeps the facts of each turn: which command failed and how, what was decided, which files
were written. It reads the turns while the rules extract from them, so that no session is read twice."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from lerim import extraction
from lerim.project import Project
from lerim.sessions import Fact, Transcript, Turn, encode_facts

_PATH_RELATIONS = ("wrote", "read", "mentions")


class FactsStep:
    """Collects the facts of one session's turns, encoded, by turn id; `by_turn` has them for `Catalog.finish_job`."""

    def __init__(self, project: Project, transcript: Transcript) -> None:
        self.by_turn: dict[str, bytes] = {}
        roots = (str(project.root), *((str(project.main_worktree),) if project.main_worktree else ()), *project.folders)
        self._locate = extraction.Locator(() if project.is_personal else roots)

    def take(self, turn: Turn | None) -> None:
        """Takes the next redacted turn; None is ignored."""
        if turn is None:
            return
        self._locate.record_cwd(turn.cwd)
        facts = list(self._with_relative_paths(extraction.extract_from_turn(turn), turn.cwd))
        self.by_turn[turn.id] = encode_facts(facts) if facts else b""

    def _with_relative_paths(self, facts: Iterable[Fact], cwd: str) -> Iterable[Fact]:
        for fact in facts:
            if fact.relation in _PATH_RELATIONS and (path := self._locate(fact.value, cwd)):
                yield msgspec.structs.replace(fact, value=path)
            else:
                yield fact
