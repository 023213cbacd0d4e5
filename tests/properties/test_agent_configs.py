"""Whatever a person's settings look like, ours are added without touching another byte, and taken out again."""

from __future__ import annotations

import json
from typing import Any

import tomlkit
from hypothesis import assume, given
from hypothesis import strategies as st

from lerim.agents.entries import Entry, JsonHooks, JsonMember, TomlTable
from lerim.agents.json_text import UneditableError, parse_json, parse_json_with_comments
from lerim.agents.toml_text import parse_toml

COMMAND = 'h="$HOME/.lerim/bin/hook"; [ -x "$h" ] && "$h" gemini 2>/dev/null; exit 0'
SERVER = JsonMember(("mcpServers", "lerim"), {"command": "lerim", "args": ["mcp"]})
HOOKS = JsonHooks(
    {
        "SessionStart": {"hooks": [{"type": "command", "command": COMMAND, "timeout": 5}]},
        "PostToolUse": {"matcher": "Read", "hooks": [{"type": "command", "command": COMMAND}]},
    },
    "/home/ana/.lerim/bin/hook",
)
TABLE = TomlTable(("mcp_servers", "lerim"), {"command": "lerim", "args": ["mcp"]})

names = st.one_of(
    st.sampled_from(["hooks", "mcpServers", "SessionStart", "lerim2", "ключ", 'a"b']), st.text(max_size=6)
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=12)
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)
own_hooks = st.dictionaries(
    st.sampled_from(["SessionStart", "PostToolUse", "Stop"]),
    st.lists(
        st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": names}), max_size=2)}), max_size=3
    ),
)
settings = st.fixed_dictionaries(
    {},
    optional={
        "mcpServers": st.dictionaries(names.filter(lambda name: name != "lerim"), values, max_size=3),
        "hooks": own_hooks,
        "theme": values,
        "Ω": values,
    },
)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """A settings file as editors and people leave them: any indentation, line ends, byte order mark, blank lines."""
    indents: list[int | str | None] = [None, 0, 1, 2, 4, "\t"]
    indent = draw(st.sampled_from(indents))
    separators = draw(st.sampled_from([None, (",", ":"), (" , ", " : ")]))
    text = json.dumps(draw(settings), indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    text = text.replace("{}", draw(st.sampled_from(["{}", "{ }", "{\n}"])))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    edge = st.sampled_from(["", "\n", "\r\n", "  \n\n"])
    return draw(st.sampled_from(["", "\ufeff"])) + draw(edge) + text + draw(edge)


def install(entry: Entry, text: str | None) -> str:
    try:
        return entry.add_to(text)
    except UneditableError:
        assume(False)
        raise


@given(text=json_texts(), entry=st.sampled_from([SERVER, HOOKS]))
def test_a_json_file_keeps_its_values_and_gets_ours_and_nothing_happens_twice(text: str, entry: Entry) -> None:
    after = install(entry, text)
    assert entry.find_in(after) == "installed"
    assert entry.add_to(after) == after
    assert without_ours(parse_json(after)) == without_ours(parse_json(text))


def without_ours(value: Any) -> Any:
    """The values of the person: without our entries and what became empty with them."""
    value = json.loads(json.dumps(value))
    value.get("mcpServers", {}).pop("lerim", None)
    hooks = {
        event: [group for group in groups if ".lerim/bin/hook" not in json.dumps(group)]
        for event, groups in value.get("hooks", {}).items()
    }
    value["hooks"] = {event: groups for event, groups in hooks.items() if groups}
    return {key: inner for key, inner in value.items() if key not in ("hooks", "mcpServers") or inner}


@given(text=json_texts(), entry=st.sampled_from([SERVER, HOOKS]), more=st.sampled_from(["", "\n", "   "]))
def test_our_entries_leave_a_json_file_as_it_was_but_for_what_the_person_changed_since(
    text: str, entry: Entry, more: str
) -> None:
    after = install(entry, text) + more
    assert entry.remove_from(after, text) == text + more


@given(text=json_texts())
def test_what_stands_before_and_behind_an_insertion_stays_to_the_byte(text: str) -> None:
    after = install(SERVER, text)
    start = next((at for at, pair in enumerate(zip(text, after, strict=False)) if pair[0] != pair[1]), len(text))
    rest = text[start:].lstrip(" \t\r\n")
    assert after.endswith(rest)


@given(text=json_texts(), comment=st.sampled_from(["// note\n", "/* note */"]))
def test_a_file_with_comments_is_left_alone_unless_it_has_ours_already(text: str, comment: str) -> None:
    commented = comment + text.removeprefix("\ufeff")
    try:
        SERVER.add_to(commented)
    except UneditableError as error:
        assert "comments" in str(error)
    else:
        raise AssertionError("a file with comments was rewritten")
    written = comment + install(SERVER, text).removeprefix("\ufeff")
    assert parse_json_with_comments(written) is not None
    assert SERVER.add_to(written) == written


@given(text=st.text(alphabet='{}[]",:ab \n\\/*0', max_size=40))
def test_any_text_is_edited_soundly_or_refused(text: str) -> None:
    for entry in (SERVER, HOOKS):
        try:
            after = entry.add_to(text)
        except UneditableError:
            continue
        assert entry.find_in(after) == "installed"
        restored = entry.remove_from(after, text)
        assert restored == text or not text.strip()


toml_values = st.one_of(
    st.booleans(), st.integers(-(2**60), 2**60), st.text(max_size=12), st.lists(st.text(max_size=5), max_size=3)
)


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """A `config.toml` with comments, tables and inline tables, in any state of its last line."""
    document = tomlkit.document()
    for name in draw(st.lists(st.sampled_from(["model", "a", "b"]), unique=True)):
        document.add(name, tomlkit.item(draw(toml_values)))
    if draw(st.booleans()):
        document.add(tomlkit.comment("[mcp_servers.lerim] is not here"))
    for name in draw(st.lists(st.sampled_from(["history", "tui", "mcp_servers"]), unique=True)):
        table = tomlkit.table()
        inner = tomlkit.table()
        inner.add("command", tomlkit.item(draw(toml_values)))
        if draw(st.booleans()):
            inner.add(tomlkit.comment("mine"))
        table.add("other", inner)
        document.add(name, table)
    text = tomlkit.dumps(document).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + (text.rstrip("\r\n") if draw(st.booleans()) else text)


@given(text=toml_texts())
def test_a_toml_file_gets_our_table_last_and_loses_it_again(text: str) -> None:
    after = install(TABLE, text)
    assert after.startswith(text)
    assert TABLE.find_in(after) == "installed"
    assert TABLE.add_to(after) == after
    assert TABLE.remove_from(after, text) == text
    changed = f"{after}\n# mine\n[later]\nx = 1\n"
    without = TABLE.remove_from(changed, text)
    assert without is not None
    assert parse_toml(without) == {**parse_toml(text), "later": {"x": 1}}
    assert without.endswith("\n# mine\n[later]\nx = 1\n")


@given(text=st.text(alphabet='[]".=ab \n#mcp_serv_lerim', max_size=60))
def test_any_toml_text_is_edited_soundly_or_refused(text: str) -> None:
    try:
        after = TABLE.add_to(text)
    except UneditableError:
        return
    assert TABLE.find_in(after) == "installed"
    assert TABLE.remove_from(after, text) == text
