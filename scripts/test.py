"""Run all checks, or only the named ones (`lint`, `python`, `extension`, `journeys`). Ends with `N passed, N failed`.

The editor for the journeys is downloaded and compiled in the background. The journeys start as soon as it is there,
beside lint and the Python tests; the tests of the extension, and the installation of the locked packages, run beside
lint. A check that is not a test (lint, a build) counts as one failure if it fails, and as nothing if it passes. Tests
keep their files in memory where there is room: they write to disk many thousand times.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from memory_folder import make_folder_in_memory
from tally import Tally, add_report, show_results

REPOSITORY = Path(__file__).resolve().parents[1]
REPORTS = REPOSITORY / "build" / "reports"
LOCKED_ENVIRONMENT = REPOSITORY / "build" / "locked"
PYTHON = sys.executable
TIMEOUT_S = {"lint": 900, "install": 900, "python": 3600, "extension": 900, "journeys": 3600}
"""The time limit of each check, for what hangs. It allows for a machine four times slower than two idle cores."""
LINT_COMMANDS = (
    (PYTHON, "-m", "ruff", "check", "."),
    (PYTHON, "-m", "ruff", "format", "--check", "."),
    (PYTHON, "-m", "mypy"),
    (str(Path(PYTHON).with_name("lint-imports")), "--no-cache"),
    (PYTHON, "scripts/cli_docs.py", "--check"),
    (PYTHON, "scripts/agent_plugin.py", "--check"),
    (PYTHON, "scripts/protocol.py", "--check"),
    ("npm", "run", "--silent", "lint"),
    *(((str(Path(PYTHON).with_name("hadolint")), "Dockerfile"),) if sys.platform != "win32" else ()),
)


def main(chosen_checks: list[str]) -> int:
    """Run the chosen checks one after another. Return 1 if anything failed."""
    checks: dict[str, Callable[[Tally], None]] = {
        "lint": run_lint,
        "python": run_python_tests,
        "extension": run_extension_tests,
        "journeys": run_journeys,
    }
    unknown = set(chosen_checks) - set(checks)
    if unknown:
        raise SystemExit(f"Unknown check {', '.join(sorted(unknown))}; there are {', '.join(checks)}.")
    REPORTS.mkdir(parents=True, exist_ok=True)
    if not sys.stdout.isatty():
        os.environ["NO_COLOR"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # with it, each process would compile its imports again
    if folder := make_folder_in_memory():
        temporary_folders.append(folder)
        os.environ["TMPDIR"] = str(folder)
    tally = Tally()
    chosen = chosen_checks or list(checks)
    if "journeys" in chosen:
        editor_installation.start()
    if {"python", "journeys"} & set(chosen):
        locked_environment.start()
    if "python" in chosen:
        python_collection.start()
    if "extension" in chosen:
        EXTENSION_REPORT.unlink(missing_ok=True)
        extension_tests.start()
    if "journeys" in chosen:
        journeys.start()
    for name in chosen:
        checks[name](tally)
    if chosen_checks == ["lint"]:
        return 1 if tally.failed else 0
    show_results(tally)
    return 1 if tally.failed or not tally.passed else 0


def run_lint(tally: Tally) -> None:
    """Check style and types of both languages, and that generated files are up to date."""
    with print_section("lint"):
        for command in LINT_COMMANDS:
            if run_command(command, timeout_s=TIMEOUT_S["lint"]):
                tally.add_failure(" ".join(command).replace(PYTHON, "python"))


def run_python_tests(tally: Tally) -> None:
    """Run the unit, property and protocol tests."""
    with print_section("python tests"):
        if locked_environment.wait():
            tally.add_failure("installing requirements.lock by itself")
        editor_installation.wait_for_packages()  # one of them is an editor that a Python test starts
        python_collection.wait()
        report = new_report_path("python.xml")
        # One more than two processors, since half of a test's time is waiting. A worker gets runs of consecutive tests,
        # which share module fixtures, and then steals from another's end.
        command = (PYTHON, "-m", "pytest", "-n", "3", "--dist", "worksteal", f"--junitxml={report}")
        add_report(tally, "python tests", report, run_command(command, timeout_s=TIMEOUT_S["python"]))


def run_extension_tests(tally: Tally) -> None:
    """Show the tests of the extension, which began with the first check."""
    with print_section("extension tests"):
        code = extension_tests.wait()
        print(extension_tests.log.read_text(encoding="utf-8"), end="", flush=True)
        add_report(tally, "extension tests", EXTENSION_REPORT, code)


def run_journeys(tally: Tally) -> None:
    """Show the journeys, which began with the first check."""
    with print_section("journeys"):
        fault = journeys.wait()
        print(journeys.log.read_text(encoding="utf-8"), end="", flush=True)
        if fault:
            tally.add_failure(fault)
        for report, code in journeys.codes.items():
            add_report(tally, report.stem, report, code)


class BackgroundCommand:
    """A command that runs beside other checks, with its output in a log."""

    def __init__(self, name: str, command: tuple[str, ...], timeout_s: float) -> None:
        self.log = REPORTS / f"{name}.log"
        self._command, self._timeout_s = command, timeout_s
        self._code = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start the command and return at once."""
        self._thread.start()

    def wait(self) -> int:
        """Wait for the end. Return the exit code, or 124 after the time limit."""
        self._thread.join()
        return self._code

    def _run(self) -> None:
        with self.log.open("w", encoding="utf-8") as log:
            self._code = run_command(self._command, self._timeout_s, output=log)


