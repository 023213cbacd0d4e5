"""Install the real editor that the journeys drive, once a machine, outside the checkout; print the folder it stands in.

The npm registry carries a whole VS Code workbench (code-server) and the Node it wants. Both are pinned here by version;
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
from pathlib import Path

CODE_SERVER = "4.139.1"
NODE = "24.21.0"
NATIVE = ("@vscode/spdlog", "@vscode/sqlite3", "@vscode/fs-copyfile", "@vscode/native-watchdog")
ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
PATIENCE_S = 1200


def main() -> int:
    """Print the editor's folder, having built it when it was not there yet."""
    folder = place()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (folder.parent / f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another checkout's build is waited for, and then found whole
            if not folder.exists():
                build(folder)
    print(folder)
    return 0


def place() -> Path:
    """Where this machine's editor stands: named after everything that decides what is in it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "lerim-editors" / f"code-server-{CODE_SERVER}-{node_package()}-{NODE}"


def node_package() -> str:
    """The npm package that carries Node's own binary and headers for this machine."""
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system())
    architecture = ARCHITECTURES.get(platform.machine().lower())
    if system is None or architecture is None:
        raise SystemExit(f"The journeys run on Linux and macOS; this is {platform.system()} {platform.machine()}.")
    return f"node-{system}-{architecture}"


def build(folder: Path) -> None:
    """Fetch and compile the editor into a folder beside `folder`, then give it its name."""
    for stale in folder.parent.glob(f"{folder.name}.building-*"):
        shutil.rmtree(stale)
    work = folder.with_name(f"{folder.name}.building-{os.getpid()}")
    started = time.monotonic()
    try:
        (work / "node").mkdir(parents=True)
        (work / "editor").mkdir()
        npm(work / "node", "install", f"{node_package()}@{NODE}")
        node = work / "node" / "node_modules" / node_package()
        npm(work / "editor", "install", "--ignore-scripts", f"code-server@{CODE_SERVER}", node=node)
        workbench = work / "editor" / "node_modules" / "code-server" / "lib" / "vscode"
        npm(workbench, "install", "--omit=dev", "--no-save", "--ignore-scripts", node=node)
        npm(workbench, "rebuild", *NATIVE, node=node)
        work.rename(folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    say(f"editor ready in {time.monotonic() - started:.0f} s: {folder}")


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
