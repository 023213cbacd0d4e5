"""Extracts candidates from a session's turns with a model: one call per window, several of them at a time, and one call
to join the results. Results are returned in the order of the windows, as each one ends.

Nothing that the model says is trusted: `build_candidates` determines the turn, the speaker and the confidence of
each claim, and a merge only joins two candidates that code also finds similar.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pydantic import BaseModel

from lerim.errors import Problem, WindowTooLargeError
from lerim.extraction.candidate import Candidate, DroppedSignal
from lerim.extraction.model.answer_cache import AnswerCache
from lerim.extraction.model.build_candidates import EarlierClaim, ground_candidates, make_earlier_claim
from lerim.extraction.model.guidance import ExtractionBrief
from lerim.extraction.model.material import Material
from lerim.extraction.model.merge import JoinedCandidates, join_with_model
from lerim.extraction.model.model_call import ask_signature
from lerim.extraction.model.repair import has_lost_quotes, repair_quotes
from lerim.extraction.model.signatures import MemoryCandidate, MemoryExtractSignature
from lerim.extraction.model.windows import (
    CountTokens,
    Window,
    cut_windows,
    halve_window,
    is_worth_asking,
    shrink_window,
)
from lerim.models import ModelStep, StepKind, attribute_calls, dspy, tokens

MAX_PARALLEL_CALLS = 4
MIN_WINDOW_TOKENS = 500
"""Windows of at most this many tokens are not cut any further: such a window, together with its prompt, fits into
any usable model."""
ROLE = "extract"


@dataclass(frozen=True, slots=True)
class ExtractionCallStarted:
    """The model is being asked about a window (`part` is "2 of 5", or "" if there is only one), or to join the
    results."""

    part: str = ""
    joining: bool = False


@dataclass(frozen=True, slots=True)
class TurnsSent:
    """All results of the turns up to this number have been returned; a later pass need not ask about them again."""

    number: int


@dataclass(frozen=True, slots=True)
class TurnsRead:
    """The model has answered about the turns with these ids; the results for them follow."""

    turns: frozenset[str]


ModelResult: TypeAlias = (
    ExtractionCallStarted | TurnsRead | TurnsSent | Candidate | DroppedSignal | JoinedCandidates | Problem | ModelStep
)


class WindowAnswer(BaseModel):
    """The stored answer about a window. `is_truncated`: the answer reached the output limit. `lacks_quotes`: the
    model still has to be asked for quotes that are missing in it."""

    items: list[MemoryCandidate]
    is_truncated: bool = False
    lacks_quotes: bool = False


@dataclass(frozen=True, slots=True)
class _WindowResult:
    """The result of asking about a window. `is_cached`: the answer comes from an earlier pass."""

    items: Sequence[MemoryCandidate] = ()
    is_truncated: bool = False
    faults: tuple[str, ...] = ()
    parse_error: str = ""
    is_cached: bool = False
    repairs: str = ""


@dataclass(slots=True)
class _WindowPart:
    """One window in progress. `call` is None if the model is not asked because the window contains nothing worth
    asking about."""

    window: Window
    number: str
    total: int
    call: Future[_WindowResult] | None = None

    @property
    def name(self) -> str:
        if self.total == 1:
            return "" if self.number == "1" else self.number
        return f"{self.number} of {self.total}"


@dataclass(slots=True)
class SessionExtraction:
    """Asks a model about every turn of `material` that was not sent yet.

    `earlier_claims` are the claims already proposed from this session. A window has at most `max_tokens` and at most
    `limit()` tokens, which may drop while windows are processed; `lower_limit` is called with half the size of a
    window that was too large. With `gate`, windows without any sign that they are worth asking about are not sent.
    `model` is the model's name in reports.
    """

    lm: dspy.LM
    material: Material
    brief: ExtractionBrief
    earlier_claims: Sequence[EarlierClaim] = ()
    settled: bool = True
    max_tokens: int = 300_000
    overlap_tokens: int = 30_000
    limit: Callable[[], int] = lambda: sys.maxsize
    lower_limit: Callable[[int], None] = lambda _: None
    answer_cache: AnswerCache[WindowAnswer] = field(default_factory=lambda: AnswerCache(None, "", WindowAnswer))
    count: CountTokens = tokens.count_tokens
    gate: bool = False
    model: str = ""

    def run(self) -> Generator[ModelResult, None, None]:
        """Yields the model's findings, and the progress. Raises ModelError, and the other errors of `ask_signature`;
        by then the results of earlier windows have been yielded, and answers to later ones are cached. Also raises
        SettingsError. If closed early, it waits for running calls to end."""
        with ThreadPoolExecutor(MAX_PARALLEL_CALLS, "window") as pool:
            candidates_by_window: list[list[Candidate]] = []
            try:
                yield from self._process_windows(pool, candidates_by_window)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        if sum(bool(part) for part in candidates_by_window) > 1:
            yield ExtractionCallStarted(joining=True)
            all_candidates, brief = [candidate for part in candidates_by_window for candidate in part], self.brief
            with attribute_calls(self._session_label):
                results = list(join_with_model(self.lm, all_candidates, brief.metadata, brief.metrics, brief.guidance))
            for result in results:
                yield self._make_step("unread", result, "") if isinstance(result, str) else result

    def _process_windows(
        self, pool: ThreadPoolExecutor, candidates_by_window: list[list[Candidate]]
    ) -> Iterator[ModelResult]:
        turns, most = self.material.window_turns(self.settled), self._most_tokens()
        cut = cut_windows(turns, most, self.overlap_tokens, self.material.last_sent, self.count)
        todo = deque(_WindowPart(window, str(number), len(cut)) for number, window in enumerate(cut, 1))
        parts: deque[_WindowPart] = deque()
        last = turns[-1].number if turns else -1
        while todo or parts:
            while (
                todo and not _has_fatal_error(parts) and sum(_is_running(part) for part in parts) < MAX_PARALLEL_CALLS
            ):
                part = todo.popleft()
                if self._most_tokens() < most and len(less := self._shrink(part)) > 1:
                    yield self._make_step(
                        "halved", "the request exceeds the model's context window", part.name, part.window.approx_tokens
                    )
                    todo.extendleft(reversed(less))
                    continue
                parts.append(part)
                yield from self._start_call(pool, part)
            if _is_running(parts[0]):
                wait([part.call for part in parts if part.call and _is_running(part)], return_when=FIRST_COMPLETED)
                continue
            part = parts.popleft()
            more = yield from self._finish_part(part, candidates_by_window)
            for half in more:
                yield from self._start_call(pool, half)
            parts.extendleft(reversed(more))
            after = parts or todo
            if not after:
                yield TurnsSent(last)
            elif _is_safe_resume_point(after[0], part):
                yield TurnsSent(after[0].window.first_fresh - 1)

    def _most_tokens(self) -> int:
        return min(self.max_tokens, self.limit())

    def _shrink(self, part: _WindowPart) -> list[_WindowPart]:
        parts = shrink_window(part.window, self._most_tokens(), self.overlap_tokens, self.count)
        return [_WindowPart(window, f"{part.number}.{at}", part.total) for at, window in enumerate(parts, 1)]

    def _start_call(self, pool: ThreadPoolExecutor, part: _WindowPart) -> Iterator[ModelResult]:
        window = part.window
        known = self.answer_cache.find(MemoryExtractSignature, window.text)
        if known is not None and not known.lacks_quotes:
            part.call = Future()
            part.call.set_result(_WindowResult(known.items, known.is_truncated, is_cached=True))
        elif known is not None or not self.gate or is_worth_asking(window.fresh_turns):
            part.call = pool.submit(self._ask_window, window, part.name, known)
            yield ExtractionCallStarted(part.name)

    def _ask_window(self, window: Window, part: str, known: WindowAnswer | None) -> _WindowResult:
        """Asks about one window, in its own thread, and caches the answer. If the answer is already `known`, asks
        only for its missing quotes."""
        with attribute_calls(self._session_label, part):
            result = _WindowResult(known.items, is_cached=True) if known else self._ask(window)
            if result.parse_error or result.is_truncated or not has_lost_quotes(result.items, window.turns):
                return result
            items, repairs = repair_quotes(self.lm, result.items, window.turns)
            self.answer_cache.store(MemoryExtractSignature, window.text, WindowAnswer(items=list(items)))
            return replace(result, items=items, repairs=repairs)

    def _ask(self, window: Window) -> _WindowResult:
        brief = self.brief
        inputs = {"metadata": brief.metadata, "metrics": brief.metrics, "guidance": brief.guidance}
        answer = ask_signature(self.lm, MemoryExtractSignature, {"transcript": window.text, **inputs}, MemoryCandidate)
        if not answer.parse_error or answer.is_truncated:  # stored before asking more, because it is paid for
            lost = not answer.is_truncated and has_lost_quotes(answer.items, window.turns)
            kept = WindowAnswer(items=list(answer.items), is_truncated=answer.is_truncated, lacks_quotes=lost)
            self.answer_cache.store(MemoryExtractSignature, window.text, kept)
        return _WindowResult(answer.items, answer.is_truncated, answer.faults, answer.parse_error)

    def _finish_part(
        self, part: _WindowPart, candidates_by_window: list[list[Candidate]]
    ) -> Generator[ModelResult, None, list[_WindowPart]]:
        """Yields the results of a window, and returns the parts it was split into if the model must be asked about
        those instead."""
        window = part.window
        if part.call is None:
            yield self._make_step("skipped", "nothing in it is a signal", part.name, window.approx_tokens)
            return []
        try:
            answer = part.call.result()
        except WindowTooLargeError as error:
            size = sum(self.count(block.text) for block in window.blocks)
            if size <= self._most_tokens():  # the model did not report its limit
                self.lower_limit(max(MIN_WINDOW_TOKENS, size // 2))
            return (yield from self._split_part(part, "the request exceeds the model's context window", error))
        if answer.is_cached:
            yield self._make_step("resumed", "it was answered before", part.name, window.approx_tokens)
        if answer.repairs:
            yield self._make_step("repaired", answer.repairs, part.name)
        if not answer.parse_error:
            yield TurnsRead(frozenset(turn.id for turn in window.turns))
            turn, session = window.fresh_turns[0].id, self.material.session
            yield from (DroppedSignal("invalid", "", session, turn, fault) for fault in answer.faults)
            earlier = [make_earlier_claim(candidate) for one in candidates_by_window for candidate in one]
            results = ground_candidates(answer.items, window.turns, self.material, [*self.earlier_claims, *earlier])
            yield from results
            candidates_by_window.append([result for result in results if isinstance(result, Candidate)])
        if answer.is_truncated:
            return (yield from self._split_part(part, "its answer was cut at the output limit"))
        if answer.parse_error:
            yield self._make_step("unread", "it does not have the requested form", part.name)
            yield self._make_problem(part, f"could not be read: {answer.parse_error}")
        return []

    def _split_part(
        self, part: _WindowPart, why: str, error: WindowTooLargeError | None = None
    ) -> Generator[ModelResult, None, list[_WindowPart]]:
        """Returns a window as several that the model accepts, or its halves; yields a problem if it is too small to
        halve. Raises WindowTooLargeError if nothing of it was read and it cannot be halved."""
        window = part.window
        less = self._shrink(part) if window.approx_tokens > self._most_tokens() else []
        if len(less) < 2 and window.approx_tokens > MIN_WINDOW_TOKENS:
            two = halve_window(window, self.count)
            less = [_WindowPart(half, f"{part.number}.{at}", part.total) for at, half in enumerate(two, 1)]
        if len(less) < 2 and error is not None:
            todo = "Choose another model, or raise its context."
            raise WindowTooLargeError(f"The model takes less than Lerim needs. {error.message}", todo=todo) from error
        if len(less) < 2:
            yield self._make_step("unread", f"{why}, and it is too small to be halved", part.name)
            yield self._make_problem(part, f"is not whole, and the part is too small to be halved: {why}.")
            return []
        yield self._make_step("halved", why, part.name, window.approx_tokens)
        return less

    def _make_step(self, kind: StepKind, why: str, part: str, size: int = 0) -> ModelStep:
        return ModelStep(kind, ROLE, self.model, why, self._session_label, part, size)

    def _make_problem(self, part: _WindowPart, what: str) -> Problem:
        answer = f"The model's answer to part {part.name}" if part.name else "The model's answer"
        return Problem("model-answer", self._session_label, f"{answer} {what}")

    @property
    def _session_label(self) -> str:
        return f"{self.material.platform}:{self.material.session}"


def _is_safe_resume_point(after: _WindowPart, part: _WindowPart) -> bool:
    """Returns whether a later pass that starts with `after` cuts the same windows: the two parts share no turn and do
    not come from the same halved window."""
    same = after.number.partition(".")[0] == part.number.partition(".")[0]
    return not same and after.window.first_fresh > part.window.fresh_turns[-1].number


def _is_running(part: _WindowPart) -> bool:
    return part.call is not None and not part.call.done()


def _has_fatal_error(parts: Sequence[_WindowPart]) -> bool:
    """Returns whether a call failed with an error that ends the session's extraction, so that no other call is
    started."""
    ended = [part.call.exception() for part in parts if part.call is not None and part.call.done()]
    return any(error is not None and not isinstance(error, WindowTooLargeError) for error in ended)
