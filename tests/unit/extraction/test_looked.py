"""The files a shell command shows, for agents that read with the shell."""

import pytest

from lerim.extraction.facts.commands import find_shown_files
from lerim.extraction.transcript import find_instruction_files, show_turn
from scripted import agent, numbered, outcome, ran, you


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("sed -n '1,200p' src/app.py", ("src/app.py",)),
        ("cd web && head -n 40 package.json | cat", ("package.json",)),
        ("cat a.md && tail -5 'my notes/b.md'; wc -l c.md", ("a.md", "my notes/b.md")),
        ("Get-Content .\\docs\\x.md", (".\\docs\\x.md",)),
        ("cat > made.py <<'EOF'\nx = 1\nEOF", ()),
        ("sed -i s/a/b/ src/app.py", ()),
    ],
)
def test_what_is_only_shown_is_known_by_its_path(command: str, wanted: tuple[str, ...]) -> None:
    assert find_shown_files(command) == wanted


def test_a_file_of_rules_read_with_the_shell_is_not_learned_from() -> None:
    text, more = "Always run `make check` before a commit.", "Read this line of the rules as well.\n" * 80
    [reading] = numbered([agent("", ran("cat .cursor/rules/build.mdc", f"{more}{text}\n{more}"))])
    assert find_instruction_files(reading.tool_calls[0]) == (".cursor/rules/build.mdc",)
    assert text not in (seen.body() if (seen := show_turn(reading)) else "")
    items = outcome(you("look around"), reading, you(text), agent("Understood."), you("go"))
    assert [getattr(item, "reason", "") for item in items] == ["already-known"]


def test_a_name_defined_in_a_file_read_with_the_shell_is_found_there() -> None:
    call = ran("sed -n '1,80p' src/wire.py", "class WireClient:\n    pass\n")
    [found] = outcome(you("look"), agent("", call), you("Always use WireClient for requests."), agent("ok"), you("go"))
    assert getattr(found, "references", ()) == ("src/wire.py#WireClient",)
