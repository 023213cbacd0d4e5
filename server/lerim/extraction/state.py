"""What extraction carries from one sync to the next: the open exchange, open failures, what was proposed already, and
what ranks below the cut so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from lerim.extraction.bearing import Utterance
from lerim.extraction.candidate import Candidate
from lerim.extraction.signals import Exchange, FailureWatch, Signal
from lerim.sessions import FileEdit, QuestionAnswer, ToolCall, Turn, extract_own_words

VERSION = 2
TEXT = 6_000  # characters of a turn's own text that are held
OUTPUT = 2_400
MAX_REPLIES = 400  # turns of one exchange held at once
MAX_WAITING = 120  # ranked candidates held of a session, the best
MAX_HEARD_CHARS = 60_000  # characters held of who said what, the latest
NEARBY = 400  # characters in which the end of a line or a sentence is looked for, where a text is cut
_END = re.compile(r"\n|[.!?]\s|[。！？]")


@dataclass(frozen=True, slots=True)
class ProposedClaim:
    """What was proposed before, to recognise it when it comes again or is taken back. `replaces`: in lower case."""

    words: tuple[str, ...]
    title: str
    turn: str
    signal: Signal
    replaces: tuple[str, ...] = ()
    body: str = ""
    primitive: str = ""


@dataclass
class WaitingCandidate:
    """A candidate with its score: `proposed` once it was above the cut, `told` once it was listed as left out."""

    candidate: Candidate
    claim: ProposedClaim
    score: float
    proposed: bool = False
    told: bool = False


@dataclass
class ExtractionState:
    """The whole open state of one session in one project."""

    version: int = VERSION
    before: Exchange = field(default_factory=Exchange)
    now: Exchange = field(default_factory=Exchange)
    floor: int = -1
    watched: int = -1
    watch: FailureWatch = field(default_factory=FailureWatch)
    known: list[str] = field(default_factory=list)
    claims: list[ProposedClaim] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    boot: str = ""
    home: str = ""
    files: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    heard: list[Utterance] = field(default_factory=list)
    waiting: list[WaitingCandidate] = field(default_factory=list)
    prompts: int = 0


def pack_state(state: ExtractionState) -> bytes:
    """The state as JSON."""
    return msgspec.json.encode(state)


def unpack_state(data: bytes | None) -> ExtractionState:
    """The state of an earlier sync; a fresh one where there is none, or one this version cannot read."""
    if not data:
        return ExtractionState()
    try:
        state = msgspec.json.decode(data, type=ExtractionState)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ExtractionState()
    return state if state.version == VERSION else ExtractionState()


def condense_turn(turn: Turn) -> Turn:
    """A redacted turn without what nobody typed of a prompt; long texts cut to head and tail so that an open exchange
    stays small."""
    text = turn.text
    if turn.role == "user":
        text = "" if turn.unattended else extract_own_words(text)
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
        answers=tuple(QuestionAnswer(one.question, one.options, one.answer) for one in call.answers),
        edits=tuple(FileEdit(edit.path, edit.old[:2_000], edit.new[:2_000]) for edit in call.edits[:20]),
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
