"""Where a claim applies: the files it names, else the files changed while it was made."""

from __future__ import annotations

import re

from lerim.facts.artifacts import paths
from lerim.facts.draft import Exchange, Scene
from lerim.facts.wording import code, listing
from lerim.sessions.model import ToolCall

MOST = 3
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[._]test\.|\.spec\.")


def references(scene: Scene, text: str) -> tuple[str, ...]:
    """Up to three repo-relative paths: those the text names, else those changed in the exchange, else in the one "
    "before."""
    return named(scene, text) or changed(scene, scene.now) or changed(scene, scene.before)


def named(scene: Scene, text: str) -> tuple[str, ...]:
    """The files of this repository that the text itself names."""
    cwd = next((turn.cwd for turn in (scene.now.prompt, *scene.now.replies) if turn is not None and turn.cwd), "")
    located = (scene.locate(path, cwd) for path in paths(text))
    return tuple(dict.fromkeys(path for path in located if path))[:MOST]


def changed(scene: Scene, exchange: Exchange) -> tuple[str, ...]:
    """The files changed in the exchange, or nothing where so many were changed that none of them says where."""
    out: dict[str, None] = {}
    for turn in exchange.replies:
        for call in turn.tool_calls:
            if call.status == "ok":
                out |= dict.fromkeys(edited(scene, call, turn.cwd))
    source = tuple(path for path in out if not _TEST.search(path)) or tuple(out)
    return source if len(source) <= MOST else ()


def edited(scene: Scene, call: ToolCall, cwd: str) -> tuple[str, ...]:
    """The repo-relative files a call changed."""
    if call.kind not in ("edit", "write"):
        return ()
    located = (scene.locate(path, cwd) for path in (call.paths or tuple(edit.path for edit in call.edits)))
    return tuple(dict.fromkeys(path for path in located if path))


def where(refs: tuple[str, ...]) -> str:
    """The sentence that names the files, "" where there are none."""
    return f"It concerns {listing([code(ref) for ref in refs])}." if refs else ""
