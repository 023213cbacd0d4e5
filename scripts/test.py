"""Run every check, or only the named ones (`lint`, `python`, `extension`, `journeys`); close with `N passed, N failed`.

The editor for the journeys is fetched and compiled in the background while lint and the Python tests run. A check that
is no test (lint, a build) adds one to `failed` when it fails and nothing when it passes.
"""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
REPORTS = REPOSITORY / "build" / "reports"
LOCKED = REPOSITORY / "build" / "locked"
PYTHON = sys.executable
LIMIT_S = {"lint": 900, "install": 900, "python": 3600, "extension": 900, "journeys": 3600}
"""How long a part may take. It only ends what hangs: a machine four times slower than two quiet cores stays below."""
LINT = (
    (PYTHON, "-m", "ruff", "check", "."),
    (PYTHON, "-m", "ruff", "format", "--check", "."),
    (PYTHON, "-m", "mypy"),
    (str(Path(PYTHON).with_name("lint-imports")), "--no-cache"),
    (PYTHON, "scripts/cli_docs.py", "--check"),
    (PYTHON, "scripts/protocol.py", "--check"),
    ("npm", "run", "--silent", "lint"),
)


@dataclass
class Tally:
    """What the checks came to; `broken` names those that failed in words a person can act on."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    broken: list[str] = field(default_factory=list)

    def fail(self, what: str) -> None:
        """Count one failure that no test report carries."""
        self.failed += 1
        self.broken.append(what)


def main(wanted: list[str]) -> int:
    """Run the wanted checks one after another; 1 when anything failed."""
    checks: dict[str, Callable[[Tally], None]] = {
        "lint": lint,
        "python": python_tests,
        "extension": extension_tests,
        "journeys": journeys,
    }
    unknown = set(wanted) - set(checks)
    if unknown:
        raise SystemExit(f"Unknown check {', '.join(sorted(unknown))}; there are {', '.join(checks)}.")
    REPORTS.mkdir(parents=True, exist_ok=True)
    if not sys.stdout.isatty():
        os.environ["NO_COLOR"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process would compile all it imports again
    tally = Tally()
    chosen = wanted or list(checks)
    if "journeys" in chosen:
        editor.start()
    for name in chosen:
        checks[name](tally)
    if wanted == ["lint"]:
        return 1 if tally.failed else 0
    for line in tally.broken:
        print(f"FAILED: {line}")
    skipped = f", {tally.skipped} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {tally.failed} failed{skipped}", flush=True)
    return 1 if tally.failed or not tally.passed else 0


def lint(tally: Tally) -> None:
    """Style and types of both languages, and whether docs/CLI.md is what the program says."""
    with section("lint"):
        for command in LINT:
            if run(command, limit_s=LIMIT_S["lint"]):
                tally.fail(" ".join(command).replace(PYTHON, "python"))


def python_tests(tally: Tally) -> None:
    """Unit, property and protocol tests, against real files, databases and processes."""
    with section("python tests"):
        environment = (PYTHON, "scripts/environment.py", str(LOCKED), "requirements.lock")
        if run(environment, limit_s=LIMIT_S["install"]):
            tally.fail("installing requirements.lock by itself")
        report = fresh("python.xml")
        # each worker takes whole stretches, which share what a module makes once, and then from the other's end
        command = (PYTHON, "-m", "pytest", "-n", "2", "--dist", "worksteal", f"--junitxml={report}")
        count(tally, "python tests", report, run(command, limit_s=LIMIT_S["python"]))


def extension_tests(tally: Tally) -> None:
    """The extension's own tests."""
    with section("extension tests"):
        report = fresh("extension.xml")
        options = ("--reporter=default", "--reporter=junit", f"--outputFile.junit={report}")
        command = ("npm", "run", "--silent", "test", "--", *options)
        count(tally, "extension tests", report, run(command, limit_s=LIMIT_S["extension"]))


