"""The wire is described once and written twice: the page, the sidecar and the extension must agree."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lerim import doctor
from lerim.errors import Problem
from lerim.lead import cited
from lerim.lsp import lives_protocol, model_protocol, protocol, session_protocol
from lerim.maintained import MaintainProgress, MaintainReport, StaleMemory
from lerim.memory.views import EvidenceView, MemoryView
from lerim.models.state import ModelView
from lerim.models.usage import Spent, Step, Usage, Waits
from lerim.report import DroppedView, Progress, SyncReport, Withdrew
from lerim.review.decisions import ReviewResult
from lerim.review.run import MaintainAction
from lerim.review.views import CandidateView, LeftOutView, TargetView, UndoView

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "PROTOCOL.md").read_text(encoding="utf-8")
MIRROR = "\n".join(
    (REPOSITORY / "extension" / name).read_text(encoding="utf-8")
    for name in ("protocol.ts", "modelprotocol.ts", "sessionprotocol.ts", "livesprotocol.ts", "reviewprotocol.ts")
)
METHODS = {value for value in vars(protocol).values() if isinstance(value, str) and value.startswith("lerim/")}

TYPES: dict[str, Any] = {
    "EvidenceView": EvidenceView,
    "CandidateView": CandidateView,
    "MemoryView": MemoryView,
    "TargetView": TargetView,
    "Problem": Problem,
    "UndoView": UndoView,
    "DroppedView": DroppedView,
    "Withdrew": Withdrew,
    "SyncReport": SyncReport,
    "Usage": Usage,
    "ReviewResult": ReviewResult,
    "TurnView": protocol.TurnView,
    "DebugView": protocol.DebugView,
    "Spent": Spent,
    "Step": Step,
    "Waits": Waits,
    "ModelView": ModelView,
    "AllowParams": model_protocol.AllowParams,
    "OptionView": model_protocol.OptionView,
    "ChoicesView": model_protocol.ChoicesView,
    "TrialView": model_protocol.TrialView,
    "EditorModelView": model_protocol.EditorModelView,
    "EditorModelsParams": model_protocol.EditorModelsParams,
    "AskModelParams": model_protocol.AskModelParams,
    "ModelPart": model_protocol.ModelPart,
    "AskedView": model_protocol.AskedView,
    "SyncProgress": Progress,
    "SyncParams": protocol.SyncParams,
    "RootParams": protocol.RootParams,
    "Edit": protocol.Edit,
    "ActParams": protocol.ActParams,
    "UndoParams": protocol.UndoParams,
    "LeftOutParams": protocol.LeftOutParams,
    "LeftOutView": LeftOutView,
    "ProposeParams": protocol.ProposeParams,
    "SearchParams": protocol.SearchParams,
    "ShowParams": protocol.ShowParams,
    "TitlesParams": protocol.TitlesParams,
    "TitleView": protocol.TitleView,
    "TitlesView": protocol.TitlesView,
    "DaysParams": session_protocol.DaysParams,
    "DayView": session_protocol.DayView,
    "DaysView": session_protocol.DaysView,
    "SessionsParams": session_protocol.SessionsParams,
    "TokensView": session_protocol.TokensView,
    "SessionView": session_protocol.SessionView,
    "SessionsView": session_protocol.SessionsView,
    "SessionSearchParams": session_protocol.SessionSearchParams,
    "HitView": session_protocol.HitView,
    "HitsView": session_protocol.HitsView,
    "OpenParams": session_protocol.OpenParams,
    "OutlineView": session_protocol.OutlineView,
    "TurnsParams": session_protocol.TurnsParams,
    "CallView": session_protocol.CallView,
    "SessionTurn": session_protocol.SessionTurn,
    "TurnsView": session_protocol.TurnsView,
    "FindParams": session_protocol.FindParams,
    "PlacesView": session_protocol.PlacesView,
    "AgentsParams": session_protocol.AgentsParams,
    "JobView": session_protocol.JobView,
    "AgentsView": session_protocol.AgentsView,
    "ConnectParams": session_protocol.ConnectParams,
    "QueueParams": session_protocol.QueueParams,
    "DoneView": session_protocol.DoneView,
    "AgentView": doctor.AgentView,
    "StoreView": doctor.StoreView,
    "SkippedView": doctor.SkippedView,
    "LastErrorView": doctor.LastErrorView,
    **{
        name: getattr(lives_protocol, name)
        for name in (
            *("TreeParams", "TreeGroup", "TreeProposal", "TreeMemory", "TreeView", "MemoryActParams", "ActedView"),
            *("MergeParams", "MergeView", "MaintainParams", "AskParams"),
        )
    },
    "CitationView": cited.Citation,
    "SentenceView": cited.Sentence,
    "PassageView": cited.Passage,
    "AnswerView": cited.Answer,
    "MaintainProgress": MaintainProgress,
    "MaintainReport": MaintainReport,
    "MaintainAction": MaintainAction,
    "StaleMemory": StaleMemory,
}


def fields(kind: Any) -> set[str]:
    if dataclasses.is_dataclass(kind):
        names: Any = [field.name for field in dataclasses.fields(kind)]
    else:
        names = kind.__struct_fields__
    return {protocol.camel(name) for name in names}


def test_every_message_is_on_the_page_and_in_the_mirror() -> None:
    assert set(re.findall(r"^\| `(lerim/[A-Za-z/]+)`", PAGE, re.MULTILINE)) == METHODS
    assert set(re.findall(r'"(lerim/[A-Za-z/]+)"', MIRROR)) == METHODS


@pytest.mark.parametrize("name", sorted(TYPES))
def test_every_field_the_extension_reads_or_sends_is_one_of_ours(name: str) -> None:
    body = re.search(rf"^export interface {name} \{{(.*?)^\}}", MIRROR, re.MULTILINE | re.DOTALL)
    assert body
    theirs = set(re.findall(r"^  (\w+)\??:", body[1], re.MULTILINE))
    extra = {"root"} if name in ("SyncProgress", "MaintainProgress") else set()
    assert theirs <= fields(TYPES[name]) | extra
    assert fields(TYPES[name]) - theirs <= {"edited", "path"}


@pytest.mark.parametrize(
    "name",
    [
        *("CandidateView", "MemoryView", "ReviewResult", "SyncReport", "Usage", "DroppedView", "UndoView", "TitleView"),
        *("SessionView", "HitView", "SessionTurn", "CallView", "AgentView", "StoreView", "SkippedView", "JobView"),
    ],
)
def test_every_field_is_on_the_page(name: str) -> None:
    body = re.search(rf"`{name} \{{(.*?)\}}`", PAGE, re.DOTALL)
    assert body
    assert fields(TYPES[name]) <= set(re.findall(r"\w+", body[1]))


def test_our_objects_leave_in_camel_case_and_the_keys_of_data_stay() -> None:
    class Inner(msgspec.Struct, frozen=True):
        two_words: int

    @dataclasses.dataclass(frozen=True)
    class Outer:
        some_items: tuple[Inner, ...]
        by_reason: dict[str, int]

    sent = protocol.wire(Outer((Inner(1),), {"no-evidence": 1, "under_score": 2}))
    assert sent == {"someItems": [{"twoWords": 1}], "byReason": {"no-evidence": 1, "under_score": 2}}
