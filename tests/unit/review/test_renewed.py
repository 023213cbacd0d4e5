"""An update leaves no sentence of Lerim's beside the one that stands in its place; a person's sentences stay."""

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from lerim.errors import StaleError
from lerim.extraction.candidate import Candidate
from lerim.memory.kept import joined
from lerim.memory.renewed import renewed
from lerim.paths import Home
from lerim.project import Project
from lerim.review import queue
from lerim.review.place import Place

Make = Callable[..., Candidate]
TITLE = "Uploads to the bucket give up on a timeout"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It waits a minute between tries.", "It waits an hour between tries."),
        ("Only admins may upload.", "Admins and editors may upload."),
        ("The default is `json`.", "The default is `toml`."),
        ("Reads go to the replica.", "Reads go to the primary."),
        ("Deploys happen on Friday.", "Deploys happen on Monday."),
        ("Docs are exempt.", "Docs are not exempt."),
        ("Flags default to off.", "Flags default to on."),
        ("Tests must pass before a merge.", "Tests should pass before a merge."),
        ("We use Redis for it.", "We use Memcached for it, not Redis."),
    ],
)
def test_the_new_sentence_takes_the_place_of_the_old_one(old: str, new: str) -> None:
    assert joined(f"{old} Ada knows why.", "T", new, lambda _: True) == f"{new}\n\nAda knows why."
    assert old in joined(old, "T", new) or "Docs" in old  # a person's own sentence is theirs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It gives up after a day.", "It waits an hour."),
        ("`load` retries.", "`save` retries."),
        ("The linter in `ruff.toml` holds it.", "It is `make lint`."),
        ("Uploads go to the bucket in Bern.", "Uploads go to the bucket."),
    ],
)
def test_what_only_the_old_text_says_and_nothing_new_contradicts_stays(old: str, new: str) -> None:
    assert joined(old, "T", new, lambda _: True) == f"{new}\n\n{old}"


def test_one_sentence_takes_the_place_of_one_the_likest() -> None:
    old = ["Writes go to the primary.", "Reads go to the replica."]
    assert renewed(old, ["Reads go to the primary."]) == {"Reads go to the replica."}
    assert renewed(old, [*old, "Nothing else does."]) == frozenset()


def accepted(place: Place, candidate: Candidate) -> Path:
    outcome = queue.propose(place, candidate)
    assert isinstance(outcome, queue.Proposed), outcome
    done = queue.accept(place, outcome.proposal.id, quotes="shared")
    assert done.path
    return Path(done.path)


def body(place: Place) -> str:
    [stored] = [one for one in place.store().load_all()[0] if one.status == "active"]
    return stored.record.body


def test_of_three_values_in_a_row_the_last_alone_is_left(place: Place, make: Make) -> None:
    for number, default in enumerate(("json", "toml", "yaml")):
        text = f"The default is `{default}`."
        if number:
            text += " Ada chose it."
        accepted(place, make(TITLE, text, turn=f"t{number}", minutes=number))
    assert body(place) == "The default is `yaml`. Ada chose it."


def test_what_is_shown_before_is_what_becomes_of_it(place: Place, make: Make) -> None:
    accepted(place, make(TITLE, "Reads go to the replica. It gives up after a day."))
    outcome = queue.propose(place, make(TITLE, "Reads go to the primary.", turn="t2", minutes=5))
    assert isinstance(outcome, queue.Proposed) and outcome.proposal.action == "update"
    assert "-Reads go to the replica. It gives up after a day." in outcome.proposal.diff
    assert "replica" not in outcome.proposal.diff.replace("-Reads go to the replica.", "")
    queue.accept(place, outcome.proposal.id)
    assert body(place) == "Reads go to the primary.\n\nIt gives up after a day."


def test_in_a_file_a_person_wrote_in_their_sentences_stay_and_lerims_are_renewed(place: Place, make: Make) -> None:
    path = accepted(place, make(TITLE, "Reads go to the replica. The default is `json`."))
    path.write_text(path.read_text() + "\nReads go to the replica in Bern. Mind what Ada said.\n")
    accepted(place, make(TITLE, "Reads go to the primary.", turn="t2", minutes=5))
    told = body(place)
    assert "Reads go to the replica. " not in told and told.startswith("Reads go to the primary.")
    assert "Reads go to the replica in Bern. Mind what Ada said." in told
    assert "The default is `json`." in told


SAID = [
    ("It waits a minute.", 0),
    ("It waits a minute. It gives up after a day.", 1),
    ("It waits an hour. Ada is told.", 2),
]


def test_the_text_is_the_same_whenever_one_accepted_and_whichever_was_read_first(tmp_path: Path, make: Make) -> None:
    ends: dict[tuple[str, str], list[object]] = {}
    for number, order in enumerate(permutations(SAID)):
        for every in (0.0, 0.5, 1.0):
            root = tmp_path / f"{number}-{every}" / "repo"
            root.mkdir(parents=True)
            project = Project("0123456789abcdef", root, root, root / ".git", "", "repo")
            place = Place(project, Home(root.parent / "home"))
            chance = Random(number)
            for text, minute in order:
                queue.propose(place, make(TITLE, text, turn=f"t{minute}", minutes=minute))
                if chance.random() < every:
                    accept_all(place, chance)
            accept_all(place, chance)
            [stored] = [one for one in place.store().load_all()[0] if one.status == "active"]
            ends.setdefault((stored.record.title, stored.record.body), []).append((order, every))
    assert len(ends) == 1, ends


def accept_all(place: Place, chance: Random) -> None:
    while waiting := queue.pending(place)[0]:
        try:
            queue.accept(place, chance.choice(waiting).id, quotes="shared")
        except StaleError:
            continue
