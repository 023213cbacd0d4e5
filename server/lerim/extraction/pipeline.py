"""Extracts candidates from the turns of one session, without a model.

An exchange (what a person typed, and all replies) is judged once the person's next words are known or the session has
settled: its passages are ranked, and the best become candidates. Which of them are proposed is decided at the end of a
pass over the whole session so far, so that repeated claims are merged and a claim taken back in the same pass never
appears. Candidates below the cut are kept, reported once, and proposed if a later pass makes room for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace as replaced

from lerim.extraction.attribution import attribute_claim
from lerim.extraction.candidate import Candidate, DroppedSignal, Withdrawal, drop_candidate
from lerim.extraction.contradictions import content_words, is_opposed_claim, is_repetition, is_same_claim
from lerim.extraction.facts import find_shown_files, shorten, squeeze_spaces
from lerim.extraction.friction import find_frictions
from lerim.extraction.gate import SessionSource, judge_draft, merge_candidates
from lerim.extraction.locate import Locator, learn_symbols, locate_argument
from lerim.extraction.ranking import (
    NO_ADJUSTMENT,
    PersonalAdjustment,
    find_retractions,
    is_retracted,
    load_ranker,
    named_features,
    passage_aspects,
    personal_score,
    rank_drafts,
    select_above_cut,
)
from lerim.extraction.signals import Draft, Exchange, Scene, is_retraction, judge_next_words, postpones_question
from lerim.extraction.state import (
    MAX_CALLS,
    MAX_HEARD_CHARS,
    MAX_REPLIES,
    MAX_WAITING,
    ProposedClaim,
    WaitingCandidate,
    condense_turn,
    pack_state,
    unpack_state,
)
from lerim.extraction.transcript import find_instruction_files
from lerim.extraction.utterances import latest_utterances, lighten_exchange, make_words_lookup
from lerim.redaction import clean_text
from lerim.sessions import Friction, Platform, ToolCall, Turn, redact_turn

RuleResult: TypeAlias = Candidate | DroppedSignal | Withdrawal
MAX_REPORTED_BELOW_CUT = 6
"""Maximum number of candidates below the cut that a pass reports; the best ones are reported."""
LOWERED_BY_PERSON = "your decisions about ones like it lowered its rank"


class Extraction:
    """Reads the turns of one session in order and returns candidates, dropped signals and withdrawals.

    `project_root` is the repository's folder on this machine (None for the global scope), `roots` are further folders
    it is or was known by, and `exists` says whether a repo-relative path exists (None: do not check). `state` is what
    `state()` returned at the end of an earlier pass, and `adjustment` adjusts the ranking by the person's decisions. A
    turn fed again (same ordinal) replaces its earlier form; turns of an exchange already judged are skipped.
    """

    def __init__(
        self,
        project_root: Path | None,
        session_id: str,
        platform: Platform,
        state: bytes | None = None,
        *,
        exists: Callable[[str], bool] | None = None,
        roots: Sequence[str] = (),
        adjustment: PersonalAdjustment = NO_ADJUSTMENT,
    ) -> None:
        self._session = session_id
        self._platform: Platform = platform
        self._state = unpack_state(state)
        folders = (*((project_root.as_posix(),) if project_root else ()), *roots)
        self._locate = Locator(folders, self._state.home, exists)
        self._locate.files, self._locate.names = self._state.files, self._state.names
        self._waiting = list(self._state.waiting)
        self._adjustment = adjustment
        self._reproposed: dict[str, Candidate] = {}
        self._results: list[RuleResult] = []
        self.frictions: dict[str, Friction] = {}
        """Environment errors that this pass found, by fingerprint."""

    def feed(self, turn: Turn) -> Turn | None:
        """Takes the next turn; the results come from `finish`. Returns the turn redacted, or None if its exchange was
        judged in an earlier pass."""
        if turn.ordinal <= self._state.floor:
            return None
        turn = redact_turn(turn)
        if turn.kind == "shell":
            return turn
        self._locate.record_cwd(turn.cwd)
        for call in turn.tool_calls[:MAX_CALLS]:
            learn_symbols(self._locate.names, call, lambda path: locate_argument(self._locate, path, turn.cwd))
        whole, turn = turn, condense_turn(turn)
        self._state.heard = latest_utterances(self._state.heard, replaced(whole, text=turn.text), MAX_HEARD_CHARS)
        now = self._state.now
        if turn.role == "user" and (now.prompt is None or turn.ordinal != now.prompt.ordinal):
            self._close_exchange(turn)
            self._state.prompts += now.prompt is not None
            self._state.before, self._state.now = lighten_exchange(self._state.now), Exchange(prompt=turn)
            self._state.floor = turn.ordinal - 1
        elif turn.role == "user":
            self._state.now = replace(now, prompt=turn)
        else:
            self._add_reply(turn, whole.tool_calls)
        return whole

    def finish(self, settled: bool) -> list[RuleResult]:
        """Ends the pass and returns its results. Unless the session has settled, its last exchange waits for the next
        pass.

        Raises RankerError if the ranker file is missing or was made for another version.
        """
        if settled:
            self._close_exchange(None)
        scores = [self._personal_score(waiting) for waiting in self._waiting]
        above = self._select_above_cut(scores)
        unmoved = (
            self._select_above_cut([waiting.score for waiting in self._waiting]) if self._adjustment.weights else above
        )
        below: list[tuple[float, str, WaitingCandidate]] = []
        for place, waiting in enumerate(self._waiting):
            if place in above and not waiting.proposed:
                waiting.proposed = True
                self._results.append(waiting.candidate)
                self._state.claims = [*self._state.claims, waiting.claim][-300:]
            elif not waiting.proposed and not waiting.told:
                below.append((scores[place], LOWERED_BY_PERSON if place in unmoved else "", waiting))
        for score, why, waiting in sorted(below, key=lambda each: -each[0])[:MAX_REPORTED_BELOW_CUT]:
            waiting.told = True
            self._results.append(drop_candidate(waiting.candidate, "below-the-cut", why, round(score, 3)))
        out = [*self._reproposed.values(), *self._results]
        self._state.waiting = _select_best(self._waiting)
        self._waiting, self._reproposed, self._results = list(self._state.waiting), {}, []
        return out

    def _select_above_cut(self, scores: Sequence[float]) -> frozenset[int]:
        prompts = self._state.prompts + (self._state.now.prompt is not None)
        return select_above_cut(scores, prompts, load_ranker().first, load_ranker().further)

    def _personal_score(self, waiting: WaitingCandidate) -> float:
        if not self._adjustment.weights:
            return waiting.score
        candidate = waiting.candidate
        aspects = passage_aspects(named_features(candidate.features), candidate.primitive, candidate.kind)
        return personal_score(self._adjustment, waiting.score, aspects)

    def state(self) -> bytes:
        """Returns the state for the next pass. Call it after `finish`."""
        self._state.home, self._state.files = self._locate.home, self._locate.files
        return pack_state(self._state)

    def _add_reply(self, turn: Turn, whole_calls: Sequence[ToolCall]) -> None:
        now = self._state.now
        replies = [old for old in now.replies if old.ordinal != turn.ordinal]
        replies.append(turn)
        if len(replies) > MAX_REPLIES:
            self._record_frictions(replies[0])
            for draft in self._watch_commands(self._make_scene(None), (replies[0],)):
                self._take_draft(draft, self._make_scene(None), load_ranker().first)
            replies = replies[1:]
        self._state.now = replace(now, replies=tuple(replies))
        for call in whole_calls[:MAX_CALLS]:
            for path in (*call.paths[:8], *(find_shown_files(call.command) if call.kind == "shell" else ())):
                self._locate.record_file(path, turn.cwd)
            instruction_files = (
                find_instruction_files(call) if call.output and call.kind not in ("edit", "write") else ()
            )
            if instruction_files and not _are_all_changed(replies, instruction_files):
                self._state.boot = f"{self._state.boot} {squeeze_spaces(call.output).lower()}"[-20_000:]

    def _record_frictions(self, reply: Turn) -> None:
        for friction in find_frictions(reply, self._session):
            self.frictions.setdefault(friction.fingerprint, friction)

    def _make_scene(self, after: Turn | None) -> Scene:
        return Scene(self._state.before, self._state.now, after, self._locate, self._locate.names)

    def _close_exchange(self, after: Turn | None) -> None:
        now = self._state.now
        if now.prompt is None and not now.replies:
            return
        scene = self._make_scene(after)
        for reply in now.replies:
            self._record_frictions(reply)
        self._withdraw_corrected(now)
        refuted = judge_next_words(after) == "refuted"
        for draft in self._watch_commands(scene, now.replies):
            if refuted:
                self._drop(self._make_refuted(draft, scene, "your next message takes it back"))
            else:
                self._take_draft(draft, scene, load_ranker().first)
        for ranked in rank_drafts(scene, self._state.prompts, self._adjustment):
            if ranked.refuted:
                self._drop(self._make_refuted(ranked.draft, scene, ranked.refuted))
            else:
                self._take_draft(ranked.draft, scene, ranked.score)
        if after is not None:
            self._withdraw_answered(now, after)
        if after is not None and refuted:
            self._withdraw_exchange(now, after, is_retraction(after))

    def _watch_commands(self, scene: Scene, replies: tuple[Turn, ...]) -> list[Draft]:
        out: list[Draft] = []
        for turn in replies:
            if turn.ordinal > self._state.watched:
                if any(call.status == "pending" for call in turn.tool_calls) and scene.after is None:
                    break
                out += self._state.watch.process_turn(scene, turn)
                self._state.watched = turn.ordinal
        return out

    def _make_source(self, scene: Scene) -> SessionSource:
        return SessionSource(
            self._platform,
            self._session,
            make_words_lookup(scene),
            self._state.boot,
            judge_next_words(scene.after) == "accepted",
        )

    def _take_draft(self, draft: Draft, scene: Scene, score: float) -> None:
        judged = judge_draft(draft, self._make_source(scene))
        if isinstance(judged, DroppedSignal):
            self._drop(judged)
            return
        if draft.signal in ("reply", "plan") and draft.primitive == "decision":
            judged = attribute_claim(judged, self._state.heard)
        names = tuple(name.lower() for name in judged.replaces)
        claim = ProposedClaim(
            content_words(judged.title), judged.title, judged.turn, draft.signal, names, judged.body, judged.primitive
        )
        is_agents = all(item.who == "assistant" for item in judged.evidence)
        for old in [*self._state.claims]:
            if is_same_claim(old, claim) or (is_agents and is_repetition(claim, old)):
                if old.turn != claim.turn:
                    self._propose_again(old, judged)
                return
            if is_opposed_claim(old, claim):
                self._withdraw_claim(old, claim.turn, f"later in the session: {claim.title}")
        for waiting in [*self._waiting]:
            if waiting.proposed:
                continue
            if is_same_claim(waiting.claim, claim) or (is_agents and is_repetition(claim, waiting.claim)):
                waiting.candidate = merge_candidates(waiting.candidate, judged)
                waiting.score = max(waiting.score, score)
                return
            if is_opposed_claim(waiting.claim, claim):
                self._waiting.remove(waiting)
                self._drop(drop_candidate(waiting.candidate, "refuted", f"later in the session: {claim.title}"))
        self._waiting.append(WaitingCandidate(judged, claim, score))
        if len(self._waiting) > 2 * MAX_WAITING:  # every new candidate is compared with all of them
            self._waiting = _select_best(self._waiting)

    def _propose_again(self, old: ProposedClaim, candidate: Candidate) -> None:
        """Handles a claim that was already proposed: the old title and body are proposed again with the new quotes."""
        if old.body and old.primitive == candidate.primitive:
            again = replace(candidate, title=old.title, body=old.body)
            self._reproposed[old.title] = (
                merge_candidates(self._reproposed[old.title], again) if old.title in self._reproposed else again
            )
            return
        self._drop(drop_candidate(candidate, "duplicate", f"already proposed: {old.title}"))

    def _withdraw_exchange(self, exchange: Exchange, after: Turn, back: bool) -> None:
        """Takes back claims that rest on this exchange: what the agent said or did and, if `back` (the person
        explicitly takes it back), what the person said."""
        turns = {turn.id for turn in (exchange.prompt, *exchange.replies) if turn is not None}
        for claim in [*self._state.claims]:
            if claim.turn in turns and (back or claim.signal in ("reply", "plan", "fixed-command")):
                next_words = shorten(squeeze_spaces(clean_text(after.text)), 100)
                self._withdraw_claim(claim, after.id, f"you then said: {next_words}")

    def _withdraw_corrected(self, now: Exchange) -> None:
        """Takes back what the agent said earlier in the session and found to be wrong in this exchange."""
        retractions = [text for turn in now.replies for text in find_retractions(turn.text)]
        for waiting in [*self._waiting] if retractions else ():
            if waiting.claim.signal in ("reply", "plan") and is_retracted(
                waiting.candidate.evidence[0].quote, retractions
            ):
                self._waiting.remove(waiting)
                if waiting.proposed:
                    self._withdraw_claim(waiting.claim, now.replies[-1].id, "the agent found later that it was wrong")
                else:
                    self._drop(drop_candidate(waiting.candidate, "refuted", "the agent found later that it was wrong"))

    def _withdraw_claim(self, claim: ProposedClaim, turn: str, why: str) -> None:
        self._results.append(Withdrawal(claim.turn, claim.title, turn, why))
        self._state.claims = [old for old in self._state.claims if old != claim]
        self._waiting = [one for one in self._waiting if one.claim != claim]

    def _withdraw_answered(self, exchange: Exchange, after: Turn) -> None:
        """Takes back a question that was open when an earlier pass ended: the person has continued since then, unless
        they only put it off."""
        if postpones_question(after):
            return
        ends = {turn.id for turn in (exchange.prompt, *exchange.replies) if turn is not None}
        for claim in [*self._state.claims]:
            if claim.primitive == "question" and claim.turn in ends:
                self._withdraw_claim(claim, after.id, "you went on in this session")

    def _make_refuted(self, draft: Draft, scene: Scene, why: str) -> DroppedSignal:
        judged = judge_draft(draft, self._make_source(scene))
        return judged if isinstance(judged, DroppedSignal) else drop_candidate(judged, "refuted", why)

    def _drop(self, dropped: DroppedSignal) -> None:
        dropped = replace(dropped, title=clean_text(dropped.title), detail=clean_text(dropped.detail))
        mark = f"{dropped.turn} {dropped.reason} {dropped.title}"
        if mark not in self._state.dropped:
            self._state.dropped = [*self._state.dropped, mark][-100:]
            self._results.append(dropped)


def _select_best(waiting: list[WaitingCandidate]) -> list[WaitingCandidate]:
    """Returns the candidates to keep for a session: the proposed ones, which count towards the cut, then those with the
    highest scores."""
    return sorted(waiting, key=lambda one: (not one.proposed, -one.score))[:MAX_WAITING]


def _are_all_changed(replies: list[Turn], paths: tuple[str, ...]) -> bool:
    changed = {edit.path for reply in replies for call in reply.tool_calls for edit in call.edits}
    return changed.issuperset(paths)
