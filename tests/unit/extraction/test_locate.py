import claude_lines
from desk import Desk, correction
from lerim.extraction.candidate import Candidate
from lerim.extraction.locate import MAX_NAMES, Locator, learn_symbols
from lerim.sessions.model import FileEdit, ToolCall
from scripted import ROOT, agent, candidates, edited, passes, you


def test_paths_become_repo_relative_on_every_system_and_what_lies_outside_is_nothing() -> None:
    here = Locator(["/home/kim/shop"])
    assert here("/home/kim/shop/src/a.py", "/home/kim/shop") == "src/a.py"
    assert here("a.py", "/home/kim/shop/src") == "src/a.py"
    assert here("/home/kim/shop/.worktrees/new/src/a.py", "/home/kim/shop/.worktrees/new") == "src/a.py"
    for path in ("/home/kim/shopping/a.py", "/etc/passwd", "~/x.py", "../x.py", "", "\x00", "a" * 500):
        assert here(path, "/home/kim/shop") == ""
    for beside in ("shop__worktrees", "shop.worktrees", "shop-worktree"):  # which bears the repository's name
        assert here(f"/home/kim/{beside}/new/src/a.py", f"/home/kim/{beside}/new") == "src/a.py"
    assert here("/home/kim/shopping__worktrees/new/src/a.py", "/home/kim/shop") == ""
    assert here("/home/kim/shop__worktrees/a.py", "/home/kim/shop") == ""
    windows = Locator(["C:\\Users\\Kim\\shop"])
    assert windows("c:\\users\\kim\\shop\\src\\a.py", "C:\\Users\\Kim\\shop") == "src/a.py"


def test_a_name_that_is_too_long_for_a_file_ends_no_session(desk: Desk) -> None:
    search = claude_lines.reply("r", claude_lines.call("g", "Grep", pattern="记录"))
    desk.session("one", *correction(desk), search, claude_lines.answer("g", "变更记录" * 40 + ".md"))
    report = desk.sync()
    assert (report.sessions.failed, len(report.candidates)) == (0, 1)


def test_the_first_cwd_stands_in_for_an_unknown_root() -> None:
    here = Locator([])
    here.record_cwd("/Users/ann/shop")
    here.record_cwd("/Users/ann/shop/web")
    assert here("/Users/ann/shop/web/a.ts", "/Users/ann/shop/web") == "web/a.ts"


def test_a_bare_name_means_the_file_the_session_touched() -> None:
    here = Locator(["/r"], exists=lambda path: path in {"src/shop/api.py", "Makefile"})
    here.record_file("/r/src/shop/api.py", "/r")
    assert here("api.py", "/r") == "src/shop/api.py"
    assert here("Makefile", "/r/src") == "Makefile"
    assert here("gone.py", "/r") == ""


def test_a_tool_call_means_the_file_in_its_own_folder_whatever_else_was_touched() -> None:
    here = Locator(["/r"], exists={"package.json", "web/package.json", "web/a.ts"}.__contains__)
    for path, cwd, touched in (
        ("web/package.json", "/r", "web/package.json"),
        ("package.json", "/r", "package.json"),
        ("package.json", "/r/web", "web/package.json"),
        ("a.ts", "/r", "web/a.ts"),
    ):
        here.record_file(path, cwd)
        if path == "a.ts":
            here.record_file("web/a.ts", cwd)
            here.record_file(path, cwd)
        assert here.files[-1] == touched


def showed(
    kind: str, output: str = "", *, path: str = "", edits: tuple[FileEdit, ...] = (), command: str = ""
) -> ToolCall:
    paths = (path,) if path else ()
    return ToolCall("1", "Tool", kind, "ok", paths=paths, command=command, output=output, edits=edits)  # type: ignore[arg-type]


