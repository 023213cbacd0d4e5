"""What every test stands on: no test sees the machine's own home, settings, agents' stores or network."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from isolation import isolate
from lerim import heap
from long import LONG

if TYPE_CHECKING:
    from desk import Desk
    from lerim.paths import Home
    from lerim.project import Project
    from lerim.review import ReviewPaths
    from organisation import Organisation

pytest.register_assert_rewrite("reading_laws")  # what failed in it is told as in a test

# Without compiled files each process that a test starts would compile all of Lerim again: half of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# In CI a test that passed must pass again: it tries the same examples on every run. New ones are found elsewhere.
# A search of all the tests' modules for garbage takes 0.2 s, and a sidecar of a few megabytes begins with one.
heap.release_heap = heap.settle_heap = lambda: None

hypothesis.settings.register_profile("change", max_examples=25, deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.register_profile("long", max_examples=300, deadline=None)
hypothesis.settings.load_profile("long" if LONG else "change")

REPOSITORY = Path(__file__).resolve().parents[1]
homes = itertools.count(1)
SESSIONS = Path(os.environ.get("LERIM_TEST_SESSIONS") or REPOSITORY.parent / "shared" / "transcripts")


def pytest_collection() -> None:
    """What is imported stays: searches for garbage in it would take a sixth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """No later search for garbage looks at what was imported."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of this test's own; returns it. Nothing is created inside it, so that tests see what Lerim creates."""
    # numbered here, since pytest lists the folders of all tests before to find a number
    home = tmp_path_factory.mktemp(f"home-{next(homes)}", numbered=False)
    isolate(monkeypatch, home)
    return home


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket that leaves the machine raises; loopback and unix sockets work."""

    def guarded(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: socket.socket, *arguments: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _loopback(arguments[-1]):
                raise AssertionError(f"a test tried to reach {arguments[-1]!r}; tests may only use loopback")
            return original(self, *arguments)

        return call

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))


def _loopback(address: Any) -> bool:
    host = str(address[0]) if isinstance(address, tuple) and address else ""
    try:
        return host == "localhost" or ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session")
def sessions_folder() -> Path:
    """The folder of real transcripts (`claude/projects`, …); read only. The test is skipped where it is absent."""
    if not (SESSIONS / "claude" / "projects").is_dir():
        pytest.skip(f"no real sessions at {SESSIONS}; set LERIM_TEST_SESSIONS to the folder that holds claude/projects")
    return SESSIONS


Git = Callable[..., str]


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def git() -> Git:
    """`git(folder, *arguments)` runs git there, as a fixed author and without the machine's settings; its output."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return _git


@pytest.fixture(scope="session")
def small_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that `repo` copies: making it takes git three processes."""
    root = tmp_path_factory.mktemp("small") / "repo"
    app = "def load(path):\n    return open(path).read()\n\n\nclass Store:\n    def save(self):\n        pass\n"
    files = {
        "README.md": "# App\n\nA small project.\n",
        "src/app.py": app,
        "tests/test_app.py": "def test_load():\n    assert True\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, tmp_path_factory.mktemp("home"))
        _git(root, "init", "-q")
        _git(root, "add", ".")
        _git(root, "commit", "-q", "-m", "Start")
    shutil.rmtree(root / ".git" / "hooks", ignore_errors=True)  # samples of git's own
    return root


@pytest.fixture
def repo(tmp_path: Path, git: Git, small_repository: Path) -> Path:
    """A small git repository with one commit: `README.md`, `src/app.py` (`load`, `Store`), `tests/test_app.py`."""
    return Path(shutil.copytree(small_repository, tmp_path / "repo")).resolve()


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine is in another time zone than the others here."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def home() -> Home:
    """The test's home, as the environment names it."""
    from lerim.paths import Home

    return Home.from_environ(os.environ)


@pytest.fixture
def project(repo: Path, home: Home) -> Project:
    """The repository `repo` as a project."""
    from lerim.project import locate_project

    found = locate_project(repo, home)
    assert found is not None
    return found


@pytest.fixture
def place(repo: Path) -> ReviewPaths:
    """The review of the repository `repo`."""
    from proposals import review_paths

    return review_paths(repo)


@pytest.fixture
def desk(repo: Path, isolated: Path) -> Desk:
    """The repository `repo` with the test's home and Claude Code's folder in it."""
    from desk import desk_in

    return desk_in(isolated, repo)


@pytest.fixture
def organisation(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Organisation:
    """An organisation with two teams, whose database is PostgreSQL; the test is skipped where there is none."""
    from organisation import make_organisation

    return make_organisation(desk, monkeypatch)
