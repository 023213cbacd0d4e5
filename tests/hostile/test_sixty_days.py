"""Sixty days of a project (thirty on each change): the review is automatic, and a person takes what is suggested
for the rest.

The sessions of the shared set's largest project are held in date order, again and again with other dates, ids and
numbers; beside them made ones whose decisions change, and commands that fail until something is set.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from desk import Desk
from lerim.memory.freshness.drift import DriftChecker
from lerim.memory.uses import Uses
from lerim.paths import Home
from lerim.project.git import open_git
from lerim.review import queue
from long import at_most
from sixty_days import Life, largest

Git = Callable[..., str]
DAYS = at_most(60, few=30)
"""All that takes days below takes its share of them."""
BOUND = DAYS // 3
SETTINGS = f"""
[review]
mode = "auto"
quotes = "shared"
[maintain]
decay_days = {DAYS // 2}
grace_days = {DAYS // 12}
most_learnings = {BOUND}
theme_days = {DAYS // 6}
"""
CHOICES = {
    "src/config.py": ("os.path", "pathlib", "anyio", "upath", "fsspec", "smartopen"),
    "src/rates.py": ("urllib", "requests", "httpx", "aiohttp", "niquests", "pycurl"),
    "src/store.py": ("shelve", "sqlite3", "duckdb", "lmdb", "leveldb", "rocksdb"),
}
"""What is used in each file, by turns: every so many days something takes the place of the one before."""
EVERY = DAYS // 5
TEXT = "".join(f"def part_{number}(value):\n    return value * {number} + {number}\n\n\n" for number in range(12))
FILES = {
    **{file: f"# {file}\n{TEXT}" for file in CHOICES},
    "src/renamed.py": f"# renamed\n{TEXT}",
    "src/moved.py": f"# moved\n{TEXT.replace('part', 'piece')}",
    "src/deleted.py": f"# deleted\n{TEXT.replace('part', 'bit')}",
    "src/rewritten.py": f"# rewritten\n{TEXT.replace('part', 'slice')}",
    "src/theirs.py": f"# theirs\n{TEXT.replace('part', 'share')}",
}
PARTS = ("alarm", "bridge", "cellar", "dome", "elevator", "fence", "garage", "hall", "island", "jetty")
HISTORY = {
    DAYS * 4 // 12: ("src/renamed.py", "src/named_anew.py"),
    DAYS * 5 // 12: ("src/moved.py", "lib/deep/moved.py"),
    DAYS * 6 // 12: ("src/deleted.py", ""),
    DAYS * 7 // 12: ("src/rewritten.py", "src/rewritten.py"),
}
"""On which day of the git history the test makes what becomes of a file: its new place, "" where it is deleted."""


@pytest.fixture
def life(repo: Path, git: Git, isolated: Path) -> Life:
    for name, text in FILES.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Files")
    home = Home(isolated / ".lerim")
    home.root.mkdir(mode=0o700)
    (home.root / "config.toml").write_text(SETTINGS, encoding="utf-8")
    return Life(Desk(repo, home, isolated / ".claude" / "projects"))


def test_the_store_stays_small_current_and_the_persons_own(life: Life, git: Git, sessions_folder: Path) -> None:
    real = largest(sessions_folder)
    desk, theirs, sizes = life.desk, dict[Path, bytes](), list[int]()
    used = ""
    for day in range(DAYS):
        life.day = day
        if day % 4 == 0:
            life.work(real[day // 4 % len(real)], day // 4 // len(real))
        for file in spoken_of(day):
            life.choose(file, *chosen(file, day))
        life.learn(f"Always put tests of src/{PARTS[day % 10]}/{PARTS[day // 10]}.py into tests/{PARTS[day % 10]}.")
        if day == 1:
            for file in (*HISTORY_FILES, "src/theirs.py"):
                life.choose(file, "pathlib", "os.path")
        if day in HISTORY:
            change(desk.repo, git, *HISTORY[day])
        life.evening()
        takes_what_is_suggested(desk, set(theirs))
        if day == 5:
            theirs = edited(life)
            used = next(one.record.id for one in life.active() if one.record.title.startswith("Always put tests"))
        if day > DAYS * 2 // 3 and day % 3 == 0:
            life.choose("src/theirs.py", "anyio", "pathlib")
        if used:
            Uses(desk.place.private).record_use([used], "opened", life.now)
        still_current(life)
        assert {path: path.read_bytes() for path in theirs} == theirs
        sizes.append(len(life.active()))
    assert all(report.state == "done" for report in life.reports)
    stays_bounded(life, sizes)
    what_is_stale_is_found(life)
    assert used in {one.record.id for one in life.active()}


def takes_what_is_suggested(desk: Desk, theirs: set[Path]) -> None:
    """The person accepts what waits, with the suggested answers, but what is flagged as doubtful, and what would change
    a memory they edited."""
    for proposal in queue.list_pending(desk.place)[0]:
        if set(proposal.flags) <= {"differs"} and not theirs & {one.path for one in proposal.target_memories}:
            assert queue.accept_candidate(desk.place, proposal.id).ok


HISTORY_FILES = [file for file, _ in HISTORY.values()]


def change(repo: Path, git: Git, file: str, to: str) -> None:
    """One commit of the history: a file moved, deleted, or other words in it."""
    if to == file:
        (repo / file).write_text("\n".join(f"other_{number} = {number}" for number in range(60)), encoding="utf-8")
    elif to:
        (repo / to).parent.mkdir(parents=True, exist_ok=True)
        git(repo, "mv", file, to)
    else:
        git(repo, "rm", "-q", file)
    git(repo, "add", "-A", "src")
    git(repo, "commit", "-q", "-m", f"Change {file}")


def edited(life: Life) -> dict[Path, bytes]:
    """A person adds their own words to a decision and to a learning; the files as they leave them."""
    decision = next(one for one in life.active() if one.record.references == ("src/theirs.py",))
    learning = next(one for one in life.active() if one.record.title.startswith("Always put tests"))
    for one in (decision, learning):
        with one.path.open("a", encoding="utf-8") as file:
            file.write("\nMind what Ada said of this.\n")
    return {one.path: one.path.read_bytes() for one in (decision, learning)}


def spoken_of(day: int) -> list[str]:
    """The files a person speaks of on this day: all when the choices change and on the day after, else one by turns."""
    return [file for at, file in enumerate(CHOICES) if day % EVERY < 2 or day % len(CHOICES) == at]


def chosen(file: str, day: int) -> tuple[str, str]:
    """What is used in a file from some day on, and what it took the place of."""
    choices = CHOICES[file]
    now = min(day // EVERY + 1, len(choices) - 1)
    return choices[now], choices[now - 1]


def still_current(life: Life) -> None:
    """Of each file only the newest choice is served: no list, and of those spoken of no search or file, shows an older
    one."""
    listed = {one.record.title for one in life.active()}
    served = life.served({file: f"{' '.join(CHOICES[file])} {file}" for file in spoken_of(life.day)})
    for file, titles in {**dict.fromkeys(CHOICES, listed), **served}.items():
        now, before = chosen(file, life.day)
        shown = {title for title in titles if title.endswith(f"in {file}")}
        assert shown == {f"Use {now} instead of {before} in {file}"}, f"day {life.day}"


def stays_bounded(life: Life, sizes: list[int]) -> None:
    """The learnings within their bound, and sessions that repeat themselves let nothing grow."""
    learnings = [one for one in life.active() if one.record.primitive == "learning"]
    # the one a person edited goes only when they say so; what they accepted last goes with the next maintaining
    assert len(learnings) <= BOUND + 1 + 5
    assert max(sizes[DAYS * 2 // 3 :]) <= max(sizes[DAYS // 3 : DAYS * 2 // 3]) + 2
    files = list((life.desk.repo / ".lerim" / "memory").rglob("*.md"))
    told = [one for one in files if "summaries" not in one.parts]
    assert len(told) <= DAYS + len(CHOICES) * (DAYS // EVERY) + 60
    assert sum(one.stat().st_size for one in told) < 2_000 * len(told)
    runs = life.desk.repo / ".lerim" / "workspace"
    assert len(list(runs.iterdir())) <= 50


def what_is_stale_is_found(life: Life) -> None:
    """Each rename, deletion and change of the history is seen, and what was moved is referred to where it is."""
    place = life.desk.place
    freshness = DriftChecker(place.project, place.home, open_git(place.project.root, {}))
    drifts = freshness.summary().drift_by_memory
    by_file = {
        reference: one.record.id
        for one in life.active()
        for reference in one.record.references
        if one.record.title.startswith("Use pathlib")
    }
    assert {"src/named_anew.py", "lib/deep/moved.py", "src/deleted.py", "src/rewritten.py"} <= set(by_file)
    assert not {"src/renamed.py", "src/moved.py"} & set(by_file)
    assert drifts[by_file["src/deleted.py"]].state == "gone"
    assert drifts[by_file["src/rewritten.py"]].state == "drifted"
    assert by_file["src/named_anew.py"] not in drifts
    assert by_file["lib/deep/moved.py"] not in drifts
