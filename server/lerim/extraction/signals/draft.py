"""Drafts: proposals made from a signal, before the gate has judged, redacted and weighed them. Also finds where a
draft applies: in the files it names, or else in the files changed during its exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from lerim.extraction.facts import TEST_PATH, find_paths
from lerim.extraction.locate import find_defined_names, locate_argument
from lerim.memory import LearningKind, Primitive, Speaker
from lerim.patterns import compile_later
from lerim.sessions import FileEdit, ToolCall, Turn

Signal = Literal["prompt", "answer", "feedback", "plan", "reply", "fixed-command", "friction", "theme", "model"]
"""Where a proposal comes from: what a person typed, answered, or said when denying or approving a tool call; a plan
they approved; what the agent wrote; a command that failed and then passed; an error in several sessions; a folder
several sessions worked on; a model."""
RANKED_SIGNALS: Final[frozenset[str]] = frozenset(("prompt", "answer", "feedback", "plan", "reply"))
"""The signals for statements, which the ranker finds."""
Basis = Literal["ranked", "fixed", "replaced", "met", "worked", "model"]
"""The basis of a draft: it ranked high among the statements of a session; the exit codes of commands (fixed: the
same command passed, replaced: another one did); several sessions met the same error or worked on it; a model found
it."""
MAX_PLACES = 3
_NAME = compile_later(
    r"`(?:[\w$]{1,60}\.){0,3}(?P<ticked>[A-Za-z_$][\w$]{3,60})(?:\(\))?`|(?<![\w./-])(?:[\w$]{1,60}\.)?"
    r"(?P<plain>_*[a-z][a-z0-9]*(?:_[a-z0-9]+){1,8}|[A-Za-z][a-z0-9]{1,30}(?:[A-Z][A-Za-z0-9]{0,30}){1,8})(?![\w/-])"
)
"""Matches only names from code: in backticks, snake_case or camelCase."""
_LOCAL_CONSTANT = compile_later(r"(?m)^[ \t]{1,40}(?:const|let|var) (?P<name>[\w$]{1,60})")


@dataclass(frozen=True, slots=True)
class Quote:
    """Text that is verbatim in the turn with the id `turn`, and who said it."""

    text: str
    turn: str
    who: Speaker


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed memory. `chance` (0 to 1) is how likely it is worth keeping, `score` the score from the learned
    ranker, and `features` the ranker's inputs; None and empty if it was not ranked."""

    signal: Signal
    basis: Basis
    primitive: Primitive
    kind: LearningKind | None
    title: str
    body: str
    turn: Turn
    quotes: tuple[Quote, ...]
    artifacts: tuple[str, ...]
    references: tuple[str, ...] = ()
    chance: float | None = None
    score: float | None = None
    features: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a person typed (None if the transcript starts with the model, or in a subagent) and all replies to it."""

    prompt: Turn | None = None
    replies: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """One exchange with its context: the exchange before, and the person's next words (None: none yet).

    `locate` maps a path as written and the turn's cwd to a repo-relative path, or "" for a path outside the repository.
    `symbols` maps names to the repository file that defines them, as far as the session saw it.
    """

    before: Exchange
    now: Exchange
    after: Turn | None
    locate: Callable[[str, str], str]
    symbols: Mapping[str, str] = field(default_factory=dict)


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
    """Returns the files changed in the exchange, without tests if other files were changed too. Returns nothing if
    there are more than `MAX_PLACES`, because then they no longer show where the claim applies."""
    out = _collect_edited_files(scene, exchange)
    source = tuple(path for path in out if not TEST_PATH.search(path)) or out
    return source if len(source) <= MAX_PLACES else ()


def narrow_to_symbols(scene: Scene, exchange: Exchange, files: Sequence[str]) -> tuple[str, ...]:
    """Returns these places with `path#symbol` instead of each file in which the exchange changed only one function,
    class or constant, as far as its edits and replies show."""
    return tuple(_narrow_to_symbol(scene, exchange, path) for path in files)


def _narrow_to_symbol(scene: Scene, exchange: Exchange, path: str) -> str:
    edits = [
        edit
        for turn in exchange.replies
        for call in turn.tool_calls
        if call.status == "ok"
        for edit in call.edits
        if locate_argument(scene.locate, edit.path, turn.cwd) == path
    ]
    if "#" in path or not edits or not all(edit.old for edit in edits):
        return path
    changed = [_find_changed_definitions(edit) for edit in edits]
    names = set().union(*changed)
    if not all(changed):  # an edit inside of something: the replies may name it
        said = (match["ticked"] for turn in exchange.replies for match in _NAME.finditer(turn.text))
        names |= {name for name in said if name and scene.symbols.get(name) == path}
    return f"{path}#{names.pop()}" if len(names) == 1 else path


def _find_changed_definitions(edit: FileEdit) -> set[str]:
    """Returns the names whose definitions an edit replaced; none if it only put something before or after them."""
    if edit.new.startswith(edit.old) or edit.new.endswith(edit.old):
        return set()
    names = set(find_defined_names(edit.old)) & set(find_defined_names(edit.new))
    return names - {match["name"] for match in _LOCAL_CONSTANT.finditer(edit.old)}


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
    paths = call.paths or tuple(edit.path for edit in call.edits)
    located = (locate_argument(scene.locate, path, cwd) for path in paths)
    return tuple(dict.fromkeys(path for path in located if path))