class EditorInstallation:
    """Installs the editors and their browser in the background."""

    def __init__(self) -> None:
        self.log = REPORTS / "editor.log"
        self._found: list[str] = []
        self._packages_tried = threading.Event()
        self._thread = threading.Thread(target=self._install, daemon=True)

    def start(self) -> None:
        """Start the installation and return at once."""
        self._thread.start()

    def wait_for_packages(self) -> None:
        """Wait until the system's packages are installed, or could not be, if the installation has started."""
        if self._thread.ident:
            self._packages_tried.wait()

    def wait(self) -> dict[str, str] | None:
        """Wait for the end. Return the environment variables with their paths; None if an installation failed."""
        if self._thread.is_alive():
            print("waiting for the editor to be built …", flush=True)
        self._thread.join()
        names = ("CHROMIUM", "LERIM_TEST_EDITOR", "LERIM_TEST_EDITOR_OLDEST")
        return dict(zip(names, self._found, strict=True)) if len(self._found) == len(names) else None

    def _install(self) -> None:
        with self.log.open("w", encoding="utf-8") as log:
            try:
                if not self._run_script("install_system_packages.py", log):
                    return
            finally:
                self._packages_tried.set()
            self._run_script("install_editor.py", log)

    def _run_script(self, script: str, log: IO[str]) -> bool:
        """Run an installation script and keep the paths it prints. Return whether it succeeded."""
        result = subprocess.run(
            [PYTHON, f"scripts/{script}"],
            check=False,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        if result.returncode == 0:
            self._found += result.stdout.split("\n")[:-1]
        return result.returncode == 0


class Journeys:
    """Runs the journeys in the background: end-to-end tests in a real editor, with the packaged extension. They mostly
    wait for the editor and leave the processors to the Python tests. `LERIM_LONG` adds a run in the oldest editor."""

    def __init__(self) -> None:
        self.log = REPORTS / "journeys.log"
        self.codes: dict[Path, int] = {}
        self._fault = "running the journeys"
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start the journeys and return at once."""
        self._thread.start()

    def wait(self) -> str:
        """Wait for the end. Return what kept them from running, or ""; `codes` then has each report's exit code."""
        self._thread.join()
        return self._fault

    def _run(self) -> None:
        with self.log.open("w", encoding="utf-8") as log:
            if run_command(("make", "--no-print-directory", "lerim.vsix"), TIMEOUT_S["install"], output=log):
                self._fault = "building the .vsix"
                return
            installed = editor_installation.wait()
            if installed is None:
                self._fault = f"installing the editors; see {editor_installation.log.relative_to(REPOSITORY)}"
                return
            if locked_environment.wait():
                self._fault = "installing requirements.lock for the journeys"
                return
            editors = {"journeys": installed["LERIM_TEST_EDITOR"]}
            if os.environ.get("LERIM_LONG"):
                editors["journeys-oldest"] = installed["LERIM_TEST_EDITOR_OLDEST"]
            for name, editor in editors.items():
                report = new_report_path(f"{name}.xml")
                self.codes[report] = self._run_in_editor(installed | {"LERIM_TEST_EDITOR": editor}, report, log)
            self._fault = ""

    def _run_in_editor(self, installed: dict[str, str], report: Path, log: IO[str]) -> int:
        """Run all journeys in one editor. Return their exit code."""
        name = uuid.uuid4().hex
        environ = os.environ | installed | {"LERIM_JOURNEY_ENV": str(LOCKED_ENVIRONMENT), "LERIM_JOURNEY": name}
        environ["LERIM_PYTHON"] = PYTHON  # has the packages of `lerim serve`, which the locked environment has not
        # several at a time: each has a machine of its own
        command = (
            *("node", "--test", "--test-concurrency=3"),
            *("--test-reporter=spec", "--test-reporter-destination=stdout"),
            *("--test-reporter=junit", f"--test-reporter-destination={report}"),
            *sorted(str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "tests/journeys").glob("*.test.mjs")),
        )
        code = run_command(command, TIMEOUT_S["journeys"], environ, log)
        kill_marked_processes(f"LERIM_JOURNEY={name}")
        return code