def test_a_symbol_a_title_names_refers_to_the_file_in_which_the_session_saw_it_defined() -> None:
    shown = {
        "src/zone.go": showed(
            "read", "    12→func ParseDay(text string) Day {\n    13→\treturn", path=f"{ROOT}/src/zone.go"
        ),
        "src/day.py": showed("search", "src/day.py:3:def parse_day(text):\nsrc/use.py:9:    parse_day(x)"),
        "web/day.ts": showed("edit", edits=(FileEdit(f"{ROOT}/web/day.ts", "export class DayParser {\n}", ""),)),
        "web/api.ts": showed(
            "write", edits=(FileEdit(f"{ROOT}/web/api.ts", "", "class A {\n  private async sendDay(d: D) {"),)
        ),
    }
    names = ("ParseDay()", "parse_day", "DayParser", "A.sendDay")
    for (path, call), name in zip(shown.items(), names, strict=True):
        turns = (you("look"), agent("", call), you("hm"), agent("ok"))
        [found] = candidates(*turns, you(f"Always call `{name}` for dates, never parse dates by hand"), agent("ok"))
        assert found.references == (f"{path}#{name.strip('()').rpartition('.')[2]}",)


def test_what_a_person_says_refers_to_the_one_symbol_that_was_changed_because_of_it() -> None:
    source = "def total(items):\n    return sum(items)\n\n\ndef send(order):\n    post(order)\n"
    looked = (you("look"), agent("", showed("read", source, path=f"{ROOT}/src/shop.py")), you("hm"), agent("ok"))
    says = "Always use Decimal for prices, never float"

    def references(reply: str, *edits: tuple[str, str]) -> tuple[str, ...]:
        calls = [edited("src/shop.py", old, new) for old, new in edits]
        [found] = candidates(*looked, you(says), agent(reply, *calls))
        return found.references

    total = ("def total(items):\n    return sum(items)", "def total(items):\n    return sum(map(Decimal, items))")
    inside = ("post(order)", "post(order, cents=True)")
    assert references("Done.", total) == ("src/shop.py#total",)
    assert references("`send` takes cents now.", inside) == ("src/shop.py#send",)
    assert references("Done.", inside) == ("src/shop.py",), "nothing says in which function that is"
    assert references("`send` takes cents now.", total, inside) == ("src/shop.py",), "two were changed"
    before = ("def send(order):", "def check(order):\n    ...\n\n\ndef send(order):")
    assert references("Done.", before) == ("src/shop.py",), "it only stands below what is new"
    local = ("    const rows = 1\n    return rows", "    const rows = 2\n    return rows")
    assert references("Done.", local) == ("src/shop.py",), "it is known nowhere else"


def test_a_bare_file_name_is_found_where_a_search_or_a_command_named_it() -> None:
    for call in (
        showed("search", "tools/land.sh\ntools/lift.sh"),
        showed("shell", "ok", command="bash tools/land.sh --now"),
    ):
        turns = (you("look"), agent("", call), you("Never run `land.sh` by hand, the hook does so"), agent("ok"))
        [found] = candidates(*turns)
        assert found.references == ("tools/land.sh",)


def test_words_of_prose_uses_and_names_of_tests_define_nothing() -> None:
    names: dict[str, str] = {}
    learn_symbols(names, showed("read", "The class Order (see below) is used by func Other (x)", path="a.md"), str)
    learn_symbols(names, showed("read", "def load_all():\n    return other_call(1)\n", path="src/a.py"), str)
    learn_symbols(names, showed("read", "def load_all():\n", path="tests/test_a.py"), str)
    assert names == {"load_all": "src/a.py"}


def test_names_are_bounded_and_kept_from_sync_to_sync() -> None:
    names: dict[str, str] = {}
    learn_symbols(
        names, showed("read", "".join(f"def name_{at}():\n" for at in range(MAX_NAMES * 2)), path="a.py"), str
    )
    assert len(names) == MAX_NAMES
    assert f"name_{MAX_NAMES * 2 - 1}" in names
    looked = [you("look"), agent("", showed("read", "def parse_day(x):\n", path="src/d.py")), you("hm")]
    first, [found] = passes(looked, [you("Never call `parse_day` in a loop"), agent("ok")], settled=False)
    assert first == []
    assert isinstance(found, Candidate)
    assert found.references == ("src/d.py#parse_day",)
