"""Finds failing commands that passed once something missing was installed."""

from __future__ import annotations

import re

from lerim.extraction.facts import commands, wording
from lerim.extraction.signals.draft import Draft
from lerim.extraction.signals.failure import CommandFailure, draft_lesson
from lerim.memory import LearningKind
from lerim.sessions import ToolCall, Turn

_MANIFEST = re.compile(
    r"(?:^|/)(?:package(?:-lock)?\.json|[\w.-]{1,30}\.lock|pnpm-lock\.yaml|bun\.lockb?|go\.(?:mod|sum)|pyproject\.toml|"
    r"Cargo\.toml|Gemfile|composer\.json|requirements[\w.-]{0,20}\.txt)$"
)


def is_package_named(package: str, output: str) -> bool:
    """Returns whether the output mentions the package (`@types/node` and `types-node` count as `node`)."""
    tail = re.sub(r"^(?:types?|python|py|lib)[-_]|[-_](?:dev|binary|py)$", "", package.rsplit("/", 1)[-1].lower())
    plain = tail.replace("-", "_")
    text = output.lower()
    return len(tail) > 1 and any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) for form in {tail, plain})


def draft_install(turn: Turn, call: ToolCall, failure: CommandFailure) -> Draft | None:
    """Returns the lesson what the failing command needed; None if other files than manifests were changed too, which
    would make the cause unclear."""
    if any(not _MANIFEST.search(path) for path in failure.files):
        return None
    packages = commands.installed_packages(failure.installed)
    package = next((name for name in packages if is_package_named(name, f"{failure.error}\n{failure.output}")), "")
    kind: LearningKind = "pitfall" if package else "procedure"
    command = wording.shorten(failure.command, 46)
    forms = (f"`{command}` needs `{package}`" if package else f"Run `{failure.installed}` before `{command}`",)
    title = next((form for form in forms if form and len(form) <= wording.MAX_RULE_TITLE_CHARS), "")
    if not title:
        return None
    return draft_lesson(
        failure,
        turn,
        call.output,
        kind=kind,
        title=title,
        body=f"`{failure.command}` failed with “{failure.error}”. The same command passed after `{failure.installed}`.",
        artifacts=(failure.command, failure.installed),
        references=tuple(failure.files),
    )
