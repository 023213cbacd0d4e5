"""`make run`: the main job, once. Syncs the sample, or the repository REPO names, and says what came of it.

The sample is copied to build/sample (git-ignored) with its own LERIM_HOME and CLAUDE_CONFIG_DIR: nothing of the
person's is read or written. With REPO it is the real repository, the real sessions and the real ~/.lerim.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

CLONE = Path(__file__).resolve().parents[1]
EXAMPLES = CLONE / "examples"
SAMPLE = CLONE / "build" / "sample"
SAMPLE_CWD = "/home/robin/tally"
"""The working directory the sample's sessions were written with."""

sys.path.insert(0, str(CLONE / "server"))


def say(text: str = "") -> None:
    """One line, at once: the commands started in between write to the same terminal."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def slug(folder: Path) -> str:
    """The name Claude Code gives a working directory's folder of sessions."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(folder))


def digest(folder: Path) -> str:
    """A fingerprint of every file below `folder`: its name and content."""
    seen = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        seen.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        seen.update(hashlib.sha256(path.read_bytes()).digest())
    return seen.hexdigest()


def git(folder: Path, *arguments: str) -> None:
    """Runs git in `folder` with an identity of its own, whatever the person has set up."""
    identity = ["-c", "user.name=Sample", "-c", "user.email=sample@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def last_time(text: str) -> float:
    """When the last record of a transcript was written, in seconds since the epoch."""
    stamps = [json.loads(line).get("timestamp", "") for line in text.splitlines()]
    return datetime.fromisoformat(max(stamps)).timestamp()


def copy_sample(target: Path = SAMPLE, examples: Path = EXAMPLES) -> Path:
    """The sample as a git repository with its sessions below `target`; returns the repository.

    What is there from the same examples is kept, with its memories and candidates; anything else is replaced.
    """
    repo = target / "repo"
    stamp = target / "examples.sha256"
    now = digest(examples)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == now and (repo / ".git").is_dir():
        return repo
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(examples / "project", repo, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "The sample project")
    sessions = target / "claude" / "projects" / slug(repo)
    sessions.mkdir(parents=True)
    place = json.dumps(repo.as_posix(), ensure_ascii=False)[1:-1]
    for source in sorted((examples / "sessions").glob("*.jsonl")):
        text = source.read_text(encoding="utf-8").replace(SAMPLE_CWD, place)
        copy = sessions / source.name
        copy.write_text(text, encoding="utf-8", newline="\n")
        os.utime(copy, (last_time(text), last_time(text)))
    stamp.write_text(now, encoding="utf-8")
    return repo


def environment(target: Path = SAMPLE) -> dict[str, str]:
    """The environment the sample is synced in: its own home and sessions, none of the person's settings."""
    kept = {name: value for name, value in os.environ.items() if name != "LERIM_CONFIG"}
    return {**kept, "LERIM_HOME": str(target / "lerim"), "CLAUDE_CONFIG_DIR": str(target / "claude")}


def built_vsix() -> Path | None:
    """The extension's package, built again where a source is newer; None where that failed (it says why)."""
    npm = shutil.which("npm")
    if npm is None:
        say("The extension was not built: npm is not installed (Node.js 20 or newer has it).")
        return None
    package = newest_vsix()
    if package and package.stat().st_mtime > newest_source():
        return package
    say("building the extension (npm run package) …")
    if (
        not (CLONE / "node_modules").is_dir()
        and subprocess.run([npm, "ci", "--silent"], cwd=CLONE, check=False).returncode
    ):
        say("The extension was not built: `npm ci` failed, see above.")
        return package
    done = subprocess.run([npm, "run", "--silent", "package"], cwd=CLONE, check=False, capture_output=True, text=True)
    if done.returncode:
        say(f"The extension was not built: `npm run package` failed.\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return package
    return newest_vsix()


def newest_vsix() -> Path | None:
    """The newest .vsix of this clone."""
    found = [path for folder in (CLONE, CLONE / "build", CLONE / "dist") for path in folder.glob("*.vsix")]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def newest_source() -> float:
    """When a file the package is made of was last changed."""
    files = [CLONE / name for name in ("package.json", "package-lock.json", "requirements.lock", "pyproject.toml")]
    for folder, pattern in (("extension", "**/*"), ("server/lerim", "**/*"), ("scripts", "*.mjs")):
        skipped = {"node_modules", "dist", "__pycache__"}
        files += [path for path in (CLONE / folder).glob(pattern) if path.is_file() and not skipped & set(path.parts)]
    return max((path.stat().st_mtime for path in files if path.is_file()), default=0.0)


def announce(repo: Path, environ: dict[str, str]) -> None:
    """What the sync is going to read and write, before it does."""
    from lerim.paths import Home, claude_roots

    say("reads   " + "\n        ".join(str(Path(root) / "projects") for root in claude_roots(environ)))
    say(f"        {repo} (only whether files are there)")
    say(f"writes  {repo / '.lerim'} (candidates to review; memories when you accept them)")
    say(f"        {Home.of(environ).root} (the catalog of sessions, the activity log)")
    say("sends   nothing\n")


def sync(repo: Path, environ: dict[str, str]) -> int:
    """`lerim sync` and `lerim review list`, through the functions the command itself is made of."""
    os.environ.update(environ)
    from lerim.cli import main

    code = main(["sync", "--repo", str(repo)])
    say()
    return main(["review", "list", "--repo", str(repo)]) or code


def finish(repo: Path, environ: dict[str, str], package: Path | None) -> None:
    """Where everything is, and how to go on."""
    from lerim.paths import Home

    say(f"\ncandidates  {repo / '.lerim' / 'review'}")
    say(f"memories    {repo / '.lerim' / 'memory'}")
    say(f"catalog     {Home.of(environ).catalog}")
    if package:
        say(f"extension   {package} ({package.stat().st_size / 1e6:.1f} MB)")
        say(f"  install it: code --install-extension {package}")
        say("  or in VS Code: Extensions, the … menu, “Install from VSIX…”; then open")
        say(f"  {repo}")
    if "LERIM_HOME" in environ and environ.get("LERIM_HOME") == str(SAMPLE / "lerim"):
        say("\ngo on in the terminal, with the sample's own home:")
        say(f"  export LERIM_HOME={SAMPLE / 'lerim'} CLAUDE_CONFIG_DIR={SAMPLE / 'claude'}")
    say(f"  lerim review accept ID --repo {repo}")


def main() -> int:
    """Runs the main job; returns the exit code of the sync."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--repo", default=os.environ.get("REPO", ""), help="a repository; the sample where none is given"
    )
    parser.add_argument("--no-vsix", action="store_true", help="leave the extension alone")
    options = parser.parse_args()
    repo = Path(options.repo).expanduser().resolve() if options.repo else copy_sample()
    environ = dict(os.environ) if options.repo else environment()
    announce(repo, environ)
    code = sync(repo, environ)
    finish(repo, environ, None if options.no_vsix else built_vsix())
    return code


if __name__ == "__main__":
    sys.exit(main())