def run_command(
    command: tuple[str, ...],
    timeout_s: float,
    environ: dict[str, str] | None = None,
    output: IO[str] | None = None,
) -> int:
    """Run one command with its output shown as it comes, or written to `output`. Return its exit code, or 124 after the
    time limit.

    Its process group is ended in any case.
    """
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    running_processes.add(process)
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        print(f"stopped after {timeout_s:.0f} s: {' '.join(command)}", file=output, flush=True)
        return 124
    finally:
        end_process_group(process)
        running_processes.discard(process)


def end_process_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a command's process group: with SIGTERM first, so that it can clean up, then SIGKILL."""
    for number, patience_s in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience_s)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def kill_marked_processes(marker: str) -> None:
    """Kill the processes that a stopped journey left behind, found by a marker in their environment.

    The editor runs in its own process session, so ending the process group does not reach it. Needs Linux's /proc.
    """
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if marker.encode() in environ.read_bytes():
                os.kill(int(environ.parent.name), signal.SIGKILL)
        except OSError:
            continue  # the process has ended, or is another user's


def new_report_path(name: str) -> Path:
    """The path for a new report. An older report is deleted."""
    path = REPORTS / name
    path.unlink(missing_ok=True)
    return path


@contextmanager
def print_section(name: str) -> Iterator[None]:
    """Print a heading, and at the end the duration."""
    started = time.monotonic()
    print(f"\n── {name} " + "─" * (70 - len(name)), flush=True)
    yield
    print(f"── {name}: {time.monotonic() - started:.0f} s", flush=True)


running_processes: set[subprocess.Popen[bytes]] = set()
temporary_folders: list[Path] = []
EXTENSION_REPORT = REPORTS / "extension.xml"
extension_tests = BackgroundCommand(
    "extension",
    (
        *("npm", "run", "--silent", "test", "--"),
        *("--reporter=default", "--reporter=junit", f"--outputFile.junit={EXTENSION_REPORT}"),
    ),
    TIMEOUT_S["extension"],
)
# Compiles the tests once; otherwise each worker would compile all of them. An error in them is shown by the tests' run.
python_collection = BackgroundCommand("collection", (PYTHON, "-m", "pytest", "--collect-only"), TIMEOUT_S["python"])
locked_environment = BackgroundCommand(
    "locked",
    (PYTHON, "scripts/make_environment.py", str(LOCKED_ENVIRONMENT), "requirements.lock"),
    TIMEOUT_S["install"],
)
editor_installation = EditorInstallation()
journeys = Journeys()


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    finally:  # what runs in the background, if the person stopped the checks
        for running in tuple(running_processes):
            end_process_group(running)
        for temporary_folder in temporary_folders:
            shutil.rmtree(temporary_folder, ignore_errors=True)
