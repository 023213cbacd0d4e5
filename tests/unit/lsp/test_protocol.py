"""docs/PROTOCOL.md lists the messages and the fields of the sidecar's types."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from lerim.agents import status
from lerim.assistant import answers
from lerim.errors import Problem
from lerim.jobs import agent_states
from lerim.jobs.report import DroppedView, SyncReport, WithdrawnView
from lerim.lsp.features.memories import loading, tree
from lerim.lsp.features.sessions import agent_stores, search
from lerim.lsp.protocol import agents, core, memories, models
from lerim.memory.record import Evidence
from lerim.memory.views import MemoryView
from lerim.models.money.usage import Usage
from lerim.review.results import ReviewResult
from lerim.review.views import CandidateView, LeftOutView, TargetView, UndoView
from lerim.sessions import SessionTurn, ShownCall
from lerim.views import SessionView

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "PROTOCOL.md").read_text(encoding="utf-8")
METHODS = {value for value in vars(core).values() if isinstance(value, str) and value.startswith("lerim/")}


def test_every_message_is_on_the_page() -> None:
    assert set(re.findall(r"^\| `(lerim/[A-Za-z/]+)`", PAGE, re.MULTILINE)) == METHODS


@pytest.mark.parametrize(
    "kind",
    [
        *(CandidateView, Evidence, MemoryView, TargetView, ReviewResult, UndoView, LeftOutView, Problem),
        *(DroppedView, WithdrawnView, SyncReport, Usage),
        *(loading.TitleView, tree.TreeGroup, tree.TreeProposal, tree.TreeMemory),
        *(memories.MemoryActView, answers.Citation, answers.Sentence, answers.Passage, answers.Answer),
        *(SessionView, search.HitView, SessionTurn, ShownCall, agent_stores.JobView),
        *(status.ConnectionView, status.ChannelView, agents.AgentEditView),
        *(agent_states.AgentView, agent_states.StoreView, agent_states.SkippedView),
        *(models.EditorModelView, models.ModelAnswerView),
    ],
    ids=lambda kind: kind.__name__,
)
def test_the_page_lists_the_fields_of(kind: Any) -> None:
    names = (
        [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else kind.__struct_fields__
    )
    assert page_fields(kind.__name__) == {core.camel_case(name) for name in names}


def page_fields(name: str) -> set[str]:
    """The fields of `Name {a, b: "x"|"y", c: {d}, e[]}` on the page, without those of types inside."""
    start = re.search(rf"\b{name} \{{", PAGE)
    assert start
    depth, own = 1, ""
    for character in PAGE[start.end() :]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            break
        own += character if depth == 1 else ""
    return {found[0] for part in own.split(",") if (found := re.match(r"\w+", part.strip()))}
