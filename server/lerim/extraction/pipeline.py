"""From turns to candidates, one session at a time, with no model.

An exchange (what a person typed and all that answered) is judged when the person's next words are there, or when the
session has settled; candidates of one pass are handed out at its end, so that what is said twice meets in one of them
and what is taken back in the same pass never appears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec.structs import replace as replaced

from lerim.extraction.bearing import attributed
from lerim.extraction.candidate import Candidate, Dropped, Withdrawn
from lerim.extraction.friction import met
from lerim.extraction.gate import Source, gate, merged
from lerim.extraction.locate import Locator
from lerim.extraction.said import alike, content, latest, light, words
from lerim.extraction.state import HEARD, REPLIES, Claim, condensed, pack, unpack
from lerim.extraction.symbols import learn
from lerim.extraction.transcript import boots
from lerim.facts.deferred import puts_off
from lerim.facts.diagnoses import joined
from lerim.facts.draft import Draft, Exchange, Found, Scene, Signal, Unclear
from lerim.facts.known import names
from lerim.facts.looked import looked_at
from lerim.facts.outcome import takes_back, verdict
from lerim.facts.signals import signals
from lerim.facts.wording import shorten, squeeze
from lerim.redaction import clean
from lerim.sessions.frictions import Friction
from lerim.sessions.model import Platform, Turn
from lerim.sessions.redacted import redact_turn

Result = Candidate | Dropped | Withdrawn
_UNGROUNDED = frozenset(("fixed", "replaced", "accepted", "planned", "picked", "conceded", "found", "mended", "logged"))
"""What a plain "no" of the person ends."""

_SETTLING: frozenset[Signal] = frozenset(("choice", "plan", "rule", "remark"))
"""Signals by which the agent's words settle something: what it only repeats of a page is the page's. The others rest on
the person's own words, or tell what a command did."""


