from lerim.extraction.locate import Locator


def test_paths_become_repo_relative_on_every_system() -> None:
    here = Locator(["/home/kim/shop"])
    assert here("/home/kim/shop/src/a.py", "/home/kim/shop") == "src/a.py"
    assert here("a.py", "/home/kim/shop/src") == "src/a.py"
    assert here("/home/kim/shop/.worktrees/new/src/a.py", "/home/kim/shop/.worktrees/new") == "src/a.py"
    windows = Locator(["C:\\Users\\Kim\\shop"])
    assert windows("c:\\users\\kim\\shop\\src\\a.py", "C:\\Users\\Kim\\shop") == "src/a.py"


def test_what_lies_outside_is_nothing() -> None:
    here = Locator(["/home/kim/shop"])
    for path in ("/home/kim/shopping/a.py", "/etc/passwd", "~/x.py", "../x.py", "", "\x00", "a" * 500):
        assert here(path, "/home/kim/shop") == ""


def test_the_first_cwd_stands_in_for_an_unknown_root() -> None:
    here = Locator([])
    here.meet("/Users/ann/shop")
    here.meet("/Users/ann/shop/web")
    assert here("/Users/ann/shop/web/a.ts", "/Users/ann/shop/web") == "web/a.ts"


def test_a_bare_name_means_the_file_the_session_touched() -> None:
    here = Locator(["/r"], exists=lambda path: path in {"src/shop/api.py", "Makefile"})
    here.touch("/r/src/shop/api.py", "/r")
    assert here("api.py", "/r") == "src/shop/api.py"
    assert here("Makefile", "/r/src") == "Makefile"
    assert here("gone.py", "/r") == ""
