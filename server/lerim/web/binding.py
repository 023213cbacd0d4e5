"""Where the server listens, as options that can be handed to another process, and under which addresses people may
reach it."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from lerim.errors import ServerError, UsageError, error_reason

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8765
BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Binding:
    """An address to listen on. `origin` is the address of the dashboard, such as `http://127.0.0.1:8765`; `hosts` are
    the values of the `Host` header that are answered, `origins` those of `Origin`."""

    host: str
    port: int
    origin: str
    hosts: frozenset[str]
    origins: frozenset[str]

    @property
    def is_encrypted(self) -> bool:
        """Whether browsers reach the server with TLS, so that the cookie can be limited to it."""
        return self.origin.startswith("https://")


def plan_binding(host: str, port: int, *, has_certificate: bool, proxy_origin: str = "") -> Binding:
    """Returns the binding for these options. `proxy_origin` is the address people use if a proxy is in front.

    Raises UsageError for an address that other machines can reach, unless the connection is encrypted by our own
    certificate or by a proxy, and for a wildcard address or a proxy's address that names no host.
    """
    is_local = _is_loopback(host)
    if not is_local and not has_certificate and not proxy_origin:
        raise UsageError(
            f"Other machines could read your memories at {host} without encryption.",
            where="--host",
            todo="Give --tls-cert and --tls-key, or --behind-proxy with the address of a proxy that encrypts.",
        )
    if proxy_origin:
        parts = urlsplit(proxy_origin)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/") or "@" in parts.netloc:
            todo = "Give the address people open, such as https://lerim.example.org."
            raise UsageError(f"{proxy_origin!r} is not the address of a proxy.", where="--behind-proxy", todo=todo)
        origin = f"{parts.scheme}://{parts.netloc.lower()}"
        return Binding(host, port, origin, frozenset({parts.netloc.lower()}), frozenset({origin}))
    if host in ("0.0.0.0", "::"):
        todo = "Name one address of this machine, or use --behind-proxy."
        raise UsageError("With this host, Lerim cannot know the address people open.", where="--host", todo=todo)
    scheme = "https" if has_certificate else "http"
    names = [host, "localhost"] if is_local and host != "localhost" else [host]
    hosts = [_join_port(name, port, scheme) for name in names]
    return Binding(
        host, port, f"{scheme}://{hosts[0]}", frozenset(hosts), frozenset(f"{scheme}://{name}" for name in hosts)
    )


def _join_port(host: str, port: int, scheme: str) -> str:
    """Returns the host as browsers write it in `Host`: without the scheme's own port."""
    name = f"[{host}]" if ":" in host else host.lower()
    return name if port == (443 if scheme == "https" else 80) else f"{name}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_socket(host: str, port: int) -> socket.socket:
    """Opens the socket to listen on; port 0 takes a free one. Raises ServerError if that is not possible."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # where SO_REUSEADDR would let another program take the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)  # from now on requests wait; the server announces itself before it accepts them
    except OSError as error:
        listener.close()
        todo = "Name an address of this machine with --host, and a port that you may use with --port."
        if error.errno == errno.EADDRINUSE:
            todo = "Another program uses this port; choose another one with --port."
        raise ServerError(
            f"The server cannot listen there: {error_reason(error)}.", where=f"{host}:{port}", todo=todo
        ) from error
    return listener


class ServeOptions(msgspec.Struct, frozen=True):
    """Where to listen. `certificate` and `key` are the paths of PEM files, "" without TLS; `proxy_origin` is the
    address people use if a proxy is in front. Port 0 takes a free one."""

    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    certificate: str = ""
    key: str = ""
    proxy_origin: str = ""
