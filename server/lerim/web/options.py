"""Where the server listens, as options that can be handed to another process."""

from __future__ import annotations

import msgspec

from lerim.web.binding import DEFAULT_PORT, LOOPBACK


class ServeOptions(msgspec.Struct, frozen=True):
    """Where to listen. `certificate` and `key` are the paths of PEM files, "" without TLS; `proxy_origin` is the
    address people use if a proxy is in front. Port 0 takes a free one."""

    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    certificate: str = ""
    key: str = ""
    proxy_origin: str = ""
