"""The facts of each turn: which command failed and how, what was decided, which files were written. They are found
while the rules extract from the turns, so that no session is read twice."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from lerim import extraction
from lerim.jobs.extracting.session_reading import make_locator
from lerim.project import Project
from lerim.sessions import Fact, Transcript, Turn, encode_facts

_PATH_RELATIONS = ("wrote", "read", "mentions")


class FactCollector:
    """Collects the facts of one session's turns, encoded, by turn id, and the turns that are worth a model's time, for
    `Catalog.finish_job`."""

    def __init__(self, project: Project, transcript: Transcript) -> None:
        self.by_turn: dict[str, bytes] = {}
        self.model_turns: list[str] = []
        self._locate = make_locator(project)
        self._is_subagent = bool(transcript.parent)

    def take(self, turn: Turn | None) -> None:
        """Takes the next redacted turn; None is ignored."""
        if turn is None:
            return
        self._locate.record_cwd(turn.cwd)
        facts = list(self._with_relative_paths(extraction.extract_from_turn(turn), turn.cwd))
        self.by_turn[turn.id] = encode_facts(facts) if facts else b""
        names = [call.name for call in turn.tool_calls]
        is_reply = turn.role == "assistant" and bool(turn.text.strip()) and not self._is_subagent
        if is_reply and extraction.qualifies_for_llm_extraction(names, turn.text):
            self.model_turns.append(turn.id)

    def _with_relative_paths(self, facts: Iterable[Fact], cwd: str) -> Iterable[Fact]:
        for fact in facts:
            if fact.relation in _PATH_RELATIONS and (path := self._locate(fact.value, cwd)):
                yield msgspec.structs.replace(fact, value=path)
            else:
                yield fact
