"""Measures redaction with a labelled set of secrets and look-alikes, on every surface a session's text can reach.

    python evals/redaction.py evals/secrets.toml

Each item goes through a whole sync, a model's windows and accepting, in a home and a repository made for it. It prints,
for each surface, the share of secrets of which nothing can be read, and the share of look-alikes that were cut.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "tests")]


def main() -> None:
    """Measures the set the command line names."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("set", type=Path, help="a TOML file of items")
    arguments.add_argument("--no-model", action="store_true", help="ask no model: quicker")
    arguments.add_argument("--seed", default="a labelled set")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(asked.set, Path(folder), asked.seed, with_model=not asked.no_model)


def measure(path: Path, folder: Path, seed: str, *, with_model: bool) -> None:
    """Prints the figures of a set."""
    repo = environment(folder)
    from desk import Desk
    from lerim.paths import Home
    from surfaces import Surfaces, figures, load, surfaces

    items = load(path, seed)
    home = folder / "home"
    found: Surfaces = surfaces(
        Desk(repo, Home(home / ".lerim"), home / ".claude" / "projects"), items, with_model=with_model
    )
    sys.stdout.write("\n".join(figures(items, found).lines()) + "\n")


def environment(folder: Path) -> Path:
    """Makes a home of its own and a repository; nothing of the person's is read."""
    home, repo = folder / "home", folder / "repo"
    (home / ".claude" / "projects").mkdir(parents=True)
    (repo / "src").mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(("XDG_", "LERIM_", "CLAUDE_", "CODEX_"))]:
        del os.environ[name]
    os.environ.update({"HOME": str(home), "USERPROFILE": str(home), "LERIM_HOME": str(home / ".lerim")})
    (repo / "README.md").write_text("# App\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    return repo


if __name__ == "__main__":
    main()
