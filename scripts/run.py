"""`make run`: sync the sample, or the repository in REPO, and print the result.

The sample is copied to build/sample (git-ignored), with its own LERIM_HOME and a session store for each agent, so that
none of the person's files are read or written. With REPO it works on the real repository, sessions and ~/.lerim.
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
    from lerim.views import ProjectContext

REPOSITORY = Path(__file__).resolve().parents[1]
EXAMPLES = REPOSITORY / "examples"
SAMPLE = REPOSITORY / "build" / "sample"
EXTENSION_PACKAGE = REPOSITORY / "lerim.vsix"
"""The extension, which `make run` builds first."""
SAMPLE_CWD = "/home/robin/tally"
"""The working directory in the sample's sessions, replaced by the real one when they are copied."""

sys.path.insert(0, str(REPOSITORY / "server"))


def print_line(text: str = "") -> None:
    """Print a line and flush it, since commands started in between write to the same terminal."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def claude_folder_name(folder: Path) -> str:
    """The name of the folder in which Claude Code stores the sessions of a working directory."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(folder))


def hash_folder(folder: Path) -> str:
    """A hash of the names and contents of all files below `folder`."""
    folder_hash = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        folder_hash.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        folder_hash.update(hashlib.sha256(path.read_bytes()).digest())
    return folder_hash.hexdigest()


