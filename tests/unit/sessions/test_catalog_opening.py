"""Opening the catalog: private, made again where it is damaged, brought up from every earlier form."""

from pathlib import Path

import pytest

from catalog_dump import ByName, found, index_all, listed, write
from claude_lines import SESSION, prompt
from lerim.errors import CatalogError
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Transcript
from lerim.sessions.readers import read_session
from lerim.sessions.tables.column_values import digest_text
from older_catalog import written_as


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "lerim-home")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "claude"


def test_files_and_folders_are_private(home):
    with Catalog.open(home) as catalog:
        one = Transcript("claude", Path("/x"), "x", 1, 1, 1)
        next(catalog.index_transcripts([(one, read_session(one))], ByName()))
        check_private(home)


def check_private(home):
    for path in home.catalog.parent.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path
    for folder in (home.root, home.catalog.parent):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_damage_met_later_is_told_and_the_next_opening_rebuilds(home, root):
    write(root, SESSION, *(prompt(f"Number {number} " + "word " * 200) for number in range(300)))
    with Catalog.open(home) as catalog:
        index_all(catalog, root)
        turns = [turn.id for turn in catalog.search_turns("Number", limit=999)]
    size = home.catalog.stat().st_size
    with home.catalog.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * (size // 2))  # what opening looks at lies before
    with Catalog.open(home) as catalog, pytest.raises(CatalogError, match="Run the command again"):
        for number, turn in enumerate(turns):
            catalog.search_turns(f"Number {number}")
            listed(catalog, "app")
            catalog.load_turn(turn)
    with Catalog.open(home) as catalog:
        assert [one.code for one in catalog.problems] == ["catalog-rebuilt"]
        index_all(catalog, root)
        assert len(catalog.search_turns("Number", limit=999)) == 300


@pytest.mark.parametrize("form", [4, 5, 6, 7, 8, 9, 10])
def test_a_form_before_is_kept_with_how_far_it_got_and_waits_for_a_model(home, root, form):
    write(root, SESSION, prompt("Kept"))
    with Catalog.open(home) as first:
        index_all(first, root)
        job = first.claim_job("app")
        first.finish_job(job, b"resume", b"state")
    written_as(home, form)
    with Catalog.open(home) as second:
        assert second.problems == []
        index_all(second, root)
        assert found(second, "Kept") == [["Kept"]]
        model = second.claim_job("app", kind="model")
        assert (model.resume, model.state) == (None, None)
        assert second.load_other_state(model, "extract") == b"state"
        job = second.claim_job("app")
        assert job is None or (job.resume, job.state) == (b"resume", b"state")
    with Catalog.open(home) as third:
        assert third.problems == []


def test_a_catalog_of_the_first_day_is_made_anew(home, root):
    write(root, SESSION, prompt("Kept"))
    with Catalog.open(home) as first:
        index_all(first, root)
    written_as(home, 3)
    with Catalog.open(home) as second:
        assert [one.code for one in second.problems] == ["catalog-rebuilt"]
        index_all(second, root)
        assert found(second, "Kept") == [["Kept"]]


def test_what_a_text_has_in_tokens_is_kept_without_the_text(home):
    with Catalog.open(home) as catalog:
        assert catalog.find_token_count(digest_text("a secret text")) is None
        catalog.keep_token_counts({digest_text("a secret text"): 3, digest_text(""): 0, digest_text("\ud800"): 2})
    with Catalog.open(home) as catalog:
        assert [catalog.find_token_count(digest_text(text)) for text in ("a secret text", "", "\ud800", "x")] == [
            3,
            0,
            2,
            None,
        ]
    assert b"a secret text" not in home.catalog.read_bytes()
