"""Settings are changed in the person's file without touching the rest of it."""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.config_file import change, with_values
from lerim.errors import SettingsError
from lerim.paths import Home

TABLE = "roles.extract"
FULL = """# mine
[search]
limit = 5 # few

[roles.extract]   # the reader
# who
provider = "none"   # nobody yet
model = 'x'
fallback_models = [
  "a", # first
  "b",
]
timeout = 9

[roles.lead]
provider = "zai"
"""


def test_a_value_is_changed_in_its_line_and_its_comment_stays() -> None:
    changed = with_values(FULL, TABLE, {"provider": "openai"})
    assert changed == FULL.replace('"none"', '"openai"')


def test_a_list_over_several_lines_is_replaced_as_a_whole() -> None:
    changed = with_values(FULL, TABLE, {"fallback_models": ()})
    assert changed == FULL.replace('[\n  "a", # first\n  "b",\n]', "[]")


def test_a_value_that_is_not_there_goes_into_its_table() -> None:
    changed = with_values(FULL, TABLE, {"base_url": "http://localhost:1/v1"})
    assert changed == FULL.replace("# the reader\n", '# the reader\nbase_url = "http://localhost:1/v1"\n')


@pytest.mark.parametrize(
    "text", ["", "[search]\nlimit = 5\n", "[search]\nlimit = 5", "[roles.lead]\nprovider = 'zai'\r\n"]
)
def test_a_table_that_is_not_there_goes_to_the_end(text: str) -> None:
    changed = with_values(text, TABLE, {"provider": "openai", "model": "m"})
    assert changed.startswith(text)
    assert tomllib.loads(changed)["roles"]["extract"] == {"provider": "openai", "model": "m"}
    assert ("\r\n" in changed) == ("\r\n" in text)


def test_what_only_looks_like_the_value_is_left_alone() -> None:
    text = 'a = """\n[roles.extract]\nprovider = "none"\n"""\n[roles.lead]\nprovider = "none"\n[roles.extract]\n'
    changed = with_values(f'{text}"provider" = "none"\n', TABLE, {"provider": "zai"})
    assert changed == f'{text}provider = "zai"\n'


@pytest.mark.parametrize(
    "text",
    [
        "roles = {extract = {provider = 'none'}}\n",
        "roles.extract.provider = 'none'\n",
        "roles = 5\n",
        "[roles]\nextract = 1",
    ],
)
def test_a_file_in_which_the_line_cannot_be_changed_is_left_as_it_is(text: str) -> None:
    with pytest.raises(ValueError, match=r"no table|cannot be changed"):
        with_values(text, TABLE, {"provider": "zai"})


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_can_be_a_value(text: str) -> None:
    assert tomllib.loads(with_values(FULL, TABLE, {"model": text}))["roles"]["extract"]["model"] == text


def home() -> Home:
    return Home.of(os.environ)


@pytest.mark.parametrize("text", [f"a = {'9' * 5000}\n", f"a = {'[' * 3000}\n"])
def test_a_file_that_cannot_be_read_is_left_as_it_is_and_told(text: str) -> None:
    home().root.mkdir()
    home().config.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError):
        change(home(), TABLE, {"provider": "zai"})
    assert home().config.read_text(encoding="utf-8") == text


def test_the_file_is_made_where_there_is_none_for_the_person_alone() -> None:
    change(home(), TABLE, {"provider": "zai"})
    assert home().config.read_text(encoding="utf-8") == '[roles.extract]\nprovider = "zai"\n'
    if sys.platform != "win32":
        assert stat.S_IMODE(home().config.stat().st_mode) == 0o600


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(FULL.replace("\n", "\r\n").encode())
    home().root.mkdir(parents=True)
    home().config.symlink_to(real)
    change(home(), TABLE, {"provider": "openai"})
    assert home().config.is_symlink()
    assert real.read_bytes() == FULL.replace('"none"', '"openai"').replace("\n", "\r\n").encode()


@pytest.mark.parametrize("content", [b"[roles.extract\n", b"\xff", b"roles = 1\n"])
def test_a_file_that_cannot_be_changed_is_told_and_kept(content: bytes) -> None:
    home().root.mkdir(parents=True)
    home().config.write_bytes(content)
    with pytest.raises(SettingsError) as error:
        change(home(), TABLE, {"provider": "zai"})
    assert str(home().config) in error.value.where
    assert error.value.todo
    assert home().config.read_bytes() == content
