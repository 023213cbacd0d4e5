"""Opening the catalog: private, made again where it is damaged, brought up from every earlier form."""

import pytest

from catalog_dump import found, index_all, listed, write
from claude_lines import SESSION, prompt
from lerim.errors import CatalogError
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.tables.column_values import digest_text
from older_catalog import written_as


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "lerim-home")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "claude"


def test_damage_met_later_is_told_and_the_next_opening_rebuilds(home, root):
    write(root, SESSION, *(prompt(f"Number {number} " + "word " * 200) for number in range(300)))
    with Catalog.open(home) as catalog:
        index_all(catalog, root)
        turns = [turn.id for turn in catalog.search_turns("Number", limit=999)]
        modes = {path.stat().st_mode & 0o777 for path in home.catalog.parent.iterdir()}
        assert (modes, home.root.stat().st_mode & 0o777) == ({0o600}, 0o700)
        assert home.catalog.parent.stat().st_mode & 0o777 == 0o700
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


@pytest.mark.parametrize("form", range(3, 11))
def test_a_form_before_is_kept_with_how_far_it_got_and_waits_for_a_model_but_that_of_the_first_day_is_made_anew(
    home, root, form
):
    write(root, SESSION, prompt("Kept"))
    with Catalog.open(home) as first:
        index_all(first, root)
        job = first.claim_job("app")
        first.finish_job(job, b"resume", b"state")
    written_as(home, form)
    with Catalog.open(home) as second:
        assert [one.code for one in second.problems] == (["catalog-rebuilt"] if form == 3 else [])
        index_all(second, root)
        assert found(second, "Kept") == [["Kept"]]
        if form == 3:
            return
        model = second.claim_job("app", kind="model")
        assert (model.resume, model.state) == (None, None)
        assert second.load_other_state(model, "extract") == b"state"
        job = second.claim_job("app")
        assert job is None or (job.resume, job.state) == (b"resume", b"state")
    with Catalog.open(home) as third:
        assert third.problems == []


def test_what_a_text_has_in_tokens_is_kept_without_the_text(home):
    with Catalog.open(home) as catalog:
        assert catalog.find_token_count(digest_text("a secret text")) is None
        catalog.keep_token_counts({digest_text("a secret text"): 3, digest_text(""): 0, digest_text("\ud800"): 2})
    with Catalog.open(home) as catalog:
        counts = [catalog.find_token_count(digest_text(text)) for text in ("a secret text", "", "\ud800", "x")]
        assert counts == [3, 0, 2, None]
    assert b"a secret text" not in home.catalog.read_bytes()
