"""Where a claim applies: the files it names, else the files changed while it was made."""

from __future__ import annotations

import posixpath
import re

from lerim.facts.artifacts import artifacts, paths
from lerim.facts.draft import Exchange, Scene
from lerim.facts.wording import code, listing
from lerim.sessions.model import ToolCall

MOST = 3
_WORD = re.compile(r"[a-z][a-z_-]{3,30}")
_COMMON = frozenset(
    ("always", "never", "every", "should", "must", "with", "from", "into", "this", "that", "have", "needs", "when")
)
RULES = re.compile(
    r"(?:^|/)(?:(?:CLAUDE|AGENTS?|GEMINI|CONTRIBUTING|CONVENTIONS|STYLE_?GUIDE|copilot-instructions)(?:\.\w{1,12})?\.md|"
    r"\.(?:cursor|windsurf|cline)rules|[\w.-]{1,60}\.mdc)$|(?:^|/)\.(?:claude|codex|cursor|gemini|github|kiro|opencode|windsurf)/"
    r"(?:rules|instructions|steering|commands?|prompts|skills|agents|modes)/[\w./-]{1,80}\.(?:md|toml)$",
    re.IGNORECASE,
)
"""Where a project's rules for agents and people are written down."""
_NAME = re.compile(
    r"`(?:[\w$]{1,60}\.){0,3}(?P<ticked>[A-Za-z_$][\w$]{3,60})(?:\(\))?`|(?<![\w./-])(?:[\w$]{1,60}\.)?"
    r"(?P<plain>_*[a-z][a-z0-9]*(?:_[a-z0-9]+){1,8}|[A-Za-z][a-z0-9]{1,30}(?:[A-Z][A-Za-z0-9]{0,30}){1,8})(?![\w/-])"
)
"""What can only be the name of something in code: in backticks, snake_case or camelCase."""
_CONCERNS = re.compile(r"It concerns `[^\n]{1,600}`\.$")
_FILE = re.compile(r"`([^`\n]{1,400})`")
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[._]test\.|\.spec\.")


def references(scene: Scene, text: str) -> tuple[str, ...]:
    """Up to three repo-relative paths: those the text names, else those changed in the exchange, else in the one "
    "before."""
    return named(scene, text) or changed(scene, scene.now) or changed(scene, scene.before)


def concerned(scene: Scene, text: str) -> tuple[str, ...]:
    """Like `references`, but a changed file counts only where what was changed in it speaks of the same things."""
    found = named(scene, text)
    if found:
        return found
    words = {word for word in _WORD.findall(text.lower()) if word not in _COMMON}
    names = {name.strip("`").lower() for name in artifacts(text, scene.known)}
    for exchange in (scene.now, scene.before):
        out: dict[str, None] = {}
        for turn in exchange.replies:
            for call in turn.tool_calls:
                if call.status == "ok" and call.kind in ("edit", "write") and _speaks(call, words, names):
                    out |= dict.fromkeys(edited(scene, call, turn.cwd))
        source = tuple(path for path in out if not _TEST.search(path)) or tuple(out)
        if 0 < len(source) <= MOST:
            return source
    return ()


def _speaks(call: ToolCall, words: set[str], names: set[str]) -> bool:
    changed = " ".join(f"{edit.old} {edit.new}" for edit in call.edits).lower()
    hit = {word for word in words if word in changed}
    return any(name in changed for name in names) or len(hit) >= max(2, (len(words) + 1) // 2)


def named(scene: Scene, text: str) -> tuple[str, ...]:
    """The files of this repository that the text itself names, and the symbols it names where the session saw them
    defined: `path#symbol`, which also says the file."""
    cwd = next((turn.cwd for turn in (scene.now.prompt, *scene.now.replies) if turn is not None and turn.cwd), "")
    located = (scene.locate(path, cwd) for path in paths(text))
    files = tuple(dict.fromkeys(path for path in located if path))
    found = [name for match in _NAME.finditer(text) if (name := match["ticked"] or match["plain"]) in scene.symbols]
    symbols = tuple(dict.fromkeys(f"{scene.symbols[name]}#{name}" for name in found if "." not in name))
    inside = {symbol.partition("#")[0] for symbol in symbols}
    return (*symbols, *(path for path in files if path not in inside))[:MOST]


def changed(scene: Scene, exchange: Exchange, only: re.Pattern[str] | None = None) -> tuple[str, ...]:
    """The files changed in the exchange (`only` those whose path it finds), or nothing where so many were changed that
    none of them says where."""
    out = tuple(path for path in _changed(scene, exchange) if only is None or only.search(path))
    source = tuple(path for path in out if not _TEST.search(path)) or out
    return source if len(source) <= MOST else ()


def _changed(scene: Scene, exchange: Exchange) -> tuple[str, ...]:
    out: dict[str, None] = {}
    for turn in exchange.replies:
        for call in turn.tool_calls:
            if call.status == "ok":
                out |= dict.fromkeys(edited(scene, call, turn.cwd))
    return tuple(out)


def written_down(scene: Scene) -> tuple[str, ...]:
    """The files of rules for agents and people that were changed in the exchange."""
    return tuple(path for path in _changed(scene, scene.now) if RULES.search(path))[:MOST]


def edited(scene: Scene, call: ToolCall, cwd: str) -> tuple[str, ...]:
    """The repo-relative files a call changed."""
    if call.kind not in ("edit", "write"):
        return ()
    located = (scene.locate(path, cwd) for path in (call.paths or tuple(edit.path for edit in call.edits)))
    return tuple(dict.fromkeys(path for path in located if path))


def unrepeated(body: str, title: str) -> str:
    """The body without the sentence that names the files, where they are all named before it."""
    match = _CONCERNS.search(body)
    if match is None or not match.start():
        return body
    before = f"{title} {body[: match.start()]}"
    named_before = all(posixpath.basename(file) in before for file in _FILE.findall(match.group()))
    return body[: match.start()].rstrip() if named_before else body


def where(refs: tuple[str, ...]) -> str:
    """The sentence that names the files, "" where there are none."""
    files = dict.fromkeys(ref.partition("#")[0] for ref in refs)
    return f"It concerns {listing([code(file) for file in files])}." if refs else ""
