"""Install the real editors that the journeys drive, once a machine, outside the checkout; print where each stands.

The npm registry carries a whole VS Code workbench (code-server) and the Node it wants. All are pinned here by version;
the pins name the folder, so that a changed pin is a new folder. It is built under another name and renamed when whole:
a folder that exists is complete. Standard library only: this runs before any environment is there.
"""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Pin:
    """One editor: its package, the Node it runs on, and which of its packages (of the workbench, and of the server
    around it) have code to compile. `ripgrep`: the package with the search program that the editor comes without."""

    code_server: str
    node: str
    workbench: tuple[str, ...]
    server: tuple[str, ...] = ()
    ripgrep: str = ""


NEWEST = Pin(
    "4.139.1", "24.21.0", ("@vscode/spdlog", "@vscode/sqlite3", "@vscode/fs-copyfile", "@vscode/native-watchdog")
)
# VS Code 1.100, the oldest that `engines.vscode` allows
OLDEST = Pin(
    "4.100.3", "20.20.2", ("@vscode/spdlog", "native-watchdog"), ("argon2",), "@vscode/ripgrep-universal@1.18.0"
)
ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
PATIENCE_S = 1200


def main() -> int:
    """Print the newest and the oldest editor's folder, each built when it was not there yet."""
    for pin in (NEWEST, OLDEST):
        folder = place(pin)
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with (folder.parent / f"{folder.name}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # another checkout's build is waited for, and then found whole
                if not folder.exists():
                    build(pin, folder)
        print(folder)
    return 0


def place(pin: Pin) -> Path:
    """Where this machine's editor stands: named after everything that decides what is in it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "lerim-editors" / f"code-server-{pin.code_server}-{node_package()}-{pin.node}"


def node_package() -> str:
    """The npm package that carries Node's own binary and headers for this machine."""
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system())
    architecture = ARCHITECTURES.get(platform.machine().lower())
    if system is None or architecture is None:
        raise SystemExit(f"The journeys run on Linux and macOS; this is {platform.system()} {platform.machine()}.")
    return f"node-{system}-{architecture}"


def build(pin: Pin, folder: Path) -> None:
    """Fetch and compile the editor into a folder beside `folder`, then give it its name."""
    for stale in folder.parent.glob(f"{folder.name}.building-*"):
        shutil.rmtree(stale)
    work = folder.with_name(f"{folder.name}.building-{os.getpid()}")
    started = time.monotonic()
    try:
        (work / "node").mkdir(parents=True)
        (work / "editor").mkdir()
        npm(work / "node", "install", f"{node_package()}@{pin.node}")
        node = work / "node" / "node_modules" / node_package()
        npm(work / "editor", "install", "--ignore-scripts", f"code-server@{pin.code_server}", node=node)
        workbench = work / "editor" / "node_modules" / "code-server" / "lib" / "vscode"
        npm(workbench, "install", "--omit=dev", "--no-save", "--ignore-scripts", node=node)
        npm(workbench, "rebuild", *pin.workbench, node=node)
        for package in pin.server:
            npm(work / "editor", "rebuild", package, "--build-from-source", node=node)
        if pin.ripgrep:
            bring_ripgrep(pin, work, workbench)
        work.rename(folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    say(f"editor ready in {time.monotonic() - started:.0f} s: {folder}")


def bring_ripgrep(pin: Pin, work: Path, workbench: Path) -> None:
    """Put the search program where an editor looks whose own package would fetch it from elsewhere."""
    (work / "ripgrep").mkdir()
    npm(work / "ripgrep", "install", "--ignore-scripts", pin.ripgrep)
    name = node_package().removeprefix("node-")
    found = next((work / "ripgrep").glob(f"node_modules/@vscode/ripgrep-universal/bin/{name}/rg"))
    place_of_it = workbench / "node_modules" / "@vscode" / "ripgrep" / "bin"
    place_of_it.mkdir(parents=True, exist_ok=True)
    shutil.copy2(found, place_of_it / "rg")
    (place_of_it / "rg").chmod(0o755)
    shutil.rmtree(work / "ripgrep")


def npm(cwd: Path, *arguments: str, node: Path | None = None) -> None:
    """Run npm in `cwd`, under the editor's Node once that is there; its output is shown only when it fails."""
    say(f"npm {' '.join(arguments)}")
    environ = dict(os.environ)
    if node is not None:
        environ |= {"PATH": f"{node / 'bin'}{os.pathsep}{environ['PATH']}", "npm_config_nodedir": str(node)}
    (cwd / "package.json").exists() or (cwd / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    command = ["npm", *arguments, "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    if done.returncode:
        say(done.stdout[-4000:] + done.stderr[-4000:])
        raise SystemExit(f"The editor could not be installed: {' '.join(command)} failed in {cwd}.")


def say(text: str) -> None:
    """One line on stderr: stdout carries only the folder."""
    print(f"editor: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
