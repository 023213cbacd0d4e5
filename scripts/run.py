"""`make run`: the main job, once. Syncs the sample, or the repository REPO names, and says what came of it.

The sample is copied to build/sample (git-ignored) with its own LERIM_HOME and a store for each agent: nothing of the
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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lerim.cli.terminal.repository import CommandContext

CLONE = Path(__file__).resolve().parents[1]
EXAMPLES = CLONE / "examples"
SAMPLE = CLONE / "build" / "sample"
PACKAGE = CLONE / "lerim.vsix"
"""The extension; `make run` builds it first."""
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
    """When the last record of a session was written, in seconds since the epoch; 0 where no record says so."""
    stamps = re.findall(r'"timestamp":"([^"]{20,30})"', text)
    return datetime.fromisoformat(max(stamps)).timestamp() if stamps else 0


def write(path: Path, text: str, when: float) -> None:
    """A file of a session, last written at `when`: what was written just now counts as still going on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    os.utime(path, (when, when))


def copy_sessions(sessions: Path, target: Path, repo: Path) -> None:
    """The sessions of each agent, as they lie in its store, to its folder below `target`, as if written in `repo`."""
    cwd = json.dumps(repo.as_posix(), ensure_ascii=False)[1:-1]
    for source in sorted(path for path in sessions.rglob("*") if path.is_file()):
        agent, *inner = source.relative_to(sessions).parts
        text = source.read_text(encoding="utf-8").replace(SAMPLE_CWD, cwd)
        if agent == "claude":
            write(target / agent / "projects" / slug(repo) / source.name, text, last_time(text))
        elif agent == "opencode":
            put_opencode(json.loads(text), target / agent / "storage")
        else:
            write(target.joinpath(agent, *inner), text, last_time(text))


def put_opencode(export: Any, storage: Path) -> None:
    """An exported session of OpenCode as the files it was exported from: one for each message and each of its parts."""
    info, messages = export["info"], export["messages"]
    files = {storage / "session" / info["projectID"] / f"{info['id']}.json": info}
    for message in messages:
        said = message["info"]
        files[storage / "message" / info["id"] / f"{said['id']}.json"] = said
        files |= {storage / "part" / said["id"] / f"{part['id']}.json": part for part in message["parts"]}
    for path, record in files.items():
        write(path, json.dumps(record, ensure_ascii=False), info["time"]["updated"] / 1000)


def copy_sample(target: Path = SAMPLE, examples: Path = EXAMPLES) -> Path:
    """The sample as a git repository with its sessions below `target`, where its own Lerim looks for them; returns the
    repository.

    What is there from the same examples is kept, with its memories and candidates; anything else is replaced.
    """
    repo = target / "repo"
    stamp = target / "examples.sha256"
    now = digest(examples)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == now and (repo / ".git").is_dir():
        keep_apart(target)
        return repo
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(examples / "project", repo, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "The sample project")
    copy_sessions(examples / "sessions", target, repo)
    keep_apart(target)
    stamp.write_text(now, encoding="utf-8")
    return repo


def environment(target: Path = SAMPLE) -> dict[str, str]:
    """The environment the sample is synced in: its own home and sessions, none of the person's settings."""
    kept = {name: value for name, value in os.environ.items() if name != "LERIM_CONFIG"}
    return {**kept, "LERIM_HOME": str(target / "lerim"), "CLAUDE_CONFIG_DIR": str(target / "claude")}


def keep_apart(target: Path = SAMPLE) -> None:
    """Has the sample's own Lerim look for each other agent's sessions in the sample, not in the person's home."""
    from lerim.paths import Home
    from lerim.sessions import platforms
    from lerim.sessions.model import PLATFORM_NAMES

    home = Home(target / "lerim")
    for agent in PLATFORM_NAMES:
        if agent != "claude" and agent not in platforms.load_platform_choices(home):
            (target / agent).mkdir(exist_ok=True)
            platforms.connect_platform(home, agent, target / agent)