def run_git(folder: Path, *arguments: str) -> None:
    """Runs git in `folder` with a fixed identity, whatever the person has configured."""
    identity = ["-c", "user.name=Sample", "-c", "user.email=sample@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def last_timestamp(text: str) -> float:
    """The time of the last record of a session, in seconds since the epoch; 0 if no record has a time."""
    stamps = re.findall(r'"timestamp":"([^"]{20,30})"', text)
    return datetime.fromisoformat(max(stamps)).timestamp() if stamps else 0


def write_session_file(path: Path, text: str, when: float) -> None:
    """Writes a file of a session and sets its modification time to `when` (seconds since the epoch): a session that was
    changed just now would count as unfinished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    os.utime(path, (when, when))


def copy_sessions(sessions: Path, target: Path, repo: Path) -> None:
    """Copies the sessions of each agent into its store below `target`, as if they had been written in `repo`."""
    cwd = json.dumps(repo.as_posix(), ensure_ascii=False)[1:-1]
    for source in sorted(path for path in sessions.rglob("*") if path.is_file()):
        agent, *inner = source.relative_to(sessions).parts
        text = source.read_text(encoding="utf-8").replace(SAMPLE_CWD, cwd)
        if agent == "claude":
            write_session_file(
                target / agent / "projects" / claude_folder_name(repo) / source.name, text, last_timestamp(text)
            )
        elif agent == "opencode":
            write_opencode_session(json.loads(text), target / agent / "storage")
        else:
            write_session_file(target.joinpath(agent, *inner), text, last_timestamp(text))


def write_opencode_session(export: Any, storage: Path) -> None:
    """Writes an exported OpenCode session as OpenCode stores it: one file per message and per message part."""
    info, messages = export["info"], export["messages"]
    files = {storage / "session" / info["projectID"] / f"{info['id']}.json": info}
    for message in messages:
        message_info = message["info"]
        files[storage / "message" / info["id"] / f"{message_info['id']}.json"] = message_info
        files |= {storage / "part" / message_info["id"] / f"{part['id']}.json": part for part in message["parts"]}
    for path, record in files.items():
        write_session_file(path, json.dumps(record, ensure_ascii=False), info["time"]["updated"] / 1000)


def copy_sample(target: Path = SAMPLE, examples: Path = EXAMPLES) -> Path:
    """Copies the sample into a git repository below `target`, with its sessions, and returns the repository.

    A copy of the same examples is kept with its memories and candidates. Any other content is replaced.
    """
    repo = target / "repo"
    stamp_file = target / "examples.sha256"
    examples_hash = hash_folder(examples)
    if stamp_file.is_file() and stamp_file.read_text(encoding="utf-8") == examples_hash and (repo / ".git").is_dir():
        connect_sample_stores(target)
        return repo
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(examples / "project", repo, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    run_git(repo, "init", "-q", "-b", "main")
    run_git(repo, "add", ".")
    run_git(repo, "commit", "-q", "-m", "The sample project")
    copy_sessions(examples / "sessions", target, repo)
    connect_sample_stores(target)
    stamp_file.write_text(examples_hash, encoding="utf-8")
    return repo


def sample_environment(target: Path = SAMPLE) -> dict[str, str]:
    """The environment for syncing the sample: its own home and sessions, none of the person's settings."""
    inherited = {name: value for name, value in os.environ.items() if name != "LERIM_CONFIG"}
    return {**inherited, "LERIM_HOME": str(target / "lerim"), "CLAUDE_CONFIG_DIR": str(target / "claude")}


def connect_sample_stores(target: Path = SAMPLE) -> None:
    """Connects the sample's Lerim to the session stores in the sample, so that it reads none in the person's home."""
    from lerim.paths import Home
    from lerim.sessions import platforms
    from lerim.sessions.model import PLATFORM_NAMES

    home = Home(target / "lerim")
    for agent in PLATFORM_NAMES:
        if agent != "claude" and agent not in platforms.load_platform_choices(home):
            (target / agent).mkdir(exist_ok=True)
            platforms.connect_platform(home, agent, target / agent)


def print_plan(context: ProjectContext) -> None:
    """Prints what the sync will read, write and send."""
    from lerim.sessions.platforms import find_platform_roots

    stores = [
        root for roots in find_platform_roots(os.environ, context.home).values() for root in roots if root.is_dir()
    ]
    print_line("reads   " + "\n        ".join(map(str, stores)))
    print_line(f"        {context.project.root} (only whether files are there)")
    print_line(f"writes  {context.review_paths.state} (candidates to review; memories when you accept them)")
    print_line(f"        {context.home.root} (the catalog of sessions, the activity log)")
    provider = context.settings.roles["extract"].provider
    print_line(
        f"sends   {'nothing' if provider == 'none' else f'sessions, without secrets, to the model of {provider}'}\n"
    )


def sync_and_show(context: ProjectContext) -> int:
    """Syncs as `lerim sync` does, shows the report and all candidates that wait for review; returns the exit code."""
    from lerim.cli.jobs import run_sync, show_sync_report
    from lerim.cli.review import show_candidates
    from lerim.cli.terminal.interrupt import EXIT_CODES
    from lerim.jobs.sync_context import SyncOptions
    from lerim.review import queue
    from lerim.review.views import candidate_view

    report = run_sync(context, SyncOptions(), quiet=False)
    show_sync_report(report, "", queue.claim_states(context.review_paths), verbose=True)
    waiting = [candidate_view(proposal) for proposal in queue.list_pending(context.review_paths)[0]]
    if len(waiting) > len(report.candidates):
        show_candidates(waiting, "Waiting for review, with those of earlier runs")
    return EXIT_CODES[report.state]


def print_next_steps(context: ProjectContext, *, sample: bool) -> None:
    """Prints where everything is, and what to do next."""
    from lerim import process

    repo = context.project.root
    print_line(f"\ncandidates  {context.review_paths.review}")
    print_line(f"memories    {context.project.memory_dir}")
    print_line(f"catalog     {context.home.catalog}")
    if EXTENSION_PACKAGE.is_file():
        print_line(f"extension   {EXTENSION_PACKAGE} ({EXTENSION_PACKAGE.stat().st_size / 1e6:.1f} MB)")
        print_line(f"  install   {process.format_command_line('code', '--install-extension', EXTENSION_PACKAGE)}")
        print_line("            or in VS Code: Extensions, the … menu, “Install from VSIX…”")
        print_line(f"  then open {repo}")
    else:
        print_line("extension   not built yet: `make package`")
    print_line("\nin a terminal:")
    if sample:
        for name, folder in (("LERIM_HOME", "lerim"), ("CLAUDE_CONFIG_DIR", "claude")):
            value = f"{name}={SAMPLE / folder}"
            command = "set" if sys.platform == "win32" else "export"
            print_line(f"  {process.format_command_line(command, value)}")
        print_line("  (the sample's own; start the editor with them, too, to see the sample's candidates)")
        print_line(f"  {process.format_command_line('cd', repo)}")
    installed = shutil.which("lerim", path=str(Path(sys.executable).parent))
    lerim = (installed,) if installed else (sys.executable, "-m", "lerim")
    print_line(f"  {process.format_command_line(*lerim, 'review', 'list', '--repo', repo)}")
    print_line(f"  {process.format_command_line(*lerim, 'sessions', 'list', '--repo', repo)}")


def main() -> int:
    """Syncs and prints the result; returns the exit code of the sync."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", default=os.environ.get("REPO", ""), help="a repository; without it, the sample")
    repo_option = parser.parse_args().repo
    if not repo_option:
        os.environ.pop("LERIM_CONFIG", None)
        os.environ.update(sample_environment())
    from lerim.cli.terminal.output import show_error
    from lerim.cli.terminal.repository import open_command_context
    from lerim.errors import LerimError

    try:
        if not repo_option:
            os.chdir(copy_sample())  # a home inside the current repository is refused, and this one is in the clone
        context = open_command_context(Path(repo_option or "."))
        print_plan(context)
        code = sync_and_show(context)
    except LerimError as error:
        show_error(error, as_json=False)
        return error.exit_code
    print_next_steps(context, sample=not repo_option)
    return code


if __name__ == "__main__":
    sys.exit(main())
