"""What a person accepts, rejects and has proposed anyway moves their ranking; one command forgets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk
from lerim.jobs.sync_context import SyncOptions
from lerim.review import queue
from lerim.review.ledger.judgments import count_judgments
from terminal import answer as answered
from terminal import run

Git = Callable[..., str]
RULES = (
    *("Always use uv to install packages, never pip.", "Never squash commits when you merge a branch."),
    *("Always run the linter before you commit.", "Never print secrets in the logs of a job."),
    *("Always write the changelog in English.", "Never use mocks in the tests of billing."),
    *("Always name branches after their issue.", "Always answer in short sentences, please."),
    *("Never touch the generated files by hand.", "Always keep one assertion in each test."),
)
NEXT = "Always keep the notes on releases in one place."
TITLE = "Always keep the notes on releases in one place"
REFUSAL = "No, use pathlib instead of os.path in src/app.py."


def typed(name: str, said: str) -> list[Fields]:
    """An exchange in which the person says this, and goes on."""
    return [
        *(prompt(said), reply(f"a-{name}", text("Understood."))),
        *(prompt("ok"), reply(f"b-{name}", text("Fine."))),
    ]


def refused(name: str, path: Path) -> list[Fields]:
    """An exchange in which the person refuses a call, and says how it is to be done."""
    said = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the"
        f" new_string was NOT written to the file). To tell you how to proceed, the user said:\n{REFUSAL}"
    )
    return [
        prompt("Read the settings in src/app.py"),
        reply(f"a-{name}", call(f"t-{name}", "Edit", file_path=str(path), old_string="a", new_string="b")),
        answer(f"t-{name}", said, is_error=True, outcome="User rejected tool use"),
        reply(f"b-{name}", text("Done.")),
    ]


def say(desk: Desk, *said: str, name: str = "s") -> None:
    """A session for each of these, and a sync."""
    for number, one in enumerate(said):
        desk.session(f"{name}{number}", *typed(f"{name}{number}", one))
    desk.sync()


def reject_all(desk: Desk) -> list[queue.ReviewResult]:
    return [queue.reject_candidate(desk.place, one.id) for one in queue.list_pending(desk.place)[0]]


def left_out(desk: Desk) -> list[tuple[str, str]]:
    return [(one.title, one.detail) for one in queue.list_left_out(desk.place)[0]]


@pytest.fixture
def rejecting(desk: Desk) -> Desk:
    """A person who rejected ten rules that they typed."""
    say(desk, *RULES)
    assert len(reject_all(desk)) == len(RULES)
    return desk


def test_after_ten_rejections_of_a_kind_it_is_left_out_in_all_repositories_and_another_kind_is_proposed(
    rejecting: Desk, tmp_path: Path, git: Git
) -> None:
    say(rejecting, NEXT, name="next")
    assert rejecting.waiting() == []
    assert left_out(rejecting) == [(TITLE, "your decisions about ones like it lowered its rank")]
    git(tmp_path, "init", "-q", "other")
    other = Desk(tmp_path / "other", rejecting.home, rejecting.projects)
    say(other, NEXT, name="other")
    assert other.waiting() == []
    assert left_out(other) == left_out(rejecting)
    rejecting.session("refused", *refused("r", rejecting.repo / "src" / "app.py"))
    rejecting.sync()
    assert rejecting.waiting() == ["Use pathlib instead of os.path in src/app.py"]


def test_forgotten_the_ranking_is_as_it_was_and_what_fell_below_is_proposed_once_its_session_goes_on(
    rejecting: Desk,
) -> None:
    rejecting.session("next", *typed("next", NEXT))
    rejecting.sync()
    assert rejecting.waiting() == []
    assert answered("review", "forget") == {"forgotten": 0, "problems": []}
    assert count_judgments(rejecting.home) == len(RULES)
    done = run("review", "forget", "--yes")
    assert "Forgotten: 10 decisions." in done.output
    assert queue.load_adjustment(rejecting.home).weights == {}
    rejecting.session("next", *typed("more", "Show me the readme, please."))
    rejecting.sync()
    assert rejecting.waiting() == [TITLE]
    assert left_out(rejecting) == []
    assert "nothing was forgotten" in run("review", "forget").output
    rejecting.session("again", *typed("again", RULES[0]))
    rejecting.sync()
    assert rejecting.waiting() == [TITLE]  # what was rejected stays so


def test_what_is_wanted_weighs_against_what_is_rejected(rejecting: Desk) -> None:
    before = lowest(rejecting)
    say(rejecting, NEXT, name="next")
    [item] = queue.list_left_out(rejecting.place)[0]
    assert queue.propose_anyway(rejecting.place, item.id).ok
    assert count_judgments(rejecting.home) == len(RULES) + 1
    after = lowest(rejecting)
    assert before < after < 0
    assert queue.reject_candidate(rejecting.place, queue.list_pending(rejecting.place)[0][0].id).ok
    assert count_judgments(rejecting.home) == len(RULES) + 1  # the last decision about a candidate counts
    assert lowest(rejecting) < before


def lowest(desk: Desk) -> float:
    return min(queue.load_adjustment(desk.home).weights.values(), default=0.0)


def test_what_was_accepted_unseen_or_with_all_the_others_teaches_nothing(desk: Desk) -> None:
    desk.session("one", *typed("one", RULES[0]))
    desk.sync(SyncOptions(accept_above=0.1, quotes="shared"))
    assert len(desk.memories()) == 1
    say(desk, *RULES[1:3])
    assert run("review", "accept", "--all", "--repo", str(desk.repo)).exit_code == 0
    assert len(desk.memories()) == 3
    assert count_judgments(desk.home) == 0


def test_no_file_of_the_repository_tells_features_or_scores(desk: Desk) -> None:
    say(desk, *RULES[:3])
    first, second, _ = queue.list_pending(desk.place)[0]
    queue.accept_candidate(desk.place, first.id, quotes="shared")
    queue.reject_candidate(desk.place, second.id)
    texts = [path.read_text("utf-8") for path in (desk.repo / ".lerim").rglob("*") if path.suffix in (".md", ".json")]
    assert len(texts) > 3
    assert not [one for one in texts if "features" in one or "score" in one or "judg" in one]
    assert count_judgments(desk.home) == 2


def test_the_shown_confidence_follows_what_the_person_decided(desk: Desk) -> None:
    def sure(name: str) -> float:
        desk.session(name, *typed(name, f"Always put the {name} of a release in one place."))
        desk.sync()
        return next(one.record.confidence for one in queue.list_pending(desk.place)[0] if name in one.record.title)

    before = sure("notes")
    say(desk, *RULES[:4])
    for one in queue.list_pending(desk.place)[0]:
        if "release" not in one.record.title:
            queue.accept_candidate(desk.place, one.id, quotes="shared")
    assert before < sure("dates") <= 0.95


def figures(*more: str) -> dict[str, dict[str, object]]:
    shown = answered("stats", "--by", "signal", *more)
    assert shown["by"] == "signal"
    return {one["signal"]: one for one in (*shown["groups"], shown["total"])}


def numbers(one: dict[str, object]) -> Sequence[object]:
    return [one[name] for name in ("proposed", "accepted", "edited", "rejected", "left_out", "proposed_anyway")]


def test_stats_by_signal_tell_what_became_of_what_each_signal_proposed(isolated: Path, request) -> None:
    assert "nothing has been proposed yet" in run("stats", "--by", "signal").output
    assert figures() == {"": figures()[""]}
    assert not (isolated / ".lerim" / "projects").exists()
    rejecting: Desk = request.getfixturevalue("rejecting")
    say(rejecting, NEXT, name="next")
    rejecting.session("refused", *refused("r", rejecting.repo / "src" / "app.py"))
    rejecting.sync()
    [waiting] = queue.list_pending(rejecting.place)[0]
    queue.accept_candidate(
        rejecting.place, waiting.id, queue.CandidateEdit(title="Use pathlib in src/app.py"), "shared"
    )
    shown = figures()
    assert numbers(shown["prompt"]) == [10, 0, 0, 10, 1, 0]
    assert numbers(shown["feedback"]) == [1, 1, 1, 0, 0, 0]
    assert numbers(shown[""]) == [11, 1, 1, 10, 1, 0]
    [item] = queue.list_left_out(rejecting.place)[0]
    queue.propose_anyway(rejecting.place, item.id)
    assert numbers(figures("--repo", str(rejecting.repo))["prompt"]) == [11, 0, 0, 10, 0, 1]
    assert numbers(figures("--until", "2001-01-01")[""]) == [0] * 6
    table = run("stats", "--by", "signal").output
    for part in ("you typed", "you said about a call", "proposed anyway", "total", "12 decisions of yours"):
        assert part in table
