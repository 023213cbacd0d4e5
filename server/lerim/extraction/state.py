"""The state that extraction keeps between syncs: the open exchange, open failures, proposed claims, and candidates that
rank below the cut so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from lerim.extraction.candidate import Candidate
from lerim.extraction.signals import Exchange, FailureWatch, Signal
from lerim.extraction.utterances import Utterance
from lerim.patterns import compile_later
from lerim.sessions import FileEdit, ToolCall, Turn, extract_own_words

VERSION = 2
MAX_TEXT_CHARS = 6_000  # characters kept of a turn's own text
MAX_OUTPUT_CHARS = 2_400
MAX_REPLIES = 400  # turns kept of one exchange
MAX_CALLS = 64  # tool calls kept of one turn
MAX_WAITING = 120  # ranked candidates kept per session, the best ones
MAX_HEARD_CHARS = 60_000  # characters of utterances kept, the latest ones
BOUNDARY_SEARCH_CHARS = 400  # characters around a cut that are searched for the end of a line or a sentence
_END = compile_later(r"\n|[.!?]\s|[。！？]")


@dataclass(frozen=True, slots=True)
class ProposedClaim:
    """A claim proposed earlier, to recognize it when it is repeated or taken back. `replaces` is in lower case."""

    words: tuple[str, ...]
    title: str
    turn: str
    signal: Signal
    replaces: tuple[str, ...] = ()
    body: str = ""
    primitive: str = ""


@dataclass
class WaitingCandidate:
    """A candidate with its score. `proposed` is set once it has been above the cut, `told` once it has been reported
    as left out."""

    candidate: Candidate
    claim: ProposedClaim
    score: float
    proposed: bool = False
    told: bool = False


@dataclass
class ExtractionState:
    """The complete open state of one session in one project."""

    version: int = VERSION
    before: Exchange = field(default_factory=Exchange)
    now: Exchange = field(default_factory=Exchange)
    floor: int = -1
    watched: int = -1
    watch: FailureWatch = field(default_factory=FailureWatch)
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
    """Encodes the state as JSON."""
    return msgspec.json.encode(state)


def unpack_state(data: bytes | None) -> ExtractionState:
    """Decodes the state of an earlier sync. Returns a fresh state if there is none or this version cannot read it."""
    if not data:
        return ExtractionState()
    try:
        state = msgspec.json.decode(data, type=ExtractionState)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ExtractionState()
    return state if state.version == VERSION else ExtractionState()


def condense_turn(turn: Turn) -> Turn:
    """Returns a redacted turn in short form, so that an open exchange stays small: a prompt is reduced to what the
    person typed, and long texts are cut to their head and tail."""
    text = turn.text
    if turn.role == "user":
        text = "" if turn.unattended else extract_own_words(text)
    return replace(
        turn,
        text=_clip(text, MAX_TEXT_CHARS),
        reasoning="",
        tool_calls=tuple(_condense_call(call) for call in turn.tool_calls[:MAX_CALLS]),
    )


def _condense_call(call: ToolCall) -> ToolCall:
    return replace(
        call,
        command=call.command[:2_000],
        description="",
        output=_clip(call.output, MAX_OUTPUT_CHARS),
        plan=_clip(call.plan, MAX_TEXT_CHARS),
        feedback=call.feedback[:MAX_TEXT_CHARS],
        edits=tuple(FileEdit(edit.path, edit.old[:2_000], edit.new[:2_000]) for edit in call.edits[:20]),
    )


def _clip(text: str, most: int) -> str:
    """Returns the text if it has at most `most` characters; otherwise its head and tail with a blank line between
    them. They are cut at a line or sentence boundary if there is one nearby, because half a sentence may say the
    opposite of the whole."""
    text = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-(most // 2) :]
    ends = [found.end() for found in _END.finditer(head, len(head) - BOUNDARY_SEARCH_CHARS)]
    begins = _END.search(tail, 0, BOUNDARY_SEARCH_CHARS)
    return f"{head[: ends[-1]] if ends else head}\n\n{tail[begins.end() :] if begins else tail}"
