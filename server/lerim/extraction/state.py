"""What extraction carries from one sync to the next: the open exchange, open failures, what was proposed already, and
what ranks below the cut so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from lerim.extraction.bearing import Heard
from lerim.extraction.candidate import Candidate
from lerim.facts.draft import Exchange, Signal
from lerim.facts.fixes import Watch
from lerim.sessions.model import Answer, Edit, ToolCall, Turn
from lerim.sessions.typed import own_words

VERSION = 2
TEXT = 6_000  # characters of a turn's own text that are held
OUTPUT = 2_400
REPLIES = 400  # turns of one exchange held at once
WAITING = 120  # ranked candidates held of a session, the best
HEARD = 60_000  # characters held of who said what, the latest
NEARBY = 400  # characters in which the end of a line or a sentence is looked for, where a text is cut
_END = re.compile(r"\n|[.!?]\s|[。！？]")


@dataclass(frozen=True, slots=True)
class Claim:
    """What was proposed before, to recognise it when it comes again or is taken back. `replaces`: in lower case."""

    words: tuple[str, ...]
    title: str
    turn: str
    signal: Signal
    replaces: tuple[str, ...] = ()
    body: str = ""
    primitive: str = ""


@dataclass
class Waiting:
    """A candidate with its score: `proposed` once it was above the cut, `told` once it was listed as left out."""

    candidate: Candidate
    claim: Claim
    score: float
    proposed: bool = False
    told: bool = False


@dataclass
class State:
    """The whole open state of one session in one project."""

    version: int = VERSION
    before: Exchange = field(default_factory=Exchange)
    now: Exchange = field(default_factory=Exchange)
    floor: int = -1
    watched: int = -1
    watch: Watch = field(default_factory=Watch)
    known: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    boot: str = ""
    home: str = ""
    files: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    prompts: int = 0


def pack(state: State) -> bytes:
    """The state as JSON."""
    return msgspec.json.encode(state)


def unpack(data: bytes | None) -> State:
    """The state of an earlier sync; a fresh one where there is none, or one this version cannot read."""
    if not data:
        return State()
    try:
        state = msgspec.json.decode(data, type=State)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return State()
    return state if state.version == VERSION else State()


def condensed(turn: Turn) -> Turn:
    """A redacted turn without what nobody typed of a prompt; long texts cut to head and tail so that an open exchange
    stays small."""
    text = turn.text
    if turn.role == "user":
        text = "" if turn.unattended else own_words(text)
    return replace(
        turn,
        text=_clip(text, TEXT),
        reasoning="",
        tool_calls=tuple(_condensed(call) for call in turn.tool_calls[:64]),
    )


def _condensed(call: ToolCall) -> ToolCall:
    return replace(
        call,
        command=call.command[:2_000],
        description="",
        output=_clip(call.output, OUTPUT),
        plan=_clip(call.plan, TEXT),
        feedback=call.feedback[:TEXT],
        answers=tuple(Answer(one.question, one.options, one.answer) for one in call.answers),
        edits=tuple(Edit(edit.path, edit.old[:2_000], edit.new[:2_000]) for edit in call.edits[:20]),
    )


def _clip(text: str, most: int) -> str:
    """A text, or its head and tail with a blank line between them. They end and begin with a line or a sentence where
    one does nearby: half a sentence may say the opposite of the whole."""
    text = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-(most // 2) :]
    ends = [found.end() for found in _END.finditer(head, len(head) - NEARBY)]
    begins = _END.search(tail, 0, NEARBY)
    return f"{head[: ends[-1]] if ends else head}\n\n{tail[begins.end() :] if begins else tail}"
