"""The protocol between editor and sidecar (docs/PROTOCOL.md §1). `make protocol` writes its TypeScript types.

Fields are snake_case in Python and camelCase on the wire. `to_wire` converts our own frozen objects for sending.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, Literal

import msgspec

from lerim.files import encode_writable_json
from lerim.review import CandidateEdit, NeighbourChoice

SYNC = "lerim/sync"
REVIEW_LIST = "lerim/review/list"
REVIEW_ACT = "lerim/review/act"
REVIEW_UNDO = "lerim/review/undo"
REVIEW_LEFT_OUT = "lerim/review/leftOut"
REVIEW_ACT_ON_MANY = "lerim/review/actOnMany"
REVIEW_REFERENCES = "lerim/review/references"
REVIEW_COMPLETE = "lerim/review/complete"
REVIEW_FOR_FILE = "lerim/review/forFile"
REVIEW_PROPOSE = "lerim/review/propose"
REVIEW_QUOTES = "lerim/review/quotes"
MEMORY_SEARCH = "lerim/memory/search"
MEMORY_SHOW = "lerim/memory/show"
MEMORY_TITLES = "lerim/memory/titles"
MEMORY_FOR_FILE = "lerim/memory/forFile"
SYMBOL = "lerim/symbol"
MEMORY_TREE = "lerim/memory/tree"
MEMORY_ACT = "lerim/memory/act"
MEMORY_MERGE = "lerim/memory/merge"
MEMORY_ADD = "lerim/memory/add"
MEMORY_CONTEXT = "lerim/memory/context"
MAINTAIN = "lerim/maintain"
ASK = "lerim/ask"
BENEFIT = "lerim/benefit"
JOURNAL = "lerim/journal"
CHECK = "lerim/check"
TURN = "lerim/turn"
SESSIONS_DAYS = "lerim/sessions/days"
SESSIONS_LIST = "lerim/sessions/list"
SESSIONS_ELSEWHERE = "lerim/sessions/elsewhere"
SESSIONS_USE = "lerim/sessions/use"
SESSIONS_SEARCH = "lerim/sessions/search"
SESSION_OPEN = "lerim/session/open"
SESSION_TURNS = "lerim/session/turns"
SESSION_CALL = "lerim/session/call"
SESSION_FIND = "lerim/session/find"
AGENTS = "lerim/agents"
AGENT_CONNECTIONS = "lerim/agents/list"
AGENT_PLAN = "lerim/agents/plan"
AGENT_APPLY = "lerim/agents/apply"
AGENT_UNDO = "lerim/agents/undo"
CONNECT = "lerim/connect"
QUEUE_ACT = "lerim/queue/act"
MODEL_STATUS = "lerim/model/status"
MODEL_ALLOW = "lerim/model/allow"
MODEL_CHOICES = "lerim/models"
MODEL_TEST = "lerim/model/test"
MODEL_TRY = "lerim/model/try"
AGENT_TOOL = "lerim/agentTool"
EXPORT_PLAN = "lerim/export/plan"
EXPORT_APPLY = "lerim/export/apply"
EXPORT_UNDO = "lerim/export/undo"
EXPORT_KEEP = "lerim/export/keep"
IMPORT_PLAN = "lerim/import/plan"
IMPORT_APPLY = "lerim/import/apply"
DEBUG = "lerim/debug"

SYNC_PROGRESS = "lerim/syncProgress"
CANDIDATES_CHANGED = "lerim/candidatesChanged"
MEMORIES_CHANGED = "lerim/memoriesChanged"
WATCH_FOLDERS = "lerim/watchFolders"
MAINTAIN_PROGRESS = "lerim/maintainProgress"
ANSWER = "lerim/answer"

LOOK_AROUND = "lerim/lookAround"
EDITOR_MODELS = "lerim/editorModels"
MODEL_PART = "lerim/modelPart"

ASK_MODEL = "lerim/askModel"

OPEN_MEMORY = "lerim.openMemory"
OPEN_TURN = "lerim.openTurn"
SHOW_FILE_MEMORIES = "lerim.showFileMemories"
EDIT_MEMORY = "lerim.editMemory"
ARCHIVE_MEMORY = "lerim.archiveMemory"
VERIFY_MEMORY = "lerim.verifyMemory"
MEMORY_OUTDATED = "lerim.memoryOutdated"


WholeNumber = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A whole number in a request, in the range that JavaScript and SQLite can represent exactly."""


class Params(msgspec.Struct, frozen=True, rename="camel"):
    """Parameters of a request. Unknown keys are ignored, so that an older sidecar works with a newer extension."""


class RootParams(Params, frozen=True):
    """A workspace folder by its URI."""

    root: str


class Edit(CandidateEdit, frozen=True, kw_only=True):
    """A candidate's new text, and its new references and kind if they change."""

    title: str
    body: str
    tags: tuple[str, ...]


