"""The service that starts the server when you log in: a systemd user unit on Linux, a launchd agent on macOS."""

from __future__ import annotations

import plistlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath

from lerim.errors import ServerError
from lerim.paths import STORE_VARIABLES, user_home
from lerim.process import format_command_line

LABEL = "dev.lerim.server"
KEPT_VARIABLES = ("HOME", "LERIM_HOME", "LERIM_CONFIG", "PATH", "TZ", *STORE_VARIABLES)
"""Variables that say where Lerim's and the agents' folders are, and where git is. Keys are never written to a file."""


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """A service: the file to write, its text, and the commands that start the service and remove it."""

    path: PurePath
    text: str
    start: str
    remove: str


def plan_service(argv: Sequence[str], environ: Mapping[str, str], platform: str, umask: int) -> ServicePlan:
    """Returns the service that runs `argv` and gives new files the permissions that `umask` leaves.

    Raises ServerError on a system without such services.
    """
    home = user_home(environ, platform)
    variables = {name: environ[name] for name in KEPT_VARIABLES if environ.get(name)}
    if platform == "darwin":
        return _plan_launchd(argv, variables, home, umask)
    if platform.startswith("linux"):
        folder = environ.get("XDG_CONFIG_HOME", "")
        config = PurePosixPath(folder) if PurePosixPath(folder).is_absolute() else home / ".config"
        return _plan_systemd(argv, variables, config, umask)
    todo = "Start it with `lerim up`, for example from the Task Scheduler."
    raise ServerError("Lerim installs no service on this system.", where=platform, todo=todo)


def _plan_systemd(argv: Sequence[str], variables: Mapping[str, str], config: PurePath, umask: int) -> ServicePlan:
    path = config / "systemd" / "user" / "lerim.service"
    lines = [
        "[Unit]",
        "Description=Lerim: a memory for coding agents",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart={' '.join(map(_quote_systemd, argv)).replace('$', '$$')}",  # only here, `$` has a meaning
        *(f"Environment={_quote_systemd(f'{name}={value}')}" for name, value in variables.items()),
        f"UMask={umask:04o}",
        "Nice=10",
        "Restart=on-failure",
        "RestartSec=30",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    return ServicePlan(
        path,
        "\n".join(lines),
        "systemctl --user daemon-reload && systemctl --user enable --now lerim",
        f"systemctl --user disable --now lerim && {format_command_line('rm', path, platform='linux')}",
    )


def _quote_systemd(text: str) -> str:
    """Quotes a word for a unit file, in which `%` has a meaning."""
    if any(character in text for character in "\n\r\0"):
        raise ServerError("A path with a line break cannot be written into a service.", where=text[:200])
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _plan_launchd(argv: Sequence[str], variables: Mapping[str, str], home: PurePath, umask: int) -> ServicePlan:
    path = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    content = {
        "Label": LABEL,
        "ProgramArguments": list(argv),
        "EnvironmentVariables": dict(variables),
        "Umask": umask,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "ThrottleInterval": 30,
    }
    return ServicePlan(
        path,
        plistlib.dumps(content).decode(),
        format_command_line("launchctl", "load", "-w", path, platform="darwin"),
        f"{format_command_line('launchctl', 'unload', '-w', path, platform='darwin')} && "
        f"{format_command_line('rm', path, platform='darwin')}",
    )
