"""The turns of one session for a model, kept between syncs: those that were not sent yet, and the last ones that
were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from lerim.extraction.facts import squeeze_spaces
from lerim.extraction.locate import Locator
from lerim.extraction.model.windows import CountTokens, take_overlap
from lerim.extraction.transcript import ShownTurn, read_instructions, show_turn, without_repeats
from lerim.models import tokens
from lerim.sessions import Platform, Turn, redact_turn

VERSION = 1
MAX_REMEMBERED_OUTPUTS = 2_000  # outputs that are recognized when they are repeated
MAX_INSTRUCTION_CHARS = 40_000  # characters kept of instruction files that were read
MAX_LISTED_FILES = 40


@dataclass
class _State:
    """The stored state. `sent` is the number of the last turn that a model was shown; `turns` are the last turns
    sent and all turns not sent yet."""

    version: int = VERSION
    sent: int = -1
    turns: list[ShownTurn] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    home: str = ""
    boot: str = ""
    printed: dict[str, int] = field(default_factory=dict)
    branch: str = ""
    model: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    met: int = -1
    calls: int = 0
    errors: int = 0
    tokens: int = 0


class Material:
    """The turns of one session, in order, in the form in which a model is shown them.

    `state` is the value that `state()` returned at the end of an earlier pass. A turn added again replaces its
    earlier form; a turn that was sent and has changed since is sent again.
    """

    def __init__(
        self,
        project_root: Path | None,
        session: str,
        platform: Platform,
        state: bytes | None = None,
        *,
        exists: Callable[[str], bool] | None = None,
        roots: Sequence[str] = (),
    ) -> None:
        self.session = session
        self.platform: Platform = platform
        self._state = _unpacked(state)
        folders = (*((project_root.as_posix(),) if project_root else ()), *roots)
        self.locate = Locator(folders, self._state.home, exists)
        self.locate.files = self._state.files
        self._turns = {turn.number: turn for turn in self._state.turns}

    def add(self, turn: Turn) -> None:
        """Adds the next turn."""
        turn, state = redact_turn(turn), self._state
        shown_turn = show_turn(turn)
        if shown_turn is None:
            return
        shown_turn = without_repeats(shown_turn, state.printed)
        if self._turns.get(turn.ordinal) == shown_turn:
            return
        if turn.ordinal <= state.sent:
            if turn.ordinal not in self._turns:
                return  # sent long ago; its neighbors are no longer kept
            state.sent = turn.ordinal - 1
        self._turns[turn.ordinal] = shown_turn
        self.locate.record_cwd(turn.cwd)
        for path in shown_turn.paths:
            self.locate.record_file(path, turn.cwd)
        if read := read_instructions(turn):
            state.boot = f"{state.boot} {squeeze_spaces(read).lower()}"[-MAX_INSTRUCTION_CHARS:]
        self._count(turn)

    def _count(self, turn: Turn) -> None:
        state = self._state
        state.branch, state.model = turn.branch or state.branch, turn.model or state.model
        state.started, state.ended = state.started or turn.time, turn.time or state.ended
        if turn.ordinal > state.met:
            state.met = turn.ordinal
            state.calls += len(turn.tool_calls)
            state.errors += sum(call.status == "error" for call in turn.tool_calls)
            state.tokens += turn.tokens.input + turn.tokens.output

    def window_turns(self, settled: bool) -> list[ShownTurn]:
        """Returns the turns to cut into windows. The last exchange of a session that has not settled is left out."""
        turns = [self._turns[number] for number in sorted(self._turns)]
        if settled:
            return turns
        last = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=0)
        return turns[:last]

    @property
    def last_sent(self) -> int:
        """The number of the last turn that was sent; -1 if none was."""
        return self._state.sent

    def state(self, sent: int, overlap_tokens: int, count: CountTokens = tokens.count_tokens) -> bytes:
        """Returns the state for the next pass, given that turns up to the number `sent` were sent."""
        state = self._state
        turns = [self._turns[number] for number in sorted(self._turns)]
        kept = take_overlap([turn for turn in turns if turn.number <= sent], overlap_tokens, count)
        state.turns = [*kept, *(turn for turn in turns if turn.number > sent)]
        state.sent = max(sent, state.sent)
        state.home, state.files = self.locate.home, self.locate.files
        state.printed = dict([*state.printed.items()][-MAX_REMEMBERED_OUTPUTS:])
        return msgspec.json.encode(state)

    @property
    def instruction_text(self) -> str:
        """The text read from instruction and memory files, on one line, in lower case."""
        return self._state.boot

    def metadata(self, project: str) -> dict[str, object]:
        """Returns where and when the session was held; `project` is the repository's name."""
        state = self._state
        return {
            "platform": self.platform,
            "session": self.session,
            "project": project,
            "branch": state.branch,
            "started": state.started.isoformat() if state.started else "",
            "ended": state.ended.isoformat() if state.ended else "",
            "model": state.model,
        }

    def metrics(self) -> dict[str, object]:
        """Returns the size of the session, the repo-relative files it touched last, and the number of tokens that
        its own model used."""
        return {
            "turns": self._state.met + 1,
            "tool_calls": self._state.calls,
            "errors": self._state.errors,
            "files_touched": self.locate.files[-MAX_LISTED_FILES:],
            "tokens": self._state.tokens,
        }


def _unpacked(data: bytes | None) -> _State:
    if not data:
        return _State()
    try:
        state = msgspec.json.decode(data, type=_State)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _State()
    return state if state.version == VERSION else _State()