def announce(at: CommandContext) -> None:
    """What the sync is going to read and write, before it does."""
    from lerim.sessions.platforms import find_platform_roots

    stores = [root for roots in find_platform_roots(os.environ, at.home).values() for root in roots if root.is_dir()]
    say("reads   " + "\n        ".join(map(str, stores)))
    say(f"        {at.project.root} (only whether files are there)")
    say(f"writes  {at.review_paths.state} (candidates to review; memories when you accept them)")
    say(f"        {at.home.root} (the catalog of sessions, the activity log)")
    provider = at.settings.roles["extract"].provider
    say(f"sends   {'nothing' if provider == 'none' else f'sessions, without secrets, to the model of {provider}'}\n")


def sync(at: CommandContext) -> int:
    """A sync through the functions `lerim sync` is made of, and what waits besides; returns the exit code."""
    from lerim.cli.review_output import show_candidates
    from lerim.cli.sync import run_sync, show_sync_report
    from lerim.cli.terminal.interrupt import EXIT_CODES
    from lerim.jobs.sync_context import SyncOptions
    from lerim.review import queue
    from lerim.review.views import candidate_view

    report = run_sync(at, SyncOptions(), quiet=False)
    show_sync_report(report, "", queue.claim_states(at.review_paths))
    waiting = [candidate_view(proposal) for proposal in queue.list_pending(at.review_paths)[0]]
    if len(waiting) > len(report.candidates):
        show_candidates(waiting, "Waiting for review, with those of earlier runs")
    return EXIT_CODES[report.state]


def finish(at: CommandContext, *, sample: bool) -> None:
    """Where everything is, and how to go on."""
    from lerim import process_shell

    repo = at.project.root
    say(f"\ncandidates  {at.review_paths.review}")
    say(f"memories    {at.project.memory_dir}")
    say(f"catalog     {at.home.catalog}")
    if PACKAGE.is_file():
        say(f"extension   {PACKAGE} ({PACKAGE.stat().st_size / 1e6:.1f} MB)")
        say(f"  install   {process_shell.format_command_line('code', '--install-extension', PACKAGE)}")
        say("            or in VS Code: Extensions, the … menu, “Install from VSIX…”")
        say(f"  then open {repo}")
    else:
        say("extension   not built yet: `make package`")
    say("\nin a terminal:")
    if sample:
        for name, folder in (("LERIM_HOME", "lerim"), ("CLAUDE_CONFIG_DIR", "claude")):
            value = f"{name}={SAMPLE / folder}"
            command = "set" if sys.platform == "win32" else "export"
            say(f"  {process_shell.format_command_line(command, value)}")
        say("  (the sample's own; start the editor with them, too, to see the sample's candidates)")
        say(f"  {process_shell.format_command_line('cd', repo)}")
    installed = shutil.which("lerim", path=str(Path(sys.executable).parent))
    command = (installed,) if installed else (sys.executable, "-m", "lerim")
    say(f"  {process_shell.format_command_line(*command, 'review', 'list', '--repo', repo)}")
    say(f"  {process_shell.format_command_line(*command, 'sessions', 'list', '--repo', repo)}")


def main() -> int:
    """Runs the main job; returns the exit code of the sync."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", default=os.environ.get("REPO", ""), help="a repository; without it, the sample")
    given = parser.parse_args().repo
    if not given:
        os.environ.pop("LERIM_CONFIG", None)
        os.environ.update(environment())
    from lerim.cli.terminal.output import show_error
    from lerim.cli.terminal.repository import open_command_context
    from lerim.errors import LerimError

    try:
        if not given:
            os.chdir(copy_sample())  # its home lies in this clone, which would be refused from the clone's own folder
        at = open_command_context(Path(given or "."))
        announce(at)
        code = sync(at)
    except LerimError as error:
        show_error(error, as_json=False)
        return error.exit_code
    finish(at, sample=not given)
    return code


if __name__ == "__main__":
    sys.exit(main())
