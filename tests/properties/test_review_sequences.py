"""Whatever a person does in whatever order, no word of theirs and no memory is lost."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lerim.errors import NotFoundError, StaleError
from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence, parse_record
from lerim.paths import Home
from lerim.project.project import Project
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from long import at_most
from reviews import made_candidate

NOW = datetime(2026, 8, 1, tzinfo=UTC)
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
ODD = [*WORDS, "---", "a: b", "\u2028", "“quoted”", "\r\n"]
TEXTS = st.lists(st.sampled_from(ODD), max_size=5).map(lambda words: " ".join(["text", *words]))


class Reviews(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        base = Path(self.folder.name).resolve()
        root = base / "repo"
        root.mkdir()
        self.place = ReviewPaths(
            Project("0123456789abcdef", root, root, root / ".git", "", "repo"), Home(base / "home")
        )
        self.turn = 0
        self.by_hand: dict[Path, str] = {}
        self.rejected: dict[str, Candidate] = {}

    def teardown(self) -> None:
        self.folder.cleanup()

    def waiting(self) -> list[queue.Proposal]:
        found, problems, _ = queue.list_pending(self.place)
        assert problems == []
        return found

    @rule(topic=st.sampled_from(WORDS), body=TEXTS)
    def propose(self, topic: str, body: str) -> None:
        self.turn += 1
        turn = f"t{self.turn}"
        evidence = (Evidence(f"say {body}"[:200], turn, "user"),)
        candidate = made_candidate(
            f"Use {topic} for {body}"[:80],
            body,
            turn,
            self.turn,
            tags=(topic,),
            references=(f"{topic}.py",),
            evidence=evidence,
            signal="reply",
        )
        before = {one.id: one.edited for one in self.waiting()}
        outcome = queue.propose_candidate(self.place, candidate)
        waiting = {one.id: one for one in self.waiting()}
        after = waiting.keys()
        new = {outcome.proposal.id} if isinstance(outcome, queue.CandidateProposed) else set()
        assert new <= after - before.keys()
        # what is said already can still end another memory, which is a proposal of its own
        assert all(waiting[name].session == "" for name in after - before.keys() - new)
        assert not any(edited for name, edited in before.items() if name not in after)

    @precondition(lambda self: self.waiting())
    @rule(data=st.data(), quotes=st.sampled_from(["shared", "local"]))
    def accept(self, data: st.DataObject, quotes: queue.QuoteChoice) -> None:
        one = data.draw(st.sampled_from(self.waiting()))
        try:
            result = queue.accept_candidate(self.place, one.id, quotes=quotes)
        except StaleError:
            return
        assert one.id not in {left.id for left in self.waiting()}
        if result.code in ("outdated", "known"):  # a memory says it, or otherwise and later
            assert not one.edited
            return
        assert result.ok and result.path
        path = Path(result.path)
        assert parse_record(path.read_text("utf-8"), path).title == one.record.title
        self.by_hand.pop(path, None)

    @precondition(lambda self: self.waiting())
    @rule(data=st.data(), title=TEXTS, body=TEXTS)
    def edit(self, data: st.DataObject, title: str, body: str) -> None:
        one = data.draw(st.sampled_from(self.waiting()))
        queue.edit_candidate(self.place, one.id, queue.CandidateEdit(title, body, ("mine",)))
        edited = queue.load_pending(self.place, one.id).record
        assert (edited.title, edited.body) == (" ".join(title.split()), body.replace("\r\n", "\n").strip())

    @precondition(lambda self: self.waiting())
    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from(self.waiting()))
        queue.reject_candidate(self.place, one.id)
        assert one.id not in {left.id for left in self.waiting()}

    @precondition(lambda self: any(self.place.project.memory_dir.rglob("*.md")))
    @rule(data=st.data())
    def write_by_hand(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.place.project.memory_dir.rglob("*.md"))))
        self.turn += 1
        text = path.read_text("utf-8") + f"My line {self.turn}.\n"
        path.write_text(text, encoding="utf-8")
        self.by_hand[path] = text

    @rule()
    def undo(self) -> None:
        try:
            queue.undo_last(self.place)
        except StaleError as error:
            assert "My line" in error.diff or "meanwhile" in error.message

    @rule()
    def forget_a_candidate_that_is_not_there(self) -> None:
        try:
            queue.reject_candidate(self.place, "20260101-none")
        except NotFoundError:
            return
        raise AssertionError("rejected what is not there")

    @invariant()
    def what_was_written_by_hand_stands(self) -> None:
        for path, text in self.by_hand.items():
            if path.exists():
                assert path.read_text("utf-8") == text
                continue
            over = path.parents[1] / "archived" / path.parent.name / path.name  # what was accepted ended it
            lines = [line for line in text.splitlines() if line.startswith("My line")]
            assert set(lines) <= set(over.read_text("utf-8").splitlines())

    @invariant()
    def every_file_reads(self) -> None:
        assert self.place.store().load_all(archived=True)[1] == []

    @invariant()
    def every_memory_shows_its_words(self) -> None:
        for stored in self.place.store().load_all()[0]:
            assert stored.record.evidence and all(item.quote for item in stored.record.evidence)


TestReviews = Reviews.TestCase
TestReviews.settings = settings(max_examples=at_most(25, few=5), stateful_step_count=25)
