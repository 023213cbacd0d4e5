"""Make a virtual environment of exactly what the given locks name: `environment.py FOLDER LOCK [LOCK …] [--own]`.

Nothing is done when the folder was made from the same locks by the same Python. A folder that is not whole carries no
stamp and is made anew. `--own` adds this project's source as an editable install. Standard library only: this runs
before any environment is there.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)


def main(arguments: list[str]) -> int:
    """Bring the environment to what the locks say; 0 when it is there."""
    if sys.version_info < OLDEST:
        raise SystemExit(
            f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed; this is {sys.version.split()[0]}. Set PYTHON."
        )
    own = "--own" in arguments
    names = [argument for argument in arguments if argument != "--own"]
    folder, locks = Path(names[0]), [Path(name) for name in names[1:]]
    stamp, wanted = folder / "made-from", fingerprint(locks, own)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        stamp.touch()  # make compares times: it need not ask again
        return 0
    if folder.exists():
        shutil.rmtree(folder)
    say(f"making {folder} from {' '.join(lock.name for lock in locks)}")
    call(sys.executable, "-m", "venv", str(folder))
    python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    # Both locks in one call: a package that stands in both stands there in one version.
    call(python, "-m", "pip", "install", "--no-deps", "--require-hashes", *(f"-r{lock}" for lock in locks))
    if own:
        call(python, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--editable", str(REPOSITORY))
    stamp.write_text(wanted, encoding="utf-8")
    return 0


def fingerprint(locks: list[Path], own: bool) -> str:
    """What decides the content: the locks, the Python, and whether (and with what settings) our own source is in it."""
    digest = hashlib.sha256(f"{sys.version} {sys.platform}".encode())
    for lock in locks:
        digest.update(lock.read_bytes())
    if own:
        settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
        digest.update(json.dumps([settings["build-system"], settings["project"]], sort_keys=True).encode())
    return digest.hexdigest()


def call(*command: str) -> None:
    """Run one step; its output is shown only when it fails."""
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        say(done.stdout[-3000:] + done.stderr[-6000:])
        raise SystemExit(f"The environment could not be made: {' '.join(command)}")


def say(text: str) -> None:
    """One line on stderr."""
    print(f"environment: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
