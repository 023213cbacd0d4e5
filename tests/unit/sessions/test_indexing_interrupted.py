"""A run that is killed, or that meets another one, leaves what an undisturbed one leaves."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import claude_lines as lines
from catalog_dump import dump, index_all
from claude_lines import answer, call, encoded, prompt, reply, text
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from long import LONG

SCRIPT = Path(__file__).parents[2] / "catalog_dump.py"
WORDS = ("question", "answered", "make", "grown", "shared")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """One session of several transactions, some that share one, a fork, and one that ends in the middle of a line."""
    root = tmp_path_factory.mktemp("claude")
    folder = root / "projects" / "-home-ana-app"
    folder.mkdir(parents=True)
    long = [prompt(f"question {number}") for number in range(2000)]
    for number in range(2000):
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


def start(home: Home, root: Path, kill_at: int = 0) -> subprocess.Popen[str]:
    """A process that has the catalog open and waits for a line to begin."""
    command = [sys.executable, str(SCRIPT), str(home.root), str(root), str(kill_at)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


@pytest.fixture(scope="module")
def undisturbed(root, tmp_path_factory):
    """What one run makes of the sessions, and how many statements it took."""
    home = Home(tmp_path_factory.mktemp("undisturbed"))
    printed, _ = start(home, root).communicate("\n")
    with Catalog.open(home) as catalog:
        return dump(catalog, *WORDS), int(printed)


@pytest.mark.parametrize("part", range(1, 14, 1 if LONG else 4))
def test_a_run_killed_before_any_statement_is_carried_on_by_the_next(root, undisturbed, tmp_path, part):
    expected, statements = undisturbed
    process = start(Home(tmp_path), root, statements * part // 14)
    process.communicate("\n")
    assert process.returncode == -signal.SIGKILL
    with Catalog.open(Home(tmp_path)) as catalog:
        assert catalog.problems == []
        index_all(catalog, root)
        assert dump(catalog, *WORDS) == expected


def test_a_run_killed_in_the_middle_of_a_long_session_goes_on_there(root, undisturbed, tmp_path):
    _, statements = undisturbed
    process = start(Home(tmp_path), root, statements - 30)
    process.communicate("\n")
    long = root / "projects" / "-home-ana-app" / "long.jsonl"
    with Catalog.open(Home(tmp_path)) as catalog:
        assert catalog.load_stamps()[str(long)] == (None, None, None)
        resume = catalog.load_resume(long)
        assert resume is not None
        rest, reading = lines.reading(long, resume)
        assert not reading.restarted
        assert 0 < len(rest) < 2500


def test_a_run_killed_again_and_again_gets_there(root, undisturbed, tmp_path):
    expected, statements = undisturbed
    for part in range(1, 4):
        process = start(Home(tmp_path), root, statements * part // 5)
        process.communicate("\n")
    with Catalog.open(Home(tmp_path)) as catalog:
        index_all(catalog, root)
        assert dump(catalog, *WORDS) == expected


def test_two_runs_at_once_leave_what_one_leaves(root, undisturbed, tmp_path):
    expected, _ = undisturbed
    runs = [start(Home(tmp_path), root) for _ in range(2)]
    for process in runs:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in runs:
        process.communicate()
        assert process.returncode == 0
    with Catalog.open(Home(tmp_path)) as catalog:
        index_all(catalog, root)  # what one run left to the other is read by then, or now
        assert dump(catalog, *WORDS) == expected
