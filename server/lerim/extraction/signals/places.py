"""Finds where a claim applies: in the files it names, else in the files changed during its exchange."""

from __future__ import annotations

import re

from lerim.extraction.facts import find_paths
from lerim.extraction.signals.draft import Exchange, Scene
from lerim.sessions import ToolCall

MAX_PLACES = 3
_NAME = re.compile(
    r"`(?:[\w$]{1,60}\.){0,3}(?P<ticked>[A-Za-z_$][\w$]{3,60})(?:\(\))?`|(?<![\w./-])(?:[\w$]{1,60}\.)?"
    r"(?P<plain>_*[a-z][a-z0-9]*(?:_[a-z0-9]+){1,8}|[A-Za-z][a-z0-9]{1,30}(?:[A-Z][A-Za-z0-9]{0,30}){1,8})(?![\w/-])"
)
"""Matches only names from code: in backticks, snake_case or camelCase."""
_TEST_PATH = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[._]test\.|\.spec\.")


def find_named_places(scene: Scene, text: str) -> tuple[str, ...]:
    """Returns the files of this repository that the text names, and the symbols it names as `path#symbol` if the
    session saw their definition. A file is not repeated if one of its symbols is listed."""
    cwd = next((turn.cwd for turn in (scene.now.prompt, *scene.now.replies) if turn is not None and turn.cwd), "")
    located = (scene.locate(path, cwd) for path in find_paths(text))
    files = tuple(dict.fromkeys(path for path in located if path))
    found = [name for match in _NAME.finditer(text) if (name := match["ticked"] or match["plain"]) in scene.symbols]
    symbols = tuple(dict.fromkeys(f"{scene.symbols[name]}#{name}" for name in found if "." not in name))
    inside = {symbol.partition("#")[0] for symbol in symbols}
    return (*symbols, *(path for path in files if path not in inside))[:MAX_PLACES]


def find_changed_files(scene: Scene, exchange: Exchange) -> tuple[str, ...]:
    """Returns the files changed in the exchange, without tests if others were changed; nothing if there are more than
    `MAX_PLACES`, because then they no longer tell where the claim applies."""
    out = _collect_edited_files(scene, exchange)
    source = tuple(path for path in out if not _TEST_PATH.search(path)) or out
    return source if len(source) <= MAX_PLACES else ()


def _collect_edited_files(scene: Scene, exchange: Exchange) -> tuple[str, ...]:
    out: dict[str, None] = {}
    for turn in exchange.replies:
        for call in turn.tool_calls:
            if call.status == "ok":
                out |= dict.fromkeys(find_edited_files(scene, call, turn.cwd))
    return tuple(out)


def find_edited_files(scene: Scene, call: ToolCall, cwd: str) -> tuple[str, ...]:
    """Returns the repo-relative files that a tool call changed."""
    if call.kind not in ("edit", "write"):
        return ()
    located = (scene.locate(path, cwd) for path in (call.paths or tuple(edit.path for edit in call.edits)))
    return tuple(dict.fromkeys(path for path in located if path))
