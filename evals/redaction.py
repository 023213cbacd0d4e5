"""Measures redaction with a labelled set of secrets and look-alikes, everywhere a session's text can appear.

    python evals/redaction.py evals/secrets-a.toml

All items go through a whole sync, the windows of a model, and accepting, in a temporary home and repository. For each
surface it prints the share of secrets that were removed completely, and the share of look-alikes that were removed by
mistake.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [
    str(ROOT / "server"),
    *(str(ROOT / "tests" / folder) for folder in ("", "stores", "services", "projects", "faults")),
]


def main() -> None:
    """Measures the set named on the command line."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("set", type=Path, help="a TOML file of items")
    arguments.add_argument("--no-model", action="store_true", help="ask no model: quicker")
    arguments.add_argument("--seed", default="a labelled set")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_redaction_figures(options.set, Path(folder), options.seed, with_model=not options.no_model)


def print_redaction_figures(path: Path, folder: Path, seed: str, *, with_model: bool) -> None:
    """Prints the figures of a set."""
    repo = make_environment(folder)
    from desk import Desk
    from lerim.paths import Home
    from surfaces import Surfaces, figures, load, surfaces

    items = load(path, seed)
    home = folder / "home"
    results: Surfaces = surfaces(
        Desk(repo, Home(home / ".lerim"), home / ".claude" / "projects"), items, with_model=with_model
    )
    sys.stdout.write("\n".join(figures(items, results).lines()) + "\n")


def make_environment(folder: Path) -> Path:
    """Makes a temporary home and a repository, and sets the environment so that none of the person's files are read."""
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
