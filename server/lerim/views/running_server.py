"""The server that runs for a home, if one does."""

from __future__ import annotations

import filelock
import msgspec

from lerim.files import read_regular_file
from lerim.paths import Home

SERVER_ADDRESS_FILE = "address.json"
SERVER_LOCK_FILE = "server.lock"


class RunningServer(msgspec.Struct, frozen=True):
    """The process that serves a home. `address` is where programs of this machine reach it, `origin` what people open
    in a browser, and `host` the `Host` header that it answers."""

    pid: int
    address: str
    origin: str
    host: str
    started: str


def find_running_server(home: Home) -> RunningServer | None:
    """Returns the server that runs for this home, or None. A file that a killed server left behind does not count: the
    kernel has released its lock."""
    running = read_server_address(home)
    if running is None:
        return None
    lock = filelock.FileLock(home.server / SERVER_LOCK_FILE, timeout=0, thread_local=False, mode=0o600)
    try:
        lock.acquire()
    except filelock.Timeout:
        return running
    except OSError:
        return None
    lock.release()
    return None


def read_server_address(home: Home) -> RunningServer | None:
    """Returns where the server of this home listens, or listened before it was killed."""
    try:
        return msgspec.json.decode(read_regular_file(home.server / SERVER_ADDRESS_FILE), type=RunningServer)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
