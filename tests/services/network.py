"""The network between a worker and the database, which can be cut or fall silent: a proxy on loopback before the
server's Unix socket."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Network:
    """Connections to the Unix socket `server`, by way of `port`."""

    server: Path
    port: int = 0
    _flows: threading.Event = field(default_factory=threading.Event)
    _open: list[socket.socket] = field(default_factory=list)
    _to_refuse: int = 0

    def cut(self, refuse: int) -> None:
        """Ends all connections and refuses so many new ones."""
        self._to_refuse = refuse
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def stall(self) -> None:
        """Lets nothing through, and ends nothing."""
        self._flows.clear()

    def flow(self) -> None:
        self._flows.set()

    def serve(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                if self._to_refuse:
                    self._to_refuse -= 1
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self.server))
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self._flows.wait()
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


@contextmanager
def network(server: Path) -> Iterator[Network]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        made = Network(server, listening.getsockname()[1])
        made.flow()
        threading.Thread(target=made.serve, args=(listening,), daemon=True).start()
        try:
            yield made
        finally:
            made.flow()
            listening.shutdown(socket.SHUT_RDWR)
            for one in made._open:
                one.close()
