"""Whatever is done to memories, by the review, by hand, with an editor or by a kill: none is lost, ids are unique,
links agree after a scan, and the index is what a rebuild from the files makes."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from killer import in_child
from lerim.errors import LerimError
from lerim.memory.links import ending_links, find_circular_links, plan_link_repairs
from lerim.review import acts
from lerim.review.ledger.ledger import open_ledger
from lives import CLAIMS, HANDS, MARK, OURS, Step, World, quoted
from long import at_most

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

WHICH = st.integers(0, 11)
SAID = st.lists(st.tuples(st.integers(0, len(CLAIMS) - 1), WHICH), min_size=4, max_size=7, unique=True)
TAKES_WORDS = ("undo", "delete")


class Lives(RuleBasedStateMachine):
    """`must` are the texts that memory files have had, but those a person overwrote; `words` all a person wrote.
    `loose`: links may disagree, because of a hand, a kill or an undo, until the next scan."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.must: set[str] = set()
        self.words: set[str] = set()
        self.loose = False

    def teardown(self) -> None:
        self.scan()
        self.rebuild()
        self.world.close()

    @initialize(said=SAID)
    def begin(self, said: list[tuple[int, int]]) -> None:
        for claim, minutes in said:
            self.do("say", claim, minutes)

    @rule(name=st.sampled_from(OURS), one=WHICH, other=WHICH)
    def ours(self, name: str, one: int, other: int) -> None:
        self.do(name, one, other)

    def do(self, name: str, one: int, other: int) -> None:
        """A step of ours. What a person wrote into memories is in memories after it, unless it takes a memory away."""
        step = self.world.ours(name, one, other)
        if step is None:
            return
        before = self.in_memories()
        self.take(step)
        assert name in TAKES_WORDS or before <= self.in_memories(), f"{name} took a person's words out of the memories"
        self.loose |= name == "undo"

    def take(self, step: Step) -> None:
        with suppress(LerimError):  # it is refused: then nothing may have changed
            step()

    def in_memories(self) -> set[str]:
        return set(MARK.findall("\n".join(self.world.files().values())))

    def everywhere(self) -> str:
        return "\n".join([*self.world.files().values(), *self.world.candidates().values(), self.world.remembered()])

    @rule(name=st.sampled_from(HANDS), one=WHICH, other=WHICH)
    def hand(self, name: str, one: int, other: int) -> None:
        """What a person overwrites or deletes with an editor is theirs to lose."""
        before = set(self.world.files().values())
        self.world.by_hand(name, one, other)
        self.forgive(before - set(self.world.files().values()))

    def forgive(self, overwritten: set[str]) -> None:
        remembered = self.world.remembered()
        self.must -= {text for text in overwritten if quoted(text) not in remembered}
        self.words &= set(MARK.findall(self.everywhere()))
        self.loose = True

    @rule(
        name=st.sampled_from((*OURS, "scan")),
        one=WHICH,
        other=WHICH,
        instant=st.integers(0, 40),
        meanwhile=st.booleans(),
        again=st.booleans(),
    )
    def kill(self, name: str, one: int, other: int, instant: int, meanwhile: bool, again: bool) -> None:
        """A step dies at a touch of the disk; perhaps a file it found is written into; it is done again, or not."""
        scan: Step = lambda: acts.repair_links(self.world.place)  # noqa: E731
        step = scan if name == "scan" else self.world.ours(name, one, other)
        if step is None:
            return
        there = list(self.world.files())
        in_child(step, instant)
        found = [path for path in there if path.exists()]
        if meanwhile and found:
            path = found[one % len(found)]
            overwritten = path.read_text(encoding="utf-8")
            self.world.scribble(path)
            self.forgive({overwritten})
        self.take(step if again else self.world.ours("add", 3, one) or scan)
        self.loose = True

    @rule()
    def scan(self) -> None:
        """What a sync begins with: after it the links agree."""
        repaired = acts.repair_links(self.world.place)
        assert not repaired.problems
        self.loose = False
        found = {one.record.id: one for one in self.world.stored()}
        circular = find_circular_links(link for one in found.values() for link in ending_links(one.record))
        in_circle = {(link.ender, link.target) for link in circular}
        for one in found.values():
            for end in (*one.record.supersedes, *one.record.resolves):
                if end in found and (one.record.id, end) not in in_circle:
                    assert found[end].status in ("superseded", "resolved"), "what is ended says so"
                    assert "archived" in found[end].path.parts, "and lies with what is over"
            by, answer = one.record.superseded_by, one.record.resolved_by
            assert by not in found or one.record.id in found[by].record.supersedes
            assert answer not in found or one.record.id in found[answer].record.resolves

    @rule()
    def rebuild(self) -> None:
        here = self.world.indexed()
        self.world.drop_index()
        anew = self.world.indexed()
        assert here == anew, f"only before: {here - anew}\nonly anew: {anew - here}"

    @invariant()
    def no_memory_is_lost(self) -> None:
        here = set(self.world.files().values())
        remembered = self.world.remembered()
        for text in self.must - here:
            assert quoted(text) in remembered, f"lost:\n{text}"
        self.must |= here
        words = set(MARK.findall(self.everywhere()))
        assert self.words <= words, f"words a person wrote are lost: {self.words - words}"
        self.words |= words

    @invariant()
    def ids_are_unique(self) -> None:
        own = self.world.place.project.memory_dir
        names = Counter(path.stem for path in self.world.files() if path.is_relative_to(own))
        assert [name for name, count in names.items() if count > 1] == []

    @precondition(lambda self: not self.loose)
    @invariant()
    def our_own_steps_leave_links_that_agree(self) -> None:
        assert plan_link_repairs(self.world.place.store().load_all(archived=True)[0]) == []

    @invariant()
    def every_step_came_to_its_end(self) -> None:
        if self.world.ledger.exists():
            with open_ledger(self.world.place.private) as book:
                assert book.unfinished_actions() == []


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=at_most(30, few=4), stateful_step_count=30, derandomize=True)
