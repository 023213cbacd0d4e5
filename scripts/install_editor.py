"""Install the editors that the journeys (end-to-end tests) drive, and print the folder of each.

They are installed once per machine, outside of the checkout. The npm registry has a complete VS Code workbench
(code-server) and the Node.js it needs. Their versions are pinned here, and the versions are part of the folder's name.
A folder is built under a temporary name and renamed at the end, so a folder that exists is complete. Uses only the
standard library, since it runs before any environment exists.
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
class EditorPin:
    """The pinned versions of one editor.

    `workbench` and `server` are the packages of the workbench, and of the server around it, that have to be compiled.
    What only the editor's own agents use (SQLite, copies of files) is left out: compiling it would take minutes.
    `shared` are packages of the workbench that are taken from the newest editor, compiled: they use Node-API, which
    does not change between versions of Node.js, and compiling one takes longer than all the rest.
    `ripgrep` is the package with the search program, for an editor that comes without it.
    """

    code_server: str
    node: str
    workbench: tuple[str, ...]
    server: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    ripgrep: str = ""


NEWEST = EditorPin("4.139.1", "24.21.0", ("@vscode/spdlog", "@vscode/native-watchdog"))
# VS Code 1.100, the oldest that `engines.vscode` allows
OLDEST = EditorPin(
    "4.100.3", "20.20.2", ("native-watchdog",), ("argon2",), ("@vscode/spdlog",), "@vscode/ripgrep-universal@1.18.0"
)
ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
TIMEOUT_S = 1200


def main() -> int:
    """Print the folders of the newest and the oldest editor, after building those that are missing."""
    for pin in (NEWEST, OLDEST):
        folder = editor_folder(pin)
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with (folder.parent / f"{folder.name}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # waits for another checkout that builds it
                if not folder.exists():
                    build_editor(pin, folder)
        print(folder)
    return 0


def editor_folder(pin: EditorPin) -> Path:
    """The folder of an editor. Its name has everything that its content depends on."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "lerim-editors" / f"code-server-{pin.code_server}-{node_package()}-{pin.node}"


def node_package() -> str:
    """The npm package with Node's binary and headers for this machine."""
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system())
    architecture = ARCHITECTURES.get(platform.machine().lower())
    if system is None or architecture is None:
        raise SystemExit(f"The journeys run on Linux and macOS; this is {platform.system()} {platform.machine()}.")
    return f"node-{system}-{architecture}"


def build_editor(pin: EditorPin, folder: Path) -> None:
    """Download and compile the editor in a temporary folder, then rename that to `folder`."""
    for stale in folder.parent.glob(f"{folder.name}.building-*"):
        shutil.rmtree(stale)
    work = folder.with_name(f"{folder.name}.building-{os.getpid()}")
    started = time.monotonic()
    try:
        (work / "node").mkdir(parents=True)
        (work / "editor").mkdir()
        run_npm(work / "node", "install", f"{node_package()}@{pin.node}")
        node = work / "node" / "node_modules" / node_package()
        run_npm(work / "editor", "install", "--ignore-scripts", f"code-server@{pin.code_server}", node=node)
        workbench = workbench_folder(work)
        run_npm(workbench, "install", "--omit=dev", "--no-save", "--ignore-scripts", node=node)
        run_npm(workbench, "rebuild", *pin.workbench, node=node)
        for package in pin.shared:
            shutil.rmtree(workbench / "node_modules" / package)
            shutil.copytree(
                workbench_folder(editor_folder(NEWEST)) / "node_modules" / package, workbench / "node_modules" / package
            )
        for package in pin.server:
            run_npm(work / "editor", "rebuild", package, "--build-from-source", node=node)
        if pin.ripgrep:
            install_ripgrep(pin, work, workbench)
        work.rename(folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    print_progress(f"editor ready in {time.monotonic() - started:.0f} s: {folder}")


def workbench_folder(editor: Path) -> Path:
    """The folder of VS Code's own packages in an editor's folder."""
    return editor / "editor" / "node_modules" / "code-server" / "lib" / "vscode"


def install_ripgrep(pin: EditorPin, work: Path, workbench: Path) -> None:
    """Copy the search program to where the editor looks for it; its own package would download it from elsewhere."""
    (work / "ripgrep").mkdir()
    run_npm(work / "ripgrep", "install", "--ignore-scripts", pin.ripgrep)
    name = node_package().removeprefix("node-")
    found = next((work / "ripgrep").glob(f"node_modules/@vscode/ripgrep-universal/bin/{name}/rg"))
    target = workbench / "node_modules" / "@vscode" / "ripgrep" / "bin"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy2(found, target / "rg")
    (target / "rg").chmod(0o755)
    shutil.rmtree(work / "ripgrep")


def run_npm(cwd: Path, *arguments: str, node: Path | None = None) -> None:
    """Run npm in `cwd`, with the editor's Node if `node` is given. Its output is shown only if it fails."""
    print_progress(f"npm {' '.join(arguments)}")
    environ = dict(os.environ)
    if node is not None:
        environ |= {"PATH": f"{node / 'bin'}{os.pathsep}{environ['PATH']}", "npm_config_nodedir": str(node)}
        environ |= dict.fromkeys(("CFLAGS", "CXXFLAGS"), "-O0")  # optimising would take longer than it saves
    (cwd / "package.json").exists() or (cwd / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    command = ["npm", *arguments, "--no-audit", "--no-fund", "--loglevel=error"]
    result = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    if result.returncode:
        print_progress(result.stdout[-4000:] + result.stderr[-4000:])
        raise SystemExit(f"The editor could not be installed: {' '.join(command)} failed in {cwd}.")


def print_progress(text: str) -> None:
    """Print a line on stderr; stdout has only the folders."""
    print(f"editor: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
