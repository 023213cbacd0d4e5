"""What a person had to say again, and which failures came again: labelled by reading, and found by code.

A repeat is told by the session before: within one session an agent still has what was said. The same prompt sent again
to start over, or to another agent, is no repeat.
"""

from __future__ import annotations

import csv
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lerim.extraction.facts import commands, output_lines
from lerim.memory import dice_overlap, word_stems
from lerim.sessions.model import ToolCall, Turn
from lerim.statistics.benefit.repetitions import split_demands
from lerim_evals.replay.projects import ReplaySession

LABELLED = Path(__file__).parents[2] / "replay" / "repeats.tsv"
MIN_SHARED, MIN_OVERLAP = 3, 0.6
SAME_PROMPT = 0.95
"""Two prompts that overlap this much are the same prompt, sent again."""
MAX_DEMANDS = 40
"""How many sentences of one prompt are compared."""
_NUMBER = re.compile(r"\d+|0x[0-9a-f]+|\b[0-9a-f]{7,40}\b")
_NO_ERROR = re.compile(r"[✔✓>$]|ok\b|pass", re.IGNORECASE)
"""Matches lines that a failed run prints without being its error."""
RepeatKind = Literal["labelled", "said again", "failed again"]


@dataclass(frozen=True, slots=True)
class LabelledRepeat:
    """A prompt that says again what an earlier session's prompt said; `what` is that, in a reader's words."""

    project: str
    session: str
    turn: str
    said: str
    before_session: str
    before_turn: str
    said_before: str
    what: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """Something that came again in a session. `turn` is where; `before` are the turns of earlier sessions that had
    it."""

    kind: RepeatKind
    session: str
    turn: str
    said: str
    before: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Failure:
    """A command that failed, its turns until it passed, and what made it pass: the files changed in between, and the
    command if it had to be another one. `fixes` is empty if it did not pass or nothing was changed."""

    turns: tuple[str, ...]
    fixes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a session said, as stems: its prompts, and their sentences that demand something; and what failed in it, by
    program and error."""

    prompts: tuple[tuple[str, str, frozenset[str]], ...]
    demands: tuple[tuple[str, frozenset[str]], ...]
    failures: Mapping[tuple[str, str], _Failure]


def load_labelled_repeats(path: Path = LABELLED) -> list[LabelledRepeat]:
    """Loads the labelled repeats of all projects."""
    with path.open(encoding="utf-8", newline="") as file:
        return [LabelledRepeat(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def find_repeats(sessions: Sequence[ReplaySession], labelled: Iterable[LabelledRepeat]) -> list[Repeat]:
    """Returns the repeats of a project's sessions, which are in date order: the labelled ones, and those that code
    finds and no label names."""
    found = list(_from_labels(sessions, labelled))
    known_turns = {one.turn for one in found}
    heard = [_listen(session) for session in sessions]
    for session, own in zip(sessions, heard, strict=True):
        before = [
            other
            for one, other in zip(sessions, heard, strict=True)
            if one.ended <= session.started and one is not session
        ]
        found += [one for one in _find_said_again(session, own, before) if one.turn not in known_turns]
        found += _find_failed_again(session, own, before)
    return found


def _from_labels(sessions: Sequence[ReplaySession], labelled: Iterable[LabelledRepeat]) -> Iterator[Repeat]:
    turns = {turn.id: session.id for session in sessions for turn in session.turns}
    chains: dict[str, set[str]] = {}
    for one in sorted(labelled, key=lambda one: _order(sessions, one.turn)):
        chain = chains.setdefault(one.what, set())
        chain.add(one.before_turn)
        if one.turn in turns and one.before_turn in turns:
            yield Repeat("labelled", turns[one.turn], one.turn, one.said, frozenset(chain))
        chain.add(one.turn)


def _order(sessions: Sequence[ReplaySession], turn: str) -> tuple[int, int]:
    for index, session in enumerate(sessions):
        for position, one in enumerate(session.turns):
            if one.id == turn:
                return index, position
    return len(sessions), 0


def _listen(session: ReplaySession) -> _Heard:
    prompts = tuple((one.id, " ".join(one.text.split())[:200], _stems(one.text)) for one in session.prompts)
    demands = tuple((one.id, stems) for one in session.prompts for stems in _demands(one.text))
    return _Heard(prompts, demands, _find_failures(session))


def _find_said_again(session: ReplaySession, own: _Heard, before: Sequence[_Heard]) -> Iterator[Repeat]:
    sent = [stems for one in before for _, _, stems in one.prompts]
    demanded = [demand for one in before for demand in one.demands]
    for prompt, said, whole in own.prompts:
        if any(dice_overlap(whole, earlier) >= SAME_PROMPT for earlier in sent):
            continue
        turns = {
            turn
            for here, stems in own.demands
            for turn, earlier in demanded
            if here == prompt and len(stems & earlier) >= MIN_SHARED and dice_overlap(stems, earlier) >= MIN_OVERLAP
        }
        if turns:
            yield Repeat("said again", session.id, prompt, said, frozenset(turns))


def _find_failed_again(session: ReplaySession, own: _Heard, before: Sequence[_Heard]) -> Iterator[Repeat]:
    for key, failure in own.failures.items():
        same = [one.failures[key] for one in before if key in one.failures and one.failures[key].fixes & failure.fixes]
        if same:
            turns = frozenset(turn for one in same for turn in one.turns)
            yield Repeat("failed again", session.id, failure.turns[0], f"{key[0]}: {key[1]}"[:200], turns)


def _find_failures(session: ReplaySession) -> dict[tuple[str, str], _Failure]:
    """Returns the failed commands of a session by program and error, with what made the program pass afterwards."""
    found: dict[tuple[str, str], _Failure] = {}
    open_failures: dict[tuple[str, str], tuple[list[str], set[str], str]] = {}
    for turn, call in _list_calls(session.turns):
        if call.kind != "shell":
            for _, files, _ in open_failures.values():
                files.update(posixpath.basename(path.replace("\\", "/")) for path in call.paths)
            continue
        command = commands.parse_command(call.command)
        program = " ".join(command.words[:2])
        outcome = commands.command_outcome(call, command)
        error = output_lines.error_line(call.output) if outcome == "failed" else ""
        if error and not _NO_ERROR.match(error):
            turns, _, _ = open_failures.setdefault((program, _NUMBER.sub("#", error)), ([], set(), command.text))
            turns.append(turn.id)
        elif outcome == "passed":
            for key in [one for one in open_failures if one[0] == program]:
                turns, files, failed = open_failures.pop(key)
                other = {f"$ {command.text}"} if command.text != failed else set()
                found.setdefault(key, _Failure((*turns, turn.id), frozenset(files | other)))
    return found


def _list_calls(turns: Iterable[Turn]) -> Iterator[tuple[Turn, ToolCall]]:
    """Yields the commands that ran and the changes of files, in order."""
    for turn in turns:
        for call in turn.tool_calls:
            is_change = call.kind in ("edit", "write") and call.status == "ok"
            if is_change or (call.kind == "shell" and call.command and call.status in ("ok", "error")):
                yield turn, call


def _demands(text: str) -> list[frozenset[str]]:
    return [_stems(sentence) for sentence in list(split_demands(text))[:MAX_DEMANDS]]


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for stem in word_stems(text[:6_000]) if len(stem) > 2 or not stem.isascii())