class ActParams(Params, frozen=True):
    """One action on one candidate. `quotes` answers `askQuotes`; `scope` is the candidate's. `choice` is for accepting;
    without one, the suggested answer is used, or else the new memory is added beside its neighbours."""

    root: str
    id: str
    action: Literal["accept", "reject", "edit"]
    edit: Edit | None = None
    quotes: Literal["shared", "local"] | None = None
    scope: Literal["project", "global"] = "project"
    choice: NeighbourChoice | None = None


class CandidateParams(Params, frozen=True):
    """A candidate and its scope."""

    id: str
    scope: Literal["project", "global"] = "project"


class ActOnManyParams(Params, frozen=True):
    """One action on several candidates, which one undo takes back. `quotes` answers `askQuotes`."""

    root: str
    action: Literal["accept", "reject"]
    items: list[CandidateParams]
    quotes: Literal["shared", "local"] | None = None


class LeftOutParams(Params, frozen=True):
    """How many items left out of the review to list, newest first, of one session or of all."""

    root: str
    most: WholeNumber = 100
    session: str = ""


class ItemParams(CandidateParams, frozen=True, kw_only=True):
    """A candidate, or an item that was left out, and its scope."""

    root: str


class CompleteParams(Params, frozen=True):
    """What was typed of a tag or reference of a candidate, and the others that are there already."""

    root: str
    scope: Literal["project", "global"]
    field: Literal["tags", "references"]
    typed: str
    present: list[str]


class UndoParams(Params, frozen=True):
    """The action to undo; None is the last one."""

    root: str
    action: str | None = None


class QuotesParams(Params, frozen=True):
    """Where the quotes of memories that are accepted from now on are kept; None asks for the choice made before."""

    root: str
    quotes: Literal["shared", "local"] | None = None


class SearchParams(Params, frozen=True):
    """A query. Without `root`, every repository of the window is searched. `meaning`: list similar memories, too, if
    the setting `meaningPython` is there."""

    query: str
    root: str | None = None
    limit: WholeNumber = 20
    meaning: bool = False


class TitlesParams(Params, frozen=True):
    """A page of titles, from `start` on, as many as fit into one answer. Without `root`, of the whole window."""

    root: str | None = None
    start: WholeNumber = 0


class ShowParams(Params, frozen=True):
    """A memory's handle."""

    id: str


class FileParams(Params, frozen=True):
    """A file by its URI."""

    uri: str


class FileMemoriesParams(Params, frozen=True):
    """A file by its URI, or a place in it: a symbol, or `line` and `character` as in the editor's positions."""

    uri: str
    symbol: str = ""
    line: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] | None = None
    character: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0


class SymbolParams(Params, frozen=True):
    """Lines of an open file, from 0; the last one is included."""

    uri: str
    first: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    last: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class TurnParams(Params, frozen=True):
    """A turn by the handle of a hover's link, or by session and turn id."""

    root: str | None = None
    session: str = ""
    turn: str = ""
    handle: str = ""


class NoParams(Params, frozen=True):
    """No parameters."""


class TurnView(msgspec.Struct, frozen=True):
    """The location of a turn. `id` is its session's for `lerim/session/open`; `session` and `turn` identify it. For a
    turn that no longer exists, `title` and `text` describe where it came from."""

    found: Literal["catalog", "gone"]
    id: str
    title: str
    text: str
    session: str
    turn: str


class CandidatesChangedParams(msgspec.Struct, frozen=True):
    """The candidates that wait for review may have changed. `project` is the same for all folders of a project."""

    root: str
    project: str
    pending: int


class MemoriesChangedParams(msgspec.Struct, frozen=True):
    """The memories of a workspace folder's repository changed; `memories` is their number."""

    root: str
    memories: int


class WatchFoldersParams(msgspec.Struct, frozen=True):
    """The URIs of the folders that hold memories and candidates, or will hold them."""

    folders: list[str]


class RootView(msgspec.Struct, frozen=True):
    """One folder of the window, for `lerim/debug`. `key` is its project's, the same for all folders of a project."""

    uri: str
    key: str
    project: str
    memories: int
    candidates: int


class DebugView(msgspec.Struct, frozen=True):
    """Information for a bug report, without the text of any memory or transcript."""

    version: str
    python: str
    executable: str
    platform: str
    home: str
    roots: list[RootView]
    memory_mb: float
    start_ms: int


@functools.cache
def camel_case(name: str) -> str:
    """`sessions_done` → `sessionsDone`."""
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def encode_json(value: object) -> bytes:
    """Encodes the result of `to_wire` as JSON."""
    return encode_writable_json(to_wire(value))


def redact_text(text: str) -> str:
    """Replaces the secrets in a text, so that it may be shown."""
    from lerim.redaction import redact_secrets  # imported late: compiling its patterns would slow down the start

    return redact_secrets(text).text


def to_wire(value: object) -> Any:
    """Converts our own frozen objects to plain JSON values. Field names become camelCase; keys of mappings are kept.

    Every text is redacted here. All our own objects are sent through this function.
    """
    if isinstance(value, str):
        return redact_text(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, msgspec.Struct):
        return {camel_case(name): to_wire(getattr(value, name)) for name in value.__struct_fields__}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {camel_case(field.name): to_wire(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): to_wire(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_wire(item) for item in value]
    return msgspec.to_builtins(value)