def journeys(tally: Tally) -> None:
    """A person's way through the real editor, with the extension as it ships."""
    with section("journeys"):
        if run(("make", "--no-print-directory", "lerim.vsix"), limit_s=LIMIT_S["install"]):
            tally.fail("building the .vsix")
            return
        installed = editor.wait()
        if installed is None:
            tally.fail(f"installing the editor for the journeys; see {editor.log.relative_to(REPOSITORY)}")
            return
        if run((PYTHON, "scripts/environment.py", str(LOCKED), "requirements.lock"), limit_s=LIMIT_S["install"]):
            tally.fail("installing requirements.lock for the journeys")
            return
        name = uuid.uuid4().hex
        environ = os.environ | installed | {"LERIM_JOURNEY_ENV": str(LOCKED), "LERIM_JOURNEY": name}
        report = fresh("journeys.xml")
        command = (
            *("node", "--test", "--test-concurrency=1"),
            *("--test-reporter=spec", "--test-reporter-destination=stdout"),
            *("--test-reporter=junit", f"--test-reporter-destination={report}"),
            *sorted(str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "tests/journeys").glob("*.test.mjs")),
        )
        code = run(command, limit_s=LIMIT_S["journeys"], environ=environ)
        sweep(f"LERIM_JOURNEY={name}")
        count(tally, "journeys", report, code)


class Editor:
    """The editors and their browser, being made ready in the background."""

    def __init__(self) -> None:
        self.log = REPORTS / "editor.log"
        self._found: list[str] = []
        self._thread = threading.Thread(target=self._install, daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def wait(self) -> dict[str, str] | None:
        """The variables that tell the journeys where all are; None when something could not be installed."""
        if self._thread.is_alive():
            print("waiting for the editor to be built …", flush=True)
        self._thread.join()
        names = ("CHROMIUM", "LERIM_EDITOR", "LERIM_EDITOR_OLDEST")
        return dict(zip(names, self._found, strict=True)) if len(self._found) == len(names) else None

    def _install(self) -> None:
        with self.log.open("w", encoding="utf-8") as log:
            for script in ("system.py", "editor.py"):
                command = [PYTHON, f"scripts/{script}"]
                done = subprocess.run(
                    command,
                    check=False,
                    cwd=REPOSITORY,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
                if done.returncode:
                    return
                self._found += done.stdout.split("\n")[:-1]


editor = Editor()


def run(command: tuple[str, ...], limit_s: float, environ: dict[str, str] | None = None) -> int:
    """Run one command, its output shown as it comes; its exit code. Past the limit it and its children are ended."""
    process = subprocess.Popen(
        command, cwd=REPOSITORY, env=environ, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        print(f"stopped after {limit_s:.0f} s: {' '.join(command)}", flush=True)
        return 124
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a command's process group: asked first, so that it can tidy up, then killed."""
    for number, patience_s in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience_s)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def sweep(mark: str) -> None:
    """Kill what a stopped journey left behind: the editor runs in a session of its own. Needs Linux's /proc."""
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in environ.read_bytes():
                os.kill(int(environ.parent.name), signal.SIGKILL)
        except OSError:
            continue  # it ended meanwhile, or is not ours


def count(tally: Tally, what: str, report: Path, code: int) -> None:
    """Add what a JUnit report says; a run that failed without one saying so counts as one failure."""
    failed = 0
    for case in cases(report):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            tally.broken.append(f"{what}: {case.get('classname', '')} {case.get('name', '')}".replace("  ", " "))
        elif case.find("skipped") is not None:
            tally.skipped += 1
        else:
            tally.passed += 1
    tally.failed += failed
    if code and not failed:
        tally.fail(f"{what}: ended with exit code {code}")


def cases(report: Path) -> Iterator[ET.Element]:
    """The test cases of a report; none when it is missing or not whole."""
    try:
        yield from ET.parse(report).iter("testcase")
    except (OSError, ET.ParseError):
        return


def fresh(name: str) -> Path:
    """Where a report will be written; an older one is gone."""
    path = REPORTS / name
    path.unlink(missing_ok=True)
    return path


@contextmanager
def section(name: str) -> Iterator[None]:
    """A headline, and at the end how long it took."""
    started = time.monotonic()
    print(f"\n── {name} " + "─" * (70 - len(name)), flush=True)
    yield
    print(f"── {name}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
