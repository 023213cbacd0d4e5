"""A run that is killed, or that meets another one, leaves what an undisturbed one leaves."""

import os
import signal
from pathlib import Path

import pytest

import claude_lines as lines
from catalog_dump import dump, index_all
from claude_lines import answer, call, encoded, prompt, reply, text
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from long import LONG

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
WORDS = ("question", "answered", "make", "grown", "shared")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """One session of several transactions, some that share one, a fork, and one that ends in the middle of a line."""
    root = tmp_path_factory.mktemp("claude")
    folder = root / "projects" / "-home-ana-app"
    folder.mkdir(parents=True)
    long = [prompt(f"question {number} {'x' * 100_000}") for number in range(24)]
    for number in range(24):
        long += [reply(f"m{number}", call(f"l{number}", "Bash", command="make")), answer(f"l{number}", "done")]
        long += [prompt(f"<bash-input>ls {number}</bash-input>")] if number % 7 == 0 else []
    (folder / "long.jsonl").write_bytes(encoded(*long))
    for name in "abcdef":
        command = call(f"t{name}", "Bash", command=f"make {name}")
        turns = prompt(f"question of {name}", cwd=f"/home/ana/{name}"), reply(f"m{name}", text("answered"), command)
        (folder / f"{name}.jsonl").write_bytes(encoded(*turns, answer(f"t{name}", "done")))
    shared = [prompt("shared one"), prompt("shared two")]
    (folder / "fork1.jsonl").write_bytes(encoded(*shared))
    (folder / "fork2.jsonl").write_bytes(encoded(*shared, prompt("grown apart")))
    (folder / "half.jsonl").write_bytes(encoded(prompt("a whole question")) + encoded(prompt("half"))[:50])
    return root


def index(home: Home, root: Path, kill_at: int = 0) -> int:
    """Indexes the sessions; kills this process before the statement of this number. How many statements it took."""
    with Catalog.open(home) as catalog:
        count = 0

        def number(_: str) -> None:
            nonlocal count
            count += 1
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        catalog.db.set_trace_callback(number)
        index_all(catalog, root)
        return count


def in_child(home: Home, root: Path, kill_at: int = 0) -> int:
    """The id of a child that does the same."""
    child = os.fork()
    if not child:
        try:
            index(home, root, kill_at)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture(scope="module")
def undisturbed(root, tmp_path_factory):
    """What one run makes of the sessions, and how many statements it took."""
    home = Home(tmp_path_factory.mktemp("undisturbed"))
    statements = index(home, root)
    with Catalog.open(home) as catalog:
        return dump(catalog, *WORDS), statements


@pytest.mark.parametrize("part", range(1, 14, 1 if LONG else 12))
def test_a_run_killed_before_any_statement_is_carried_on_by_the_next(root, undisturbed, tmp_path, part):
    expected, statements = undisturbed
    assert ended(in_child(Home(tmp_path), root, statements * part // 14)) == -signal.SIGKILL
    with Catalog.open(Home(tmp_path)) as catalog:
        assert catalog.problems == []
        index_all(catalog, root)
        assert dump(catalog, *WORDS) == expected


def test_a_run_killed_in_the_middle_of_a_long_session_goes_on_there(root, undisturbed, tmp_path):
    _, statements = undisturbed
    assert ended(in_child(Home(tmp_path), root, statements - 30)) == -signal.SIGKILL
    long = root / "projects" / "-home-ana-app" / "long.jsonl"
    with Catalog.open(Home(tmp_path)) as catalog:
        assert catalog.load_stamps()[str(long)] == (None, None, None)
        resume = catalog.load_resume(str(long))
        assert resume is not None
        rest, reading = lines.reading(long, resume)
        assert not reading.restarted
        assert 0 < len(rest) < 45
