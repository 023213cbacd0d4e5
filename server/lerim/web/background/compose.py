"""The file for `docker compose` that runs the server in a container."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from lerim.paths import STORE_VARIABLES, Home, user_home

IMAGE = "lerim"
COMPOSE_FILE = "docker-compose.yml"


def plan_compose(
    home: Home, environ: Mapping[str, str], stores: Sequence[Path], repositories: Sequence[Path], port: int, user: str
) -> str:
    """Returns the text of the file. Every folder has the same path in the container: sessions name folders by it.

    The agents' `stores` are mounted read-only, the `repositories` and Lerim's home so that memories can be written.
    `user` is `uid:gid`, so that files belong to you. Of `environ`, only what says where folders are is kept.
    """
    writable = _drop_nested([home.root, *repositories])
    read_only = [store for store in _drop_nested(stores) if not any(_is_inside(store, one) for one in writable)]
    options = json.dumps({"host": "0.0.0.0", "port": port, "proxy_origin": f"http://127.0.0.1:{port}"})
    person_home, (uid, gid) = Path(user_home(environ)), user.split(":")
    # Docker makes the folders above a mount, and they would belong to root.
    is_mounted = any(_is_inside(person_home, folder) for folder in (*writable, *read_only))
    own_home = "" if is_mounted else f"{person_home}:uid={uid},gid={gid},mode=0700"
    variables = {
        "HOME": str(person_home),
        "LERIM_HOME": str(home.root),
        **{name: environ[name] for name in STORE_VARIABLES if environ.get(name)},
    }
    lines = [
        "# Written by `lerim up --docker`. Build the image first: docker build -t lerim PATH_TO_LERIM",
        "services:",
        "  lerim:",
        f"    image: {IMAGE}",
        f"    command: {json.dumps(['server', options])}",
        f"    user: {json.dumps(user)}",
        "    environment:",
        *(f"      {name}: {_scalar(value)}" for name, value in variables.items()),
        "    ports:",
        f'      - "127.0.0.1:{port}:{port}"',
        "    volumes:",
        *(line for folder in writable for line in _describe_volume(folder, read_only=False)),
        *(line for folder in read_only for line in _describe_volume(folder, read_only=True)),
        "    read_only: true",
        "    tmpfs:",
        "      - /tmp",
        *([f"      - {_scalar(own_home)}"] if own_home else []),
        "    cap_drop:",
        "      - ALL",
        "    security_opt:",
        "      - no-new-privileges:true",
        "    restart: unless-stopped",
        "",
    ]
    return "\n".join(lines)


def _describe_volume(folder: Path, *, read_only: bool) -> list[str]:
    return [
        "      - type: bind",
        f"        source: {_scalar(folder)}",
        f"        target: {_scalar(folder)}",
        *(["        read_only: true"] if read_only else []),
    ]


def _scalar(value: Path | str) -> str:
    """Quotes a path or another text for YAML, in which compose would replace `$`."""
    return json.dumps(str(value).replace("$", "$$"), ensure_ascii=False)


def _is_inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _drop_nested(folders: Sequence[Path]) -> list[Path]:
    """Returns the folders without those inside another one."""
    unique = list(dict.fromkeys(folders))
    return [one for one in unique if not any(other in one.parents for other in unique)]
