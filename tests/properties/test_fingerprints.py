"""What a fingerprint holds on to: reformatting, comments and renaming itself change nothing, any token does."""

from __future__ import annotations

import ast
import io
import re
import tokenize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lerim.memory.freshness.fingerprint import MIN_SHARE_KEPT, SymbolFingerprint, kept_share, outline_file, sketch_text
from long import at_most

PYTHON = '''def work(path, *names, limit=10, **rest):
    """What it does."""
    total = 0
    for name in names:
        if name not in rest and len(name) > limit:
            total += json.load(open(path, "rb"))[name] * 2
        else:
            raise ValueError(f"no {name!r}")
    return [total, {"a": -1, 'b': (1, 2)}, lambda x: x + 1]
'''
SCRIPT = """export async function work(path, limit = 10) {
  const found = await get(path, { "deep": true, sort: [1, 2] });
  for (const one of found.items) {
    if (one.size > limit && one.name !== "x") { keep(one.name + `_${limit}`); }
  }
  return { found, count: found.length * 2 };
}
"""
GO = """func work(path string, limit int) ([]string, error) {
	found := []string{"a", "b"}
	for at, one := range found {
		if len(one) > limit || at == 7 {
			return nil, fmt.Errorf("no %s", one)
		}
	}
	return append(found, path), nil
}
"""
TEXTS = {"a.py": PYTHON, "a.ts": SCRIPT, "a.go": GO}
NAMES = st.from_regex(r"[a-z][a-z0-9_]{2,12}", fullmatch=True)
COMMENTS = st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="`*/\\\"'"), max_size=20)


def fingerprint(path: str, text: str, name: str = "work") -> SymbolFingerprint:
    found = outline_file(path, text)
    assert found is not None
    (only,) = found.fingerprints(name)
    return only


def marks(path: str) -> str:
    return "#" if path.endswith(".py") else "//"


@pytest.mark.parametrize("path", TEXTS)
@given(data=st.data())
def test_comments_and_empty_lines_change_nothing(path: str, data: st.DataObject) -> None:
    lines = []
    for line in TEXTS[path].splitlines():
        lines += [""] * data.draw(st.integers(0, 2))
        if data.draw(st.booleans()):
            lines.append(f"    {marks(path)} {data.draw(COMMENTS)}")
        lines.append(line + (f"  {marks(path)} {data.draw(COMMENTS)}" if data.draw(st.booleans()) else ""))
    assert fingerprint(path, "\n".join(lines)) == fingerprint(path, TEXTS[path])


@given(st.integers(1, 8), st.sampled_from("'\""), st.booleans())
def test_a_formatter_of_python_changes_nothing(indent: int, quote: str, inside: bool) -> None:
    text = ast.unparse(ast.parse(PYTHON))  # other breaks, brackets and quotes
    text = text.replace("'b'", f"{quote}b{quote}").replace("    ", " " * indent)
    if inside:
        text = "class Of:\n" + "".join(f"    {line}\n" for line in text.splitlines())
    assert fingerprint("a.py", text) == fingerprint("a.py", PYTHON)


@pytest.mark.parametrize("path", ["a.ts", "a.go"])
@given(data=st.data())
def test_other_white_space_changes_nothing(path: str, data: st.DataObject) -> None:
    text = TEXTS[path]
    body = text.index("{\n") + 1
    indent = data.draw(st.sampled_from(["\t", "  ", "      "]))
    changed = [indent * (len(line) - len(line.lstrip())) + line.strip() for line in text[body:-2].splitlines()]
    gap = data.draw(st.sampled_from([" ", "  "]))
    said = text[:body] + "\n".join(changed).replace(" = ", f"{gap}={gap}").replace(" > ", f"{gap}>{gap}") + "\n}\n"
    assert fingerprint(path, said) == fingerprint(path, text)


def test_line_ends_of_windows_within_a_literal_change_nothing() -> None:
    text = "export function work(id) {\n  return `select *\n  where id = ${id}`;\n}\n"
    assert fingerprint("a.ts", text.replace("\n", "\r\n")) == fingerprint("a.ts", text)


