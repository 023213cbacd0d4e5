"""Whatever is written, changed or removed in whatever order: the index holds what the rows say, neighbours included."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_dump import add
from lerim.paths import Home
from lerim.sessions.catalog import turns
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Session, Turn
from lerim.sessions.tables import turn_words
from lerim.sessions.tables.turn_text import space_ideographs
from lerim.sqlite import transaction

words = st.sampled_from(["", "alpha", "beta getUserName", "gamma 設定", "delta", " ", "epsilon zeta"])
turn = st.builds(
    lambda number, ordinal, kind, text: Turn(
        f"{number:012x}", ordinal, "assistant" if kind == "reply" else "user", kind, text, None, "/home/ana/app"
    ),
    st.integers(0, 12),
    st.integers(0, 9),
    st.sampled_from(["prompt", "reply", "shell"]),
    words,
)
step = st.one_of(
    st.lists(st.tuples(st.integers(1, 2), turn), max_size=6),
    st.tuples(st.integers(1, 2), st.frozensets(st.integers(0, 12))),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return Home(tmp_path_factory.mktemp("home"))


def indexed(catalog: Catalog) -> list[tuple[object, ...]]:
    return catalog.db.execute("SELECT doc, col, term, offset FROM temp.v ORDER BY doc, col, offset, term").fetchall()


@given(st.lists(step, max_size=8), st.booleans())
def test_the_index_is_what_filling_it_anew_would_give(home, steps, vanished):
    home.catalog.unlink(missing_ok=True)
    with Catalog.open(home) as catalog:
        for number in (1, 2):
            add(catalog, Session(str(number), "claude", Path(f"/x/{number}")), [])
        if vanished:
            catalog.mark_vanished(["/x/1"])
        catalog.db.execute("INSERT INTO folders VALUES (1, '/home/ana/app', 'app')")
        catalog.db.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab (main, words, instance)")
        for one in steps:
            with transaction(catalog.db):
                if isinstance(one, list):
                    turns.write_turns(catalog.db, one, {"/home/ana/app": 1})
                else:
                    turns.remove_other_turns(catalog.db, one[0], [f"{number:012x}" for number in one[1]])
        kept = indexed(catalog)
        catalog.db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        catalog.db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        with transaction(catalog.db):
            for number in (1, 2):
                turn_words.update_index(catalog.db, (), [turn_words.load_indexed_turns(catalog.db, number, 0, 9)])
        assert kept == indexed(catalog)


NAME = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Z]{0,20}[a-z0-9]{1,40}[A-Z][A-Za-z0-9]{0,60}")


@given(st.text(st.sampled_from("aZ9_ é設-.Bc\ud800"), max_size=80))
def test_behind_a_text_stand_the_parts_of_every_name_that_has_humps(text):
    plain = space_ideographs(text)
    names = [name for name in dict.fromkeys(NAME.findall(plain)) if re.search("[a-z][A-Z]", name)]
    assert turn_words.make_index_text(text) == "\n".join(
        (plain, *(" ".join(turn_words.split_name(name)) for name in names))
    )
