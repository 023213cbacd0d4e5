"""Generate the plugin folder `agents/`, which gives memories to coding agents that load plugins (`make docs`).

With `--check` nothing is written, and the exit code is 1 if the folder is out of date (`make lint`).
"""

import sys
from pathlib import Path

from lerim import __version__
from lerim.agents.plugin import list_plugin_files

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / "agents"
WRITTEN_BY_HAND = {"README.md"}


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` compare them. Return 1 if they differ."""
    wanted = list_plugin_files(__version__)
    present = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.is_file()}
    if arguments != ["--check"]:
        for name, text in wanted.items():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_text(text, encoding="utf-8")
        return 0
    different = {name for name, text in wanted.items() if name not in present or read(present[name]) != text}
    different |= set(present) - set(wanted) - WRITTEN_BY_HAND
    for name in sorted(different):
        print(f"agents/{name} is not what Lerim would write: run `make docs`.")
    return int(bool(different))


def read(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
