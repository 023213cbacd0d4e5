"""Make a virtual environment with exactly the locked packages: `make_environment.py FOLDER LOCK [LOCK …] [--own]`.

Does nothing if the folder was made from the same locks by the same Python. An incomplete folder has no stamp and is
made again. `--own` adds this project as an editable install. Uses only the standard library, since it runs before any
environment exists.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
OLDEST_PYTHON = (3, 11)


def main(arguments: list[str]) -> int:
    """Make or update the environment. Return 0."""
    if sys.version_info < OLDEST_PYTHON:
        raise SystemExit(
            f"Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or newer is needed; "
            f"this is {sys.version.split()[0]}. Set PYTHON."
        )
    with_project = "--own" in arguments
    names = [argument for argument in arguments if argument != "--own"]
    folder, locks = Path(names[0]), [Path(name) for name in names[1:]]
    stamp, expected_stamp = folder / "made-from", fingerprint(locks, with_project)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == expected_stamp:
        stamp.touch()  # make compares modification times, and then does not run this again
        return 0
    if folder.exists():
        shutil.rmtree(folder)
    print_progress(f"making {folder} from {' '.join(lock.name for lock in locks)}")
    run_command(sys.executable, "-m", "venv", str(folder))
    python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    # One call for all locks: a package that is in two of them has the same version in both. Most modules are never
    # imported, and the others are compiled when they are.
    options = ("--no-compile", "--no-deps", "--require-hashes", *(f"-r{lock}" for lock in locks))
    run_command(python, "-m", "pip", "install", *options)
    if with_project:
        run_command(python, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--editable", str(REPOSITORY))
    stamp.write_text(expected_stamp, encoding="utf-8")
    return 0


def fingerprint(locks: list[Path], with_project: bool) -> str:
    """A hash of everything the content depends on: the locks, the Python version, and with the project its metadata."""
    digest = hashlib.sha256(f"{sys.version} {sys.platform}".encode())
    for lock in locks:
        digest.update(lock.read_bytes())
    if with_project:
        settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
        digest.update(json.dumps([settings["build-system"], settings["project"]], sort_keys=True).encode())
    return digest.hexdigest()


def run_command(*command: str) -> None:
    """Run one command. Its output is shown only if it fails."""
    result = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        print_progress(result.stdout[-3000:] + result.stderr[-6000:])
        raise SystemExit(f"The environment could not be made: {' '.join(command)}")


def print_progress(text: str) -> None:
    """Print a line on stderr."""
    print(f"environment: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
