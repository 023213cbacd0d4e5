"""A repository's memories in their own folder, and every step that can be taken with them: ours, and an editor's."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence, LearningKind, MemoryRecord, Primitive
from lerim.memory.search.memory_search import MemorySearch
from lerim.memory.store import StoredMemory
from lerim.paths import Home
from lerim.review import CandidateEdit, acts, queue
from proposals import review_paths
from reviews import made_candidate

START = datetime(2026, 8, 1, 10, tzinfo=UTC)
CLAIMS: list[tuple[Primitive, str, str, tuple[str, ...]]] = [
    ("decision", "Use uv, not pip", "Installs go through `uv pip sync requirements.lock`.", ("pip",)),
    ("decision", "Use uv, not pip", "Installs go through `uv pip sync --frozen requirements.lock`.", ("pip",)),
    ("decision", "Use pip, not uv", "Installs go through `pip install -r requirements.txt`.", ("uv",)),
    ("decision", "Keep the API at version 2", "The mobile app asks `/v2/items`.", ()),
    ("decision", "Keep the API at version 3", "The mobile app asks `/v3/items`.", ()),
    ("learning", "Port 8443 is taken by the proxy", "`serve --port 8443` fails while the proxy runs.", ()),
    ("learning", "Port 9443 is taken by the proxy", "`serve --port 9443` fails while the proxy runs.", ()),
    ("learning", "Tests need `TZ=UTC`", "Without it `test_dates` fails in summer.", ()),
    ("question", "Which installer do we use, uv or pip?", "Both stand in the README.", ()),
    ("question", "Which version of the API do we keep?", "The mobile app asks two.", ()),
    ("theme", "Billing of invoices", "Invoices are made in `src/app.py`.", ()),
]
SUGGESTIONS = ("archive-it", "close", "merge", "consolidate")
ACTS = ("edit", "archive", "restore", "kind", "promote", "globalize", "verify", "feedback", "delete")
OURS = ("say", "say", "propose", "accept", "accept", "reject", "add", "undo", "undo", *SUGGESTIONS, *ACTS)
HANDS = ("text", "key", "broken", "candidate", "delete", "supersedes", "resolves", "superseded_by")
MARK = re.compile(r"mark\d+")
Step = Callable[[], object]


def candidate(number: int, minutes: int) -> Candidate:
    """A claim as it was made in this minute."""
    primitive, title, body, replaces = CLAIMS[number % len(CLAIMS)]
    turn = f"{number:06x}{minutes:06x}"
    kind: LearningKind | None = "pitfall" if primitive == "learning" else None
    evidence = (Evidence(f"no: {title} {minutes}", turn, "user"),)
    said = made_candidate(title, body, turn, time=START + timedelta(minutes=minutes), evidence=evidence)
    return replace(said, primitive=primitive, kind=kind, references=("src/app.py#load",), replaces=replaces)


class World:
    """The memories of a new repository. `marks` counts the words a person wrote, each of them once."""

    def __init__(self) -> None:
        in_memory = Path("/dev/shm")  # flushing to a disk takes long, and is not what is looked at
        self.folder = Path(tempfile.mkdtemp(prefix="lerim-lives-", dir=in_memory if in_memory.is_dir() else None))
        repo = self.folder / "repo"
        subprocess.run(["git", "init", "-q", "--template=", str(repo)], check=True)
        (repo / "src").mkdir()
        (repo / "src" / "app.py").write_text("def load(path):\n    return path\n", encoding="utf-8")
        home = Home(self.folder / "home")
        self.place = review_paths(repo.resolve(), home)
        self.ledger = self.place.private / "review.sqlite3"
        self.marks = 0

    def close(self) -> None:
        shutil.rmtree(self.folder)

    def files(self) -> dict[Path, str]:
        """Every memory file, and what is in it."""
        roots = (self.place.project.memory_dir, self.place.home.memory)
        return {path: path.read_text(encoding="utf-8") for root in roots for path in sorted(root.rglob("*.md"))}

    def candidates(self) -> dict[Path, str]:
        return {path: path.read_text(encoding="utf-8") for path in sorted(self.place.review.glob("*.md"))}

    def remembered(self) -> str:
        """All that the undo ledger holds; a text stands there as `quoted` gives it."""
        if not self.ledger.exists():
            return ""
        with closing(sqlite3.connect(self.ledger)) as sql:
            return "\n".join(row[0] for row in sql.execute("SELECT changes FROM actions"))

    def stored(self) -> list[StoredMemory]:
        return sorted(self.place.store().load_all(archived=True)[0], key=lambda one: one.record.id)

    def indexed(self) -> set[tuple[object, ...]]:
        """All the project's index holds once it followed the files; nothing where there is no memory to index."""
        with MemorySearch(self.place.project, self.place.home):
            pass
        path = self.place.state / "index" / "memories.sqlite3"
        if not self.stored() or not path.exists():
            return set()
        with closing(sqlite3.connect(path)) as sql:
            tables = ("files", "ends", "words")
            return {(table, *row) for table in tables for row in sql.execute(f"SELECT * FROM {table}")}

    def drop_index(self) -> None:
        shutil.rmtree(self.place.state / "index", ignore_errors=True)

    # steps of ours

    def ours(self, name: str, one: int, other: int) -> Step | None:
        """A step by its name (of OURS) and two numbers that choose what it is about; None where there is nothing."""
        place = self.place
        if name == "propose":
            return lambda: queue.propose_candidate(place, candidate(one, other))
        if name == "say":
            return lambda: self._accepted(queue.propose_candidate(place, candidate(one, other)))
        if name == "add":
            mark = self.mark()
            primitive: Primitive = ("decision", "learning", "question", "theme")[one % 4]
            return lambda: queue.add_memory(place, primitive, f"Mine {other}", f"Here is {mark}.")
        if name == "undo":
            return self._undo(one)
        if name in ("accept", "reject"):
            found = queue.list_pending(place)[0]
            if not found:
                return None
            which = found[one % len(found)].id
            if name == "reject":
                return lambda: queue.reject_candidate(place, which)
            return lambda: queue.accept_candidate(place, which, quotes="shared")
        if name in SUGGESTIONS:
            wanted = self._suggestion(name, one, other)
            return None if wanted is None else lambda: self._accepted(queue.propose_suggestion(place, wanted))
        return self._act(name, one)

    def mark(self) -> str:
        """A new word of the person's."""
        self.marks += 1
        return f"mark{self.marks}"

    def _accepted(self, outcome: object) -> object:
        if isinstance(outcome, queue.CandidateProposed):
            return queue.accept_candidate(self.place, outcome.proposal.id, quotes="shared")
        return outcome

    def _undo(self, number: int) -> Step | None:
        """Taking back the last step, or an earlier one."""
        if not self.ledger.exists():
            return None
        with closing(sqlite3.connect(self.ledger)) as sql:
            done = [row[0] for row in sql.execute("SELECT id FROM actions ORDER BY number DESC")]
        return (lambda: queue.undo_last(self.place, done[number // 2 % len(done)])) if done else None

    def _suggestion(self, action: str, one: int, other: int) -> queue.Suggestion | None:
        live = [stored for stored in self.stored() if stored.status == "active"]
        if action == "close":
            questions = [stored for stored in live if stored.record.primitive == "question"]
            answers = [stored for stored in live if stored.record.primitive in ("decision", "learning")]
            if not questions or not answers:
                return None
            asked = questions[one % len(questions)]
            return queue.Suggestion("close", asked.record, (asked, answers[other % len(answers)]), "It answers it.")
        if not live:
            return None
        first = live[one % len(live)]
        if action == "archive-it":
            return queue.Suggestion("archive", first.record, (first,), "Nobody uses it.")
        alike = [stored for stored in live if stored.record.primitive == first.record.primitive and stored != first]
        if not alike:
            return None
        second = alike[other % len(alike)]
        if action == "merge":
            words = replace(first.record, body=f"{first.record.body}\n\n{second.record.body}")
            return queue.Suggestion("merge", words, (first, second), "They say the same.")
        now = datetime.now(UTC).replace(microsecond=0)
        both = MemoryRecord("", "learning", "Two of a kind", now, now, "manual", 0.7, (), "Both hold.", kind="insight")
        return queue.Suggestion("consolidate", both, (first, second), "They belong together.")

    def _act(self, name: str, number: int) -> Step | None:
        """An act by hand on a memory it fits, if there is one."""
        place = self.place
        fits: dict[str, Callable[[StoredMemory], bool]] = {
            "archive": lambda one: one.status == "active",
            "restore": lambda one: one.status != "active",
            "promote": lambda one: one.record.primitive == "question" and one.status == "active",
            "globalize": lambda one: one.status == "active",
            "delete": lambda one: one.record.primitive == "theme",
        }
        found = [one for one in self.stored() if (name not in fits or fits[name](one))]
        if not found:
            return None
        memory = found[number % len(found)].record
        which = memory.id
        words = CandidateEdit(f"{memory.title}!"[:80], memory.body, ("mine",))
        other: Primitive = "theme" if memory.primitive == "decision" else "decision"
        done: dict[str, Step] = {
            "edit": lambda: acts.edit_memory(place, which, words),
            "archive": lambda: acts.archive_memory(place, which),
            "restore": lambda: acts.restore_memory(place, which),
            "kind": lambda: acts.change_kind(place, which, other),
            "promote": lambda: acts.promote_question(place, which),
            "globalize": lambda: acts.globalize_memory(place, which),
            "verify": lambda: acts.verify_memory(place, which),
            "feedback": lambda: acts.give_feedback(place, which, "outdated"),
            "delete": lambda: acts.delete_theme(place, which),
        }
        return done[name]

    # an editor's

    def by_hand(self, name: str, one: int, other: int) -> None:
        """Changes a file as an editor does, in place."""
        if name == "candidate":
            waiting = list(self.candidates())
            if waiting:
                self.scribble(waiting[one % len(waiting)])
            return
        found = self.stored()
        if not found:
            return
        path, second = found[one % len(found)].path, found[other % len(found)].record.id
        text = path.read_text(encoding="utf-8")
        if name == "text":
            self.scribble(path)
        elif name == "delete":
            path.unlink()
        elif name == "broken":
            path.write_text(text.replace("---", "-- -", 1), encoding="utf-8")
        elif name == "key":
            path.write_text(text.replace("\nupdated:", f"\nnote: {self.mark()}\nupdated:", 1), encoding="utf-8")
        elif f"\n{name}:" not in text:
            value = second if name == "superseded_by" else f"[{second}]"
            path.write_text(text.replace("\n---\n", f"\n{name}: {value}\n---\n", 1), encoding="utf-8")

    def scribble(self, path: Path) -> None:
        """Writes a sentence into a file."""
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\nI add {self.mark()} here.\n")


def quoted(text: str) -> str:
    """A text as the ledger's rows have it."""
    return json.dumps(text)