class Extraction:
    """Reads the turns of one session in order and yields what is worth proposing.

    `project_root` is the repository's folder on this machine (None for the global scope), `roots` further folders it is
    or was known by, `exists` says whether a repo-relative path is there (None: do not look). `state` is what `state()`
    gave at the end of an earlier pass. A turn met again (same ordinal) replaces its earlier form; one of an exchange
    already judged is passed over.
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
    ) -> None:
        self._session = session_id
        self._platform: Platform = platform
        self._state = unpack(state)
        folders = (*((project_root.as_posix(),) if project_root else ()), *roots)
        self._locate = Locator(folders, self._state.home, exists)
        self._locate.files, self._locate.names = self._state.files, self._state.names
        self._found: dict[tuple[str, ...], tuple[Candidate, Claim]] = {}
        self._again: dict[str, Candidate] = {}
        self._out: list[Result] = []
        self.met: dict[str, Friction] = {}
        """Errors of the environment that this pass met, by their fingerprint."""

    def feed(self, turn: Turn) -> Iterator[Result]:
        """Takes the next turn; what it settles is handed out at once where it can be, else by `finish`."""
        if turn.kind == "shell" or turn.ordinal <= self._state.floor:
            return iter(())
        turn = redact_turn(turn)
        self._locate.meet(turn.cwd)
        for call in turn.tool_calls[:64]:
            learn(self._locate.names, call, lambda path: self._locate(path, turn.cwd))
        whole, turn = turn, condensed(turn)
        self._state.known = names(self._state.known, turn)
        self._state.heard = latest(self._state.heard, replaced(whole, text=turn.text), HEARD)
        now = self._state.now
        if turn.role == "user" and (now.prompt is None or turn.ordinal != now.prompt.ordinal):
            self._close(turn)
            self._state.before, self._state.now = light(self._state.now), Exchange(prompt=turn)
            self._state.floor = turn.ordinal - 1
        elif turn.role == "user":
            self._state.now = replace(now, prompt=turn)
        else:
            self._reply(turn)
        return iter(())

    def finish(self, settled: bool) -> Iterator[Result]:
        """Ends the pass. The last exchange of a session that has not settled waits for the next pass."""
        if settled:
            self._close(None)
        out = [*(candidate for candidate, _ in self._found.values()), *self._again.values(), *self._out]
        self._state.claims = [*self._state.claims, *(claim for _, claim in self._found.values())][-300:]
        self._found, self._again, self._out = {}, {}, []
        return iter(out)

    def state(self) -> bytes:
        """What the next pass needs; call it after `finish`."""
        self._state.home, self._state.files = self._locate.home, self._locate.files
        return pack(self._state)

    def _reply(self, turn: Turn) -> None:
        now = self._state.now
        replies = [old for old in now.replies if old.ordinal != turn.ordinal]
        replies.append(turn)
        if len(replies) > REPLIES:
            self._watch(self._scene(None), (replies[0],))
            replies = replies[1:]
        self._state.now = replace(now, replies=tuple(replies))
        for call in turn.tool_calls:
            for path in (*call.paths[:8], *(looked_at(call.command) if call.kind == "shell" else ())):
                self._locate.touch(path, turn.cwd)
            told = boots(call) if call.output and call.kind not in ("edit", "write") else ()
            if told and not _written(replies, told):
                self._state.boot = f"{self._state.boot} {squeeze(call.output).lower()}"[-20_000:]

    def _scene(self, after: Turn | None) -> Scene:
        known, names = frozenset(self._state.known), self._locate.names
        return Scene(self._state.before, self._state.now, after, self._locate, known, names)

    def _close(self, after: Turn | None) -> None:
        """Judges the open exchange."""
        now = self._state.now
        if now.prompt is None and not now.replies:
            return
        scene = self._scene(after)
        found = joined([*self._watch(scene, now.replies), *signals(scene)])
        self._meet(scene)
        judged = verdict(after)
        back = after is not None and takes_back(after)
        for item in found:
            if isinstance(item, Unclear):
                self._unclear(item)
            elif judged == "refuted" and (back or item.basis in _UNGROUNDED):
                self._drop(
                    Dropped("refuted", item.title, self._session, item.turn.id, "the person's next words take it back")
                )
            else:
                self._take(item, scene, judged == "accepted")
        if after is not None:
            self._answer(now, after)
        if after is not None and judged == "refuted":
            self._withdraw(now, after, back)

    def _meet(self, scene: Scene) -> None:
        source = Source(self._platform, self._session, words(scene))
        for turn in scene.now.replies:
            for friction in met(turn, self._session, source):
                self.met.setdefault(friction.mark, friction)

    def _watch(self, scene: Scene, replies: tuple[Turn, ...]) -> list[Found]:
        out: list[Found] = []
        for turn in replies:
            if turn.ordinal > self._state.watched:
                if any(call.status == "pending" for call in turn.tool_calls) and scene.after is None:
                    break
                out += self._state.watch.see(scene, turn)
                self._state.watched = turn.ordinal
        return out

    def _take(self, draft: Draft, scene: Scene, accepted: bool) -> None:
        source = Source(self._platform, self._session, words(scene), self._state.boot, accepted)
        judged = gate(draft, source)
        if isinstance(judged, Dropped):
            self._drop(judged)
            return
        if draft.signal in _SETTLING:
            judged = attributed(judged, self._state.heard)
        claim = Claim(
            content(judged.title),
            judged.title,
            judged.turn,
            draft.basis,
            draft.prefer.lower(),
            draft.over.lower(),
            judged.body,
            judged.primitive,
        )
        for old in [*self._state.claims]:
            if alike(old, claim):
                if old.turn != claim.turn:
                    self._repeated(old, judged)
                return
            if claim.prefer and (claim.prefer, claim.over) == (old.over, old.prefer):
                self._out.append(Withdrawn(old.turn, claim.turn, f"later in the session: {claim.title}"))
        for key, (candidate, old) in list(self._found.items()):
            if alike(old, claim):
                self._found[key] = (merged(candidate, judged), old)
                return
            if claim.prefer and (claim.prefer, claim.over) == (old.over, old.prefer):
                del self._found[key]
                self._drop(
                    Dropped("refuted", old.title, self._session, old.turn, f"later in the session: {claim.title}")
                )
        self._found[(claim.title, claim.turn)] = (judged, claim)

    def _repeated(self, old: Claim, candidate: Candidate) -> None:
        """What an earlier pass proposed is said again: the same claim word for word, so it adds but its quote."""
        if old.body and old.primitive == candidate.primitive:
            again = replace(candidate, title=old.title, body=old.body)
            self._again[old.title] = merged(self._again[old.title], again) if old.title in self._again else again
            return
        self._drop(
            Dropped("duplicate", candidate.title, self._session, candidate.turn, f"already proposed: {old.title}")
        )

    def _withdraw(self, exchange: Exchange, after: Turn, back: bool) -> None:
        """Takes back what an earlier pass proposed from this exchange."""
        turns = {turn.id for turn in (exchange.prompt, *exchange.replies) if turn is not None}
        for claim in self._state.claims:
            if claim.turn in turns and (back or claim.basis in _UNGROUNDED):
                said = shorten(squeeze(clean(after.text)), 100)
                self._out.append(Withdrawn(claim.turn, after.id, f"the person then said: {said}"))

    def _answer(self, exchange: Exchange, after: Turn) -> None:
        """Takes back the question an earlier pass found at what was the session's end: the person has gone on since,
        and not only put it off."""
        if puts_off(after):
            return
        ends = {turn.id for turn in exchange.replies}
        for claim in self._state.claims:
            alone = all(other.turn != claim.turn or other.basis == "open" for other in self._state.claims)
            if claim.basis == "open" and claim.turn in ends and alone:
                self._out.append(Withdrawn(claim.turn, after.id, "the person went on in this session"))

    def _unclear(self, item: Unclear) -> None:
        title = shorten(squeeze(clean(item.text)), 120)
        self._drop(Dropped("invalid", title, self._session, item.turn.id, item.why))

    def _drop(self, dropped: Dropped) -> None:
        dropped = replace(dropped, title=clean(dropped.title), detail=clean(dropped.detail))
        mark = f"{dropped.turn} {dropped.reason} {dropped.title}"
        if mark not in self._state.dropped:
            self._state.dropped = [*self._state.dropped, mark][-100:]
            self._out.append(dropped)


def _written(replies: list[Turn], paths: tuple[str, ...]) -> bool:
    """Whether all these files were changed in the exchange: what is read back then is no rule of before."""
    changed = {edit.path for reply in replies for call in reply.tool_calls for edit in call.edits}
    return changed.issuperset(paths)
