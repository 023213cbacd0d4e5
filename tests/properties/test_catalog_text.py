"""Whatever a transcript holds comes back from the catalog as it was, and whatever is typed can be searched."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalog_dump import add
from lerim.paths import Home
from lerim.project.project import FolderOwners
from lerim.project.repository import parse_config, strip_credentials
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Session, Turn
from lerim.sessions.tables.turn_text import pack_turn_text, replace_surrogates, unpack_turn_text

anything = st.text(st.characters(codec=None), max_size=2000)  # lone surrogates too


@given(anything, anything)
def test_a_packed_turn_unpacks_to_its_text_and_tools(text, tools):
    text, tools = replace_surrogates(text), replace_surrogates(tools).replace("\x1f", " ")
    assert unpack_turn_text(pack_turn_text(text, tools)) == (text, tools)


@given(anything)
def test_storable_text_can_be_encoded_and_is_changed_only_where_it_cannot(text):
    kept = replace_surrogates(text)
    kept.encode()
    if not re.search("[\ud800-\udfff]", text):
        assert kept == text


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return Home(tmp_path_factory.mktemp("home"))


@given(texts=st.lists(anything, max_size=8), query=anything)
@example(texts=["a"], query="a " * 9999)
@example(texts=["x"], query="x" * 10**5)
@example(texts=["a"], query='"x a OR ( NEAR( text: * - ^x {} \\')
def test_any_turns_are_kept_in_order_and_any_query_is_answered(home, texts, query):
    path = Path("/claude/one.jsonl")
    with Catalog.open(home) as catalog:
        turns = [Turn(f"{at:012x}", at, "user", "prompt", text, None, text[:50]) for at, text in enumerate(texts)]
        assert not add(catalog, Session("s", "claude", path), turns, FolderOwners()).failed
        kept = [turn.text for turn in catalog.load_turns(str(path))][: len(texts)]
        assert kept == [replace_surrogates(text) for text in texts]
        for hit in catalog.search_turns(query):
            assert hit.path == path
        catalog.db.execute("INSERT INTO words (words) VALUES ('integrity-check')")


@given(anything)
def test_any_working_folder_has_an_owner_or_none(cwd):
    assert re.fullmatch("[0-9a-f]{16}|", FolderOwners().find_owner(cwd))


@given(anything)
def test_any_config_and_any_remote_can_be_read(text):
    parse_config(text)
    parse_config(f'[remote "origin"]\nurl = {text}')
    one, other = (strip_credentials(f"https://me:{secret}@{replace_surrogates(text)}") for secret in ("xyzzy", "plugh"))
    assert one == other  # whatever the address holds itself, nothing of the secret is in it
