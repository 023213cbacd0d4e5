"""What stands between commands and the running server: it notes their requests, and can break them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

from hang import HANG
from lerim import __version__
from lerim.paths import Home
from lerim.project import replace_private_file
from lerim.views import SERVER_ADDRESS_FILE, RunningServer


@dataclass
class Between:
    """The requests that came through, such as `GET /api/v1/projects`; the question whether the server is usable is left
    out.

    `version` is what the server then calls itself. `before` and `after` break a request: its connection is closed
    before the server has it, or instead of the answer. With `failed` the answer is that of a server that failed while
    it answered.
    """

    address: tuple[str, int]
    requests: list[str] = field(default_factory=list)
    version: str = __version__
    breaks: str = ""

    def pass_on(self, client: socket.socket) -> None:
        """Takes one request of a connection to the server, and its answer back."""
        request = read_message(client)
        line = request.partition(b" HTTP/")[0].decode()
        is_check = line == "GET /api/v1/server"
        if not is_check:
            self.requests.append(line.partition("?")[0])
        if self.breaks == "before" and not is_check:
            return
        with socket.create_connection(self.address, timeout=HANG) as server:
            server.sendall(request)
            while part := server.recv(65_536):
                if is_check:
                    part = part.replace(f'"{__version__}"'.encode(), f'"{self.version}"'.encode())
                elif self.breaks == "after":
                    return
                elif self.breaks == "failed":
                    part = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 21\r\n\r\nInternal Server Error"
                client.sendall(part)


def read_message(client: socket.socket) -> bytes:
    """Reads one request, whose body has the length that its head says."""
    client.settimeout(HANG)
    message = b""
    while b"\r\n\r\n" not in message:
        message += client.recv(65_536)
    head, _, body = message.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0].partition(b":")[2]) if lengths else 0
    while len(body) < length:
        body += client.recv(65_536)
    # The server closes the connection after the answer, so that its end is seen.
    return head + b"\r\nConnection: close\r\n\r\n" + body


@contextmanager
def stand_between(home: Home, running: RunningServer) -> Iterator[Between]:
    """Stands between commands and this server for the block."""
    parts = urlsplit(running.address)
    between = Between((parts.hostname or "", parts.port or 0))
    path = home.server / SERVER_ADDRESS_FILE
    address = path.read_bytes()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):  # the listener was closed
                while True:
                    client, _ = listener.accept()
                    threading.Thread(target=serve, args=(client,), daemon=True).start()

        def serve(client: socket.socket) -> None:
            with client, suppress(OSError):  # a command or a server that is gone
                between.pass_on(client)

        threading.Thread(target=accept, daemon=True).start()
        here = msgspec.structs.replace(running, address=f"http://127.0.0.1:{listener.getsockname()[1]}")
        replace_private_file(path, msgspec.json.encode(here))
        yield between
        listener.shutdown(socket.SHUT_RDWR)
    if path.exists():
        replace_private_file(path, address)
