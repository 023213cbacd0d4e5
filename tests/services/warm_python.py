"""A Python that has imported Lerim already, for tests of what asks for jobs: importing takes a job half a second of
processor time, or two with dspy, and is not what they look at.

`warm_python()` is a program to start in place of `sys.executable`. It hands its arguments, environment, folder and
streams to a server, whose fork runs `lerim` with them and ends with the program. So does a process that the fork starts
by multiprocessing, with the file descriptors it inherits. Tests of a process itself, of its rights, limits or end,
start the real one.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import itertools
import multiprocessing
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path

PACKAGES = ("lerim.assistant", "lerim.cli", "lerim.jobs", "lerim.maintenance", "lerim.models", "lerim.org")
PROGRAM = """#!{python} -IS
import os, sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_SEQPACKET, SOL_SOCKET, socket
arguments = sys.argv[1:]
fds = [0, 1, 2]
if arguments[-1:] == ["--multiprocessing-fork"]:
    fds += [fd for fd in map(int, os.listdir("/proc/self/fd")) if fd > 2 and os.path.exists(f"/proc/self/fd/{{fd}}")]
elif "lerim" in arguments:
    del arguments[: arguments.index("lerim") + 1]
else:
    os.execv({python!r}, [{python!r}, *arguments])
server = socket(AF_UNIX, SOCK_SEQPACKET)
server.connect({address!r})
lists = [list(map(str, fds)), arguments, list(map("=".join, os.environ.items()))]
fields = [sys.argv[0], os.getcwd(), *(field for one in lists for field in (str(len(one)), *one))]
text = b"\\0".join(map(os.fsencode, fields))
server.sendmsg([text], [(SOL_SOCKET, SCM_RIGHTS, b"".join(fd.to_bytes(4, sys.byteorder) for fd in fds))])
code = int.from_bytes(server.recv(2) or b"\\1\\1", sys.byteorder, signed=True)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""
"""Its imports are those that take no time."""
MOST_FDS = 16
ABOVE = 100
"""A number that no file descriptor of these has."""


@functools.cache
def warm_python() -> str:
    """The program; the real Python where there is no such server."""
    if sys.platform != "linux":
        return sys.executable
    from window import server_environ

    address = f"\0lerim-tests-{os.getpid()}"
    command = [sys.executable, "-P", "-X", "utf8", __file__, address[1:]]
    server = subprocess.Popen(command, env=server_environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout and server.stdout.readline() == b"ready\n"
    folder = Path(tempfile.mkdtemp(prefix="lerim-warm-"))
    atexit.register(shutil.rmtree, folder)
    atexit.register(server.communicate)  # it ends with its input
    program = folder / "python"
    program.write_text(PROGRAM.format(python=sys.executable, address=address), encoding="utf-8")
    program.chmod(0o700)
    return str(program)


def _serve(address: str) -> None:
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            with contextlib.suppress(ModuleNotFoundError):  # the packages of `lerim[org]`
                importlib.import_module(module.name)
    gc.freeze()
    running: dict[int, tuple[int, socket.socket]] = {}
    """By a file descriptor that tells of its end: each fork, and who asked for it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{address}")
        listener.listen(64)
        os.write(1, b"ready\n")
        watched: tuple[int | socket.socket, ...] = (0, listener)
        while 0 not in (ready := select.select([*watched, *running], [], [])[0]):
            for ended in running.keys() & ready:
                pid, asked = running.pop(ended)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with asked, contextlib.suppress(BrokenPipeError):
                    asked.send(code.to_bytes(2, sys.byteorder, signed=True))
                os.close(ended)
            if listener in ready:
                asked, _ = listener.accept()
                if not (pid := os.fork()):
                    listener.close()
                    _run(asked)
                running[os.pidfd_open(pid)] = pid, asked


def _run(asked: socket.socket) -> None:
    text, received, _, _ = socket.recv_fds(asked, 1 << 20, MOST_FDS)
    program, folder, *rest = os.fsdecode(text).split("\0")
    fields = iter(rest)
    numbers, arguments, environ = (list(itertools.islice(fields, int(count))) for count in fields)
    asked = socket.socket(fileno=fcntl.fcntl(asked.detach(), fcntl.F_DUPFD_CLOEXEC, ABOVE))
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, ABOVE) for fd in received]
    for fd in received:
        os.close(fd)
    for fd, number in zip(moved, numbers, strict=True):
        os.dup2(fd, int(number))
        os.close(fd)
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(dict(one.split("=", 1) for one in environ))
    threading.Thread(target=_end_with, args=(asked,), daemon=True).start()
    multiprocessing.set_executable(program)
    code = 1
    try:
        if arguments[-1:] == ["--multiprocessing-fork"]:
            sys.argv = ["-c", "--multiprocessing-fork"]
            exec(arguments[-2])
        sys.argv = ["lerim", *arguments]
        from lerim.__main__ import main

        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end_with(asked: socket.socket) -> None:
    """Dies once the program is gone."""
    asked.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    _serve(sys.argv[1])
