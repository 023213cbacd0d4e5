"""Install the command-line agents that `make test-agents` runs, and print the folder with their programs.

They come from npm and are large, so they are installed once per machine, beside the editors. Their versions are pinned
here and are part of the folder's name; a folder that exists is complete. Uses only the standard library.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = {
    "@anthropic-ai/claude-code": "2.1.330",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "opencode-ai": "1.18.33",
    "@github/copilot": "1.0.102",
}
TIMEOUT_S = 1200


def main() -> int:
    """Install the agents if they are missing, and print the folder of their programs."""
    folder = agents_folder()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        install(folder)
    print(folder / "node_modules" / ".bin")
    return 0


def agents_folder() -> Path:
    """The folder of these versions, in the cache of the editors."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lerim-editors"
    return cache / f"agents-{'-'.join(VERSIONS.values())}"


def install(folder: Path) -> None:
    """Install into a temporary folder and rename it, so that a killed installation leaves no half of one."""
    building = folder.with_name(f"{folder.name}.building-{os.getpid()}")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    (building / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    packages = [f"{name}@{version}" for name, version in VERSIONS.items()]
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *packages]
    print(f"agents: npm install {' '.join(packages)}", file=sys.stderr, flush=True)
    subprocess.run(command, cwd=building, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=TIMEOUT_S)
    building.rename(folder)


if __name__ == "__main__":
    raise SystemExit(main())
