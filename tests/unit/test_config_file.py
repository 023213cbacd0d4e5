"""Settings are changed in the person's file without touching the rest of it."""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lerim.config import load
from lerim.config.edit import change_settings, set_toml_values
from lerim.config.schema import SettingValue
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


@pytest.mark.parametrize("text", ["roles = 5\n", "[roles]\nextract = 1", "[[roles]]\n"])
def test_a_value_that_has_the_name_of_the_table_is_not_overwritten(text: str) -> None:
    with pytest.raises(ValueError, match="is not a table"):
        set_toml_values(text, TABLE, {"provider": "zai"})


def test_a_line_that_would_not_be_kept_is_named() -> None:
    with pytest.raises(ValueError, match=r"line 3 would not be preserved"):
        set_toml_values("[search]\n[roles.lead]\n[[list]]\n[roles.extract]\n", TABLE, {"provider": "zai"})


COMMENTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).map("# {}".format)
PLAIN = st.sampled_from(
    ["1", "0x1F", "-2.50", "true", "1979-05-27 07:32:00Z", '"a # b"', "'c\\d'", "[1, 2 ]", "{x = 1}"]
)
LISTS = st.lists(COMMENTS, max_size=2).map(lambda said: "[\n" + "".join(f"  1, {one}\n" for one in said) + "]")
LONG = st.sampled_from(['"""\n[roles.extract]\n# a\n"""', "'''x\n# b\n'''"])
KEYS = ("provider", "model", "timeout", '"quoted key"', "dotted.key", "base_url")
TABLES = ("", "[search]", "[roles.extract]", "[ roles . lead ]", "[other]")


@st.composite
def files_with_comments(draw: st.DrawFn) -> str:
    """A settings file of tables in any order, with comments and blank lines anywhere."""
    lines: list[str] = []
    for heading in dict.fromkeys(["", *draw(st.permutations(TABLES[1:]))[: draw(st.integers(0, 6))]]):
        lines += draw(st.lists(COMMENTS | st.just(""), max_size=2))
        lines += [f"{heading} {draw(COMMENTS)}"] if heading else []
        for key in draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=4)):
            lines += draw(st.lists(COMMENTS | st.just(""), max_size=1))
            space = draw(st.sampled_from(["", " ", "   "]))
            value = draw(PLAIN if key in KEYS[:2] else PLAIN | LISTS | LONG)
            lines.append(f"{key}{space}={space}{value} {draw(COMMENTS | st.just(''))}")
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@settings(max_examples=25)
@given(
    files_with_comments(), st.dictionaries(st.sampled_from(KEYS[:2]), st.sampled_from(["zai", "", "a\n#"]), min_size=1)
)
def test_of_any_file_all_that_is_not_set_stays_in_its_order(text: str, values: dict[str, str]) -> None:
    changed = set_toml_values(text, TABLE, values)
    before, after = tomllib.loads(text), tomllib.loads(changed)
    inner = before.setdefault("roles", {}).setdefault("extract", {})
    replaced = [key for key in values if key in inner]
    inner.update(values)
    assert after == before
    lines = iter(changed.replace("\r\n", "\n").split("\n"))
    kept = [
        line for line in text.replace("\r\n", "\n").rstrip("\n").split("\n") if not line.startswith(tuple(replaced))
    ]
    assert all(line in lines for line in kept)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_can_be_a_value(text: str) -> None:
    assert tomllib.loads(set_toml_values(FULL, TABLE, {"model": text}))["roles"]["extract"]["model"] == text


def home() -> Home:
    return Home.from_environ(os.environ)


def test_the_file_is_made_where_there_is_none_for_the_person_alone() -> None:
    change_settings(home(), TABLE, {"provider": "zai"})
    assert home().config.read_text(encoding="utf-8") == '[roles.extract]\nprovider = "zai"\n'
    if sys.platform != "win32":
        assert stat.S_IMODE(home().config.stat().st_mode) == 0o600


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(FULL.replace("\n", "\r\n").encode())
    home().root.mkdir(parents=True)
    home().config.symlink_to(real)
    change_settings(home(), TABLE, {"provider": "openai"})
    assert home().config.is_symlink()
    assert real.read_bytes() == FULL.replace('"none"', '"openai"').replace("\n", "\r\n").encode()


def test_a_file_that_begins_with_a_byte_order_mark_is_read_and_keeps_it() -> None:
    home().root.mkdir(parents=True)
    home().config.write_text(FULL, encoding="utf-8-sig")
    change_settings(home(), TABLE, {"provider": "openai"})
    assert home().config.read_bytes().startswith(b"\xef\xbb\xbf# mine\n")
    loaded, problems = load.load_settings({}, home())
    assert (loaded.roles["extract"].provider, loaded.search_limit, problems) == ("openai", 5, [])


INLINE = "roles = {extract = {provider = 'none'}} # mine\n"


DOTTED = "roles.extract.provider = 'none' # mine\n"


@pytest.mark.parametrize(
    ("text", "values", "old", "new"),
    [
        (FULL, {"provider": "openai"}, '"none"', '"openai"'),
        (FULL, {"fallback_models": ()}, '[\n  "a", # first\n  "b",\n]', "[]"),
        (FULL, {"base_url": "http://localhost/v1"}, "= 9\n", '= 9\nbase_url = "http://localhost/v1"\n'),
        (INLINE, {"provider": "zai"}, "'none'", '"zai"'),
        (DOTTED, {"provider": "zai"}, "'none'", '"zai"'),
    ],
    ids=["in its line", "over several lines", "at the end", "inline", "dotted"],
)
def test_a_value_is_changed_in_its_place_and_all_else_stays(
    text: str, values: dict[str, SettingValue], old: str, new: str
) -> None:
    assert set_toml_values(text, TABLE, values) == text.replace(old, new)


@pytest.mark.parametrize(
    "content", [f"a = {'9' * 5000}\n".encode(), f"a = {'[' * 3000}\n".encode(), b"[roles.x\n", b"\xff", b"roles = 1\n"]
)
def test_a_file_that_cannot_be_changed_is_told_and_kept(content: bytes) -> None:
    home().root.mkdir(parents=True)
    home().config.write_bytes(content)
    with pytest.raises(SettingsError) as error:
        change_settings(home(), TABLE, {"provider": "zai"})
    assert str(home().config) in error.value.where
    assert error.value.todo
    assert home().config.read_bytes() == content
