"""What tests of agents' files say in short: memories as data, files as data, and the plan made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from lerim.export.choosing import RuleMemory
from lerim.export.plan import ExportPlan, plan_export, plan_removal
from lerim.export.project_files import ProjectFiles
from lerim.memory import Evidence, MemoryRecord

ROOT = Path("/repo")
MARCH = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def memory(title: str, *references: str, uses: int = 0, **more: object) -> RuleMemory:
    """A decision of 2 March about these places."""
    values: dict[str, object] = {
        "id": f"20260302-{''.join(c if c.isalnum() else '-' for c in title.lower())[:40]}",
        "primitive": "decision",
        "title": title,
        "created": MARCH,
        "updated": MARCH,
        "source": "claude:s1#0a1b2c3d4e5f",
        "confidence": 0.9,
        "tags": (),
        "body": "",
        "references": references,
        "evidence": (Evidence("no: so", "0a1b2c3d4e5f", "user"),),
    }
    return RuleMemory(MemoryRecord(**{**values, **more}), uses)  # type: ignore[arg-type]


def files(
    texts: Mapping[str, str | None] | None = None, *signs: str, links: Mapping[str, str] | None = None
) -> ProjectFiles:
    """A repository with these files."""
    there = {name: text for name, text in (texts or {}).items() if text is not None}
    return ProjectFiles(ROOT, there, links or {}, frozenset(signs), frozenset(), ())


def plan(memories: Iterable[RuleMemory], found: ProjectFiles | None = None, *used: str) -> ExportPlan:
    """The plan for these memories, if these agents are used."""
    return plan_export(memories, found or files(), frozenset(used))  # type: ignore[arg-type]


def written(found: ProjectFiles, planned: ExportPlan) -> ProjectFiles:
    """The repository once the plan is carried out."""
    texts = dict(found.texts)
    for edit in planned.edits:
        name = edit.path.relative_to(ROOT).as_posix()
        assert texts.get(name) == edit.before
        if edit.after is None:
            del texts[name]
        else:
            texts[name] = edit.after
    return ProjectFiles(ROOT, texts, found.links, found.signs, found.locked, ())


def texts_after(planned: ExportPlan) -> dict[str, str | None]:
    """The files of a plan with their new texts."""
    return {edit.path.relative_to(ROOT).as_posix(): edit.after for edit in planned.edits}


def removal(found: ProjectFiles) -> ExportPlan:
    """The plan that takes everything of Lerim's out."""
    return plan_removal(found)
