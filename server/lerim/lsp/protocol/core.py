"""The protocol between editor and sidecar (docs/PROTOCOL.md §1). `make protocol` writes its TypeScript types.

Inside, fields are snake_case; on the wire camelCase. `to_wire` turns any of our own frozen objects into what is sent.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, Literal

import msgspec

from lerim.files import encode_writable_json

SYNC = "lerim/sync"
REVIEW_LIST = "lerim/review/list"
REVIEW_ACT = "lerim/review/act"
REVIEW_UNDO = "lerim/review/undo"
REVIEW_LEFT_OUT = "lerim/review/leftOut"
REVIEW_PROPOSE = "lerim/review/propose"
MEMORY_SEARCH = "lerim/memory/search"
MEMORY_SHOW = "lerim/memory/show"
MEMORY_TITLES = "lerim/memory/titles"
MEMORY_FOR_FILE = "lerim/memory/forFile"
MEMORY_TREE = "lerim/memory/tree"
MEMORY_ACT = "lerim/memory/act"
MEMORY_MERGE = "lerim/memory/merge"
MAINTAIN = "lerim/maintain"
ASK = "lerim/ask"
TURN = "lerim/turn"
SESSIONS_DAYS = "lerim/sessions/days"
SESSIONS_LIST = "lerim/sessions/list"
SESSIONS_SEARCH = "lerim/sessions/search"
SESSION_OPEN = "lerim/session/open"
SESSION_TURNS = "lerim/session/turns"
SESSION_FIND = "lerim/session/find"
AGENTS = "lerim/agents"
CONNECT = "lerim/connect"
QUEUE_ACT = "lerim/queue/act"
MODEL_STATUS = "lerim/model/status"
MODEL_ALLOW = "lerim/model/allow"
MODEL_CHOICES = "lerim/models"
MODEL_TEST = "lerim/model/test"
MODEL_TRY = "lerim/model/try"
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


Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A whole number as a request may hold it: one that JavaScript and SQLite can hold, too."""


class Params(msgspec.Struct, frozen=True, rename="camel"):
    """Parameters of a request; unknown keys are ignored so that an older sidecar serves a newer extension."""


class SyncParams(Params, frozen=True):
    """What to sync. `explicit`: the person asked, so that the last exchange counts."""

    root: str
    explicit: bool = True


class RootParams(Params, frozen=True):
    """A workspace folder by its URI."""

    root: str


class Edit(Params, frozen=True):
    """A candidate's new words."""

    title: str
    body: str
    tags: list[str]


class ChoiceParams(Params, frozen=True):
    """What the person chose: the answer for this memory. `keep` needs none: the new memory stands beside all
    neighbours. `hash` is the neighbour's as it was shown."""

    answer: Literal["same", "replaces", "changes", "answers", "keep"]
    memory: str = ""
    hash: str = ""


class ActParams(Params, frozen=True):
    """One step with one candidate. `quotes` answers `askQuotes`; `scope` is the candidate's; `choice` is for accepting
    and, without one, the suggested answer is taken, else the new memory stands beside its neighbours."""

    root: str
    id: str
    action: Literal["accept", "reject", "edit"]
    edit: Edit | None = None
    quotes: Literal["shared", "local"] | None = None
    scope: Literal["project", "global"] = "project"
    choice: ChoiceParams | None = None


class LeftOutParams(Params, frozen=True):
    """How much of what was left out is asked for, what was said last first; of one session, or of all."""

    root: str
    most: Whole = 100
    session: str = ""


class ProposeParams(Params, frozen=True):
    """Something that was left out, to be proposed anyway; `scope` is its own."""

    root: str
    id: str
    scope: Literal["project", "global"] = "project"


class UndoParams(Params, frozen=True):
    """The action to take back; None is the last one."""

    root: str
    action: str | None = None


class SearchParams(Params, frozen=True):
    """A query; no `root` searches every repository of the window."""

    query: str
    root: str | None = None
    limit: Whole = 20


class TitlesParams(Params, frozen=True):
    """Which of the titles: those from `start` on, as many as fit into one answer. No `root` is the whole window."""

    root: str | None = None
    start: Whole = 0


class ShowParams(Params, frozen=True):
    """A memory's handle."""

    id: str


class FileParams(Params, frozen=True):
    """A file by its URI."""

    uri: str


class TurnParams(Params, frozen=True):
    """A turn by the handle of a hover's link, or by session and turn id."""

    root: str | None = None
    session: str = ""
    turn: str = ""
    handle: str = ""


class NoParams(Params, frozen=True):
    """Nothing."""


class TurnView(msgspec.Struct, frozen=True):
    """Where a turn stands: `id` names its session for `lerim/session/open`. Of one that is gone `title` and `text` say
    whose it was. `session` and `turn` name it."""

    found: Literal["catalog", "gone"]
    id: str
    title: str
    text: str
    session: str
    turn: str


class CandidatesChangedParams(msgspec.Struct, frozen=True):
    """The list of what waits for review may have changed. `project` is the same for every folder of one project."""

    root: str
    project: str
    pending: int


class MemoriesChangedParams(msgspec.Struct, frozen=True):
    """The memories of a workspace folder's repository changed; `memories` is how many there are."""

    root: str
    memories: int


class WatchFoldersParams(msgspec.Struct, frozen=True):
    """The folders, by their URIs, that hold memories and candidates or will hold them."""

    folders: list[str]


class RootView(msgspec.Struct, frozen=True):
    """One folder of the window, for `lerim/debug`; `key` is its project's, the same for each folder of one."""

    uri: str
    key: str
    project: str
    memories: int
    candidates: int


class DebugView(msgspec.Struct, frozen=True):
    """What to put into a bug report: no text of any memory or transcript."""

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
    """What `to_wire` makes of a value, as JSON."""
    return encode_writable_json(to_wire(value))


def redact_text(text: str) -> str:
    """A text as it may be shown."""
    from lerim.redaction import redact_secrets  # its patterns are for what is shown, not for what is started

    return redact_secrets(text).text


def to_wire(value: object) -> Any:
    """Plain JSON values of our own frozen objects, field names in camelCase; keys of mappings are data and stay.

    Every text is redacted here: nothing of ours goes over the wire by another way.
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
