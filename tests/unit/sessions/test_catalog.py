"""The catalog: what is read once stays, what grows is followed, and a broken thing costs no other."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from catalog_dump import ByName, add, found, index_all, listed, write
from claude_lines import SESSION, answer, call, encoded, prompt, reply, text
from lerim.files import encode_path
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import DiscoveredStores, compare_stamps, split_likely_transcripts
from lerim.sessions.model import Session, Transcript, Turn
from lerim.sessions.search import SessionFilters


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "lerim-home")


@pytest.fixture
def catalog(home):
    with Catalog.open(home) as opened:
        yield opened


@pytest.fixture
def root(tmp_path):
    return tmp_path / "claude"


def append(path: Path, *records) -> None:
    with path.open("ab") as file:
        file.write(encoded(*records))


def sizes(catalog, project):
    """How many turns of the project each session has, by the name of its file."""
    places = [one.place for one in listed(catalog, project)]
    return {Path(place).stem: sum(turn.project == project for turn in catalog.load_turns(place)) for place in places}


def test_a_session_becomes_one_row_a_turn_found_by_its_words_and_commands(catalog, root):
    command = call("t1", "Bash", command="uv run pytest -x")
    write(root, SESSION, prompt("Why is retry slow?"), reply("m1", text("Backoff grows."), command), answer("t1", "ok"))
    (done,) = index_all(catalog, root)
    assert (done.new_turns, done.projects, done.failed, done.problems) == (2, {"app"}, False, ())
    assert done.session is not None
    assert done.session.prompts == 1
    (hit,) = catalog.search_turns("pytest")
    assert (hit.role, hit.kind, hit.text, hit.session, hit.project, hit.cwd) == (
        "assistant",
        "reply",
        "Backoff grows.",
        SESSION,
        "app",
        "/home/ana/app",
    )
    assert "$ uv run pytest -x" in hit.tools
    assert hit.time is not None
    assert hit.time.tzinfo is not None
    assert catalog.load_turn(hit.id) is not None
    assert found(catalog, "retry", "nowhere") == [["Why is retry slow?"], []]


def test_a_grown_session_is_read_from_where_it_was_left_and_an_open_turn_is_brought_up_to_date(catalog, root):
    path = write(root, SESSION, prompt("Go"), reply("m1", text("Looking"), call("t1", "Bash", command="ls")))
    index_all(catalog, root)
    append(path, reply("m1", text("It was quicksilver")), answer("t1", "files"))
    (done,) = index_all(catalog, root)
    assert (done.new_turns, done.projects) == (0, {"app"})
    (hit,) = catalog.search_turns("quicksilver")
    assert hit.text.startswith("Looking")
    assert len(catalog.search_turns("Looking")) == 1
    append(path, prompt("Second words"), reply("m2", text("Second answer")))
    (done,) = index_all(catalog, root)
    assert done.new_turns == 2
    assert done.session is not None and done.session.prompts == 2
    said = ["Go", "Looking\n\nIt was quicksilver", "Second words", "Second answer"]
    assert [turn.text for turn in catalog.load_turns(str(path))] == said


def test_a_rewritten_session_is_read_again_and_its_old_turns_stay_findable(catalog, root):
    path = write(root, SESSION, prompt("Before the rewrite"))
    index_all(catalog, root)
    path.write_bytes(encoded(prompt("Something else entirely"), prompt("And more")))
    (done,) = index_all(catalog, root)
    assert done.new_turns == 2
    assert found(catalog, "rewrite", "entirely") == [["Before the rewrite"], ["Something else entirely"]]


def test_copied_turns_stay_one_row_in_the_first_session_and_a_fork_with_nothing_of_its_own_is_no_work(catalog, root):
    copied = [prompt("Shared beginning"), reply("m1", text("Shared answer"))]
    first = write(root, "aaaa", *copied)
    index_all(catalog, root)
    second = write(root, "bbbb", *copied)
    write(root, "cccc", prompt("Elsewhere", cwd="/home/ana/app/other"))
    index_all(catalog, root)
    assert [turn.path.stem for turn in catalog.search_turns("Shared")] == ["aaaa", "aaaa"]
    assert catalog.count_due_jobs("app") == 1
    assert catalog.find_project_places("app") == {str(first), str(second)}
    assert sizes(catalog, "app") == {"aaaa": 2, "bbbb": 0}
    counted = catalog.count_sessions("app", (), ("extract",))
    assert (counted.number, counted.waiting) == (2, 1)
    assert catalog.find_project_places("nothing") == frozenset()
    assert len(listed(catalog)) == 3
    append(second, prompt("Only in the fork"))
    (done,) = index_all(catalog, root)
    assert (done.new_turns, sizes(catalog, "app")) == (1, {"aaaa": 2, "bbbb": 1})


def test_a_deleted_transcript_keeps_its_turns_and_its_fork_can_take_them_over(catalog, root):
    copied = [prompt("Shared beginning")]
    path = write(root, "aaaa", *copied)
    index_all(catalog, root)
    path.unlink()
    assert index_all(catalog, root) == []
    (row,) = listed(catalog, "app")
    assert row.vanished
    assert found(catalog, "beginning") == [["Shared beginning"]]
    assert catalog.count_due_jobs("app") == 0
    write(root, "bbbb", *copied)
    index_all(catalog, root)
    assert [turn.path.stem for turn in catalog.search_turns("beginning")] == ["bbbb"]


def test_turns_of_one_session_belong_to_the_project_of_their_own_folder(catalog, root):
    write(root, "aaaa", prompt("In the app"), prompt("In the library", cwd="/home/ana/lib"))
    (done,) = index_all(catalog, root)
    assert done.projects == {"app", "lib"}
    in_lib = catalog.search_turns("In the", filters=SessionFilters(("lib",)))
    assert [turn.text for turn in in_lib] == ["In the library"]
    assert sizes(catalog, "lib") == {"aaaa": 1}
    assert catalog.find_project_places("lib") == catalog.find_project_places("app")
    assert catalog.find_project_places("other") == frozenset()


def test_sessions_are_listed_newest_first(catalog, root):
    write(root, "old", prompt("Old", timestamp="2025-01-01T00:00:00Z"))
    write(root, "new", prompt("New", timestamp="2026-01-01T00:00:00Z"))
    index_all(catalog, root)
    assert [Path(row.place).stem for row in listed(catalog, "app")] == ["new", "old"]
    assert [Path(row.place).stem for row in listed(catalog, limit=1)] == ["new"]


def test_lone_surrogates_null_bytes_and_impossible_times_are_stored(catalog):
    texts = ["\ud800 kept", "\0", "\x1f\x1f", "", "long \ud83d" * 3000]
    never = datetime.max.replace(tzinfo=UTC)
    turns = [Turn(f"{at:012x}", at, "user", "prompt", said, never, "/\ud800") for at, said in enumerate(texts)]
    session = Session("s\ud800", "claude", Path("/x/\udc80.jsonl"), title="t\udfff\0", cwds=("\ud800",))
    assert add(catalog, session, turns).new_turns == len(texts)
    (hit,) = catalog.search_turns("kept")
    assert hit.text == "\ufffd" * 3 + " kept"
    assert [turn.text for turn in catalog.load_turns(encode_path(session.path))][1:4] == texts[1:4]


def test_a_new_alias_moves_the_turns_and_queues_their_sessions(catalog, home, root):
    path = write(root, "aaaa", prompt("Moved", cwd="/old/place"), prompt("Stays"))
    index_all(catalog, root)

    class Aliased(ByName):
        def find_owner(self, cwd: str) -> str:
            return "app" if cwd.startswith("/old") else ""

    job = catalog.claim_job("app")
    catalog.finish_job(job, b"read to the end", b"")
    with Catalog.open(home) as other:  # of another process
        assert other.reassign_folders(Aliased()) == {"app"}
    assert sizes(catalog, "app") == {"aaaa": 2}
    again = catalog.claim_job("app")
    assert again is not None
    assert again.resume is None
    append(path, prompt("Moved too", cwd="/old/place"))
    assert [done.projects for done in index_all(catalog, root)] == [{"app"}]
    assert sizes(catalog, "app") == {"aaaa": 3}
    assert catalog.reassign_folders(Aliased()) == frozenset()


def test_a_folder_that_cannot_be_listed_deletes_nothing(root):
    path = write(root, SESSION, prompt("Here"))
    gone = str(path.with_name("gone.jsonl"))
    assert compare_stamps(DiscoveredStores(), {str(path): (1, 1, 1), gone: (1, 1, 1)}).vanished == (gone,)


def test_a_project_s_own_sessions_come_first_and_the_newest_of_them_first():
    def one(folder: str, name: str, when: int) -> Transcript:
        return Transcript("claude", Path(f"/c/projects/{folder}/{name}.jsonl"), name, 1, when, 1)

    mine, newer = one("-home-ana-app", "mine", 1), one("-home-ana-app--worktrees-x", "newer", 2)
    other, known = one("-home-ana", "other", 9), one("-elsewhere", "known", 3)
    own, rest = split_likely_transcripts([other, mine, newer, known], [str(known.path)], ["/home/ana/app"])
    assert [item.session_id for item in own] == ["known", "newer", "mine"]
    assert rest == [other]