def test_a_formatter_of_scripts_changes_nothing() -> None:
    said = SCRIPT.replace('"deep"', "'deep'").replace("[1, 2] }", "[1, 2,],\n  }")
    said = said.replace(") { keep", ")\n    {\n keep")
    assert fingerprint("a.ts", said) == fingerprint("a.ts", SCRIPT)


@pytest.mark.parametrize("path", TEXTS)
@given(name=NAMES)
def test_a_new_name_changes_nothing_and_is_found(path: str, name: str) -> None:
    assume(name not in TEXTS[path] and not name.startswith("work"))
    before = fingerprint(path, TEXTS[path])
    text = TEXTS[path].replace("work", name)
    try:
        found = outline_file(path, text)
        assert found is not None
        now = found.fingerprints(name)
    except AssertionError:
        assume(False)
        raise
    assume(len(now) == 1)  # a keyword of the language is no name
    assert now == [before]
    assert found.find_renamed("work", before, ()) == name
    assert found.find_renamed("work", before, (name,)) == ""


def replaced(text: str, number: int) -> tuple[str, str, str]:
    """The text with one of its tokens changed for another of its kind: (text, old, new)."""
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING) and token.string != "work"
    ]
    token = tokens[number % len(tokens)]
    lines = text.splitlines(keepends=True)
    line, (row, start), end = lines[token.start[0] - 1], token.start, token.end[1]
    new = {tokenize.NUMBER: "999"}.get(token.type) or (f"{token.string}q" if token.type == tokenize.NAME else '"other"')
    if token.end[0] == row:
        lines[row - 1] = line[:start] + new + line[end:]
    return "".join(lines), token.string, new


@given(st.integers(0, 200))
def test_any_changed_token_of_python_shows(number: int) -> None:
    text, old, new = replaced(PYTHON, number)
    assume(old != new)
    found = outline_file("a.py", text, "a")
    assume(found is not None)  # a changed keyword is no Python
    assert found is not None
    assert found.fingerprints("work") != [fingerprint("a.py", PYTHON)]


@pytest.mark.parametrize("path", ["a.ts", "a.go"])
@given(number=st.integers(0, 500), sign=st.sampled_from(["other9", "77", "+", "?"]))
def test_any_changed_token_elsewhere_shows(path: str, number: int, sign: str) -> None:
    text = TEXTS[path]
    tokens = [match for match in re.finditer(r"\w+|[^\s\w]", text) if match.start() > text.index("work") + 4]
    token = tokens[number % len(tokens)]
    assume(token.group() not in ("{", "}", "(", ")", "[", "]", ",", '"', "`", sign))
    said = text[: token.start()] + sign + text[token.end() :]
    found = outline_file(path, said)
    assert found is not None
    assert found.fingerprints("work") != [fingerprint(path, text)]


@given(st.lists(st.integers(0, 10_000), min_size=60, max_size=300, unique=True), st.integers(0, 100))
def test_a_file_is_what_it_was_while_more_than_half_of_its_lines_are_there(numbers: list[int], percent: int) -> None:
    text = "".join(f"Line {number} says so.\n" for number in numbers)
    left = numbers[: len(numbers) * percent // 100]
    said = "".join(f"  Line  {number} says so.\r\n" for number in left) + "".join(f"New {at}\n" for at in range(500))
    share = kept_share(sketch_text(text), said)
    assert share == 1 if percent == 100 else abs(share - percent / 100) < 0.35
    if percent >= 85:
        assert share >= MIN_SHARE_KEPT
    if percent <= 15:
        assert share < MIN_SHARE_KEPT


@given(st.text(max_size=400))
def test_any_text_has_an_outline(text: str) -> None:
    for path in ("a.py", "a.ts", "a.rs", "a.rb", "a.sql", "Makefile", "a.php", "a"):
        found = outline_file(path, text)
        assert found is not None
        found.fingerprints("x")


HOSTILE = ("/*", '"\\', "a(", "class a {", "`", "x = ", "'''", "def a:\n ")


@pytest.mark.parametrize("text", [part * at_most(30_000, few=300) + "`" for part in HOSTILE])
def test_hostile_text_is_looked_at_once(text: str) -> None:
    for path in ("a.ts", "a.rs", "a.rb"):
        found = outline_file(path, text)
        assert found is not None
        found.fingerprints("a")
