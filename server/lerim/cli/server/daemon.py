"""`lerim up|down|logs`: the server in the background."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from lerim.cli.server.serve import (
    CertificateOption,
    HostOption,
    KeyOption,
    PortOption,
    ProxyOption,
    make_options,
    serve_here,
)
from lerim.cli.terminal import JsonOption, find_home, output, require_extra, with_error_exit
from lerim.errors import NotFoundError, UsageError
from lerim.files import make_folder, replace_file
from lerim.paths import Home
from lerim.process import build_lerim_launch, format_command_line
from lerim.project import list_projects
from lerim.sessions import find_platform_roots
from lerim.views import RunningServer, find_running_server
from lerim.web import (
    COMPOSE_FILE,
    DEFAULT_PORT,
    LOOPBACK,
    ServeOptions,
    log_path,
    plan_compose,
    plan_service,
    read_umask,
    server_arguments,
    start_server,
    stop_server,
)

FOLLOW_SECONDS = 0.5


class UpOutput(msgspec.Struct, frozen=True):
    """What `up --json` prints: the server that runs now, and whether this command started it."""

    server: RunningServer
    started: bool


class WrittenFileOutput(msgspec.Struct, frozen=True):
    """What `up --service` and `up --docker` print with `--json`: the file, whether it was written, and the commands
    that start the server with it and that remove it ("" if there is no such command)."""

    path: str
    text: str
    written: bool
    start: str
    remove: str


class DownOutput(msgspec.Struct, frozen=True):
    """What `down --json` prints: whether a server was stopped."""

    stopped: bool


@with_error_exit
def up_command(
    foreground: Annotated[bool, typer.Option("--foreground", help="Run in the foreground.")] = False,
    service: Annotated[
        bool, typer.Option("--service", help="Write a service that starts the server when you log in; shows it first.")
    ] = False,
    docker: Annotated[
        bool, typer.Option("--docker", help="Write a docker-compose.yml that runs the server; shows it first.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Write the file without asking.")] = False,
    host: HostOption = LOOPBACK,
    port: PortOption = DEFAULT_PORT,
    tls_cert: CertificateOption = None,
    tls_key: KeyOption = None,
    behind_proxy: ProxyOption = "",
    as_json: JsonOption = False,
) -> None:
    """Start the server in the background. It syncs when sessions have ended, and maintains the memories once a day."""
    if foreground + service + docker > 1:
        raise UsageError("Give only one of --foreground, --service and --docker.", where="up")
    if foreground and as_json:
        raise UsageError("`--foreground` shows a log, not JSON.", where="up", todo="Leave out one of the two.")
    home = find_home()
    options = make_options(host, port, tls_cert, tls_key, behind_proxy)
    if docker:
        if options != make_options(LOOPBACK, port, None, None, ""):
            todo = "Use no other option for its address than --port; a proxy in front of it can encrypt."
            raise UsageError("The server in the container is reached from this machine only.", where="up", todo=todo)
        _write_compose_file(home, port, yes=yes, as_json=as_json)
        return
    require_extra("serve")
    if foreground:
        serve_here(home, options)
        return
    if service:
        _write_service(options, yes=yes, as_json=as_json)
        return
    running = find_running_server(home)
    started = running is None
    running = running or start_server(home, os.environ, options)
    if as_json:
        output.show_json(UpOutput(running, started))
        return
    output.print_line(f"{'Started' if started else 'Running already'}: {running.origin} (process {running.pid})")
    output.print_line("`lerim dashboard` opens it, `lerim logs -f` shows what it does, `lerim down` stops it.")


def _write_service(options: ServeOptions, *, yes: bool, as_json: bool) -> None:
    argv = build_lerim_launch(server_arguments(options), sys.executable, os.environ).argv
    plan = plan_service(argv, os.environ, sys.platform, read_umask())
    _write_shown_file(Path(plan.path), plan.text, plan.start, plan.remove, yes=yes, as_json=as_json)


def _write_compose_file(home: Home, port: int, *, yes: bool, as_json: bool) -> None:
    stores = [root for roots in find_platform_roots(os.environ, home).values() for root in roots if root.is_dir()]
    repositories = [known.main_worktree or known.root for known in list_projects(home)[0] if known.root.is_dir()]
    user = f"{os.getuid()}:{os.getgid()}" if sys.platform != "win32" else "1000:1000"
    text = plan_compose(home, os.environ, stores, repositories, port or DEFAULT_PORT, user)
    path = home.root / COMPOSE_FILE
    start = format_command_line("docker", "compose", "-f", path, "up", "-d")
    _write_shown_file(path, text, start, "", yes=yes, as_json=as_json)


def _write_shown_file(path: Path, text: str, start: str, remove: str, *, yes: bool, as_json: bool) -> None:
    """Shows a file, writes it if the person agrees, and says how to use it. Raises MemoryError_ if it cannot be
    written."""
    if not as_json:
        output.print_line(output.escape_controls(f"# {path}"))
        output.print_line(output.escape_controls(text, lines=True))
    is_agreed = yes or (not as_json and output.confirm("Write this file?"))
    if is_agreed:
        make_folder(path.parent)
        replace_file(path, text, 0o600)
    if as_json:
        output.show_json(WrittenFileOutput(str(path), text, is_agreed, start, remove))
        return
    if not is_agreed:
        output.print_note("note: nothing was written; add `--yes` to confirm")
        return
    output.print_line(output.escape_controls(f"Written: {path}"))
    output.print_line(f"To start it: {start}")
    if remove:
        output.print_line(f"To remove it: {remove}")


@with_error_exit
def down_command(as_json: JsonOption = False) -> None:
    """Stop the server. The next sync continues the work it was doing."""
    stopped = stop_server(find_home())
    if as_json:
        output.show_json(DownOutput(stopped is not None))
    elif stopped is None:
        output.print_line("No server is running.")
    else:
        output.print_line(f"Stopped: {stopped.origin} (process {stopped.pid})")


@with_error_exit
def logs_command(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep showing new lines until Ctrl-C.")] = False,
    lines: Annotated[int, typer.Option(metavar="N", min=0, max=100_000, help="How many lines to show.")] = 100,
) -> None:
    """Show the server's log."""
    path = log_path(find_home())
    if not path.exists():
        raise NotFoundError("There is no log yet.", where=str(path), todo="Start the server with `lerim up`.")
    with path.open("rb") as log:
        known = log.readlines()
    # a line that is being written is shown when it is whole
    position = sum(map(len, known)) - (len(known.pop()) if follow and known and not known[-1].endswith(b"\n") else 0)
    for line in known[-lines:] if lines else []:
        _print_log_line(line)
    if follow:
        _follow_log(path, position)


def _follow_log(path: Path, position: int) -> None:
    """Shows the lines that are added to the log until Ctrl-C, or until nobody reads them (`… | head`). A log that
    was started again is shown from its beginning."""
    try:
        while output.flush_output():
            time.sleep(FOLLOW_SECONDS)
            if not path.exists() or path.stat().st_size == position:
                continue
            if path.stat().st_size < position:
                position = 0
            with path.open("rb") as log:
                log.seek(position)
                for line in log:
                    if not line.endswith(b"\n"):
                        break
                    _print_log_line(line)
                    position += len(line)
    except KeyboardInterrupt:
        return


def _print_log_line(line: bytes) -> None:
    output.print_line(output.escape_controls(line.decode("utf-8", errors="replace").rstrip("\r\n")))
