"""`lerim serve` and `lerim dashboard`."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.terminal import JsonOption, find_home, output, require_extra, with_error_exit
from lerim.errors import ServerError
from lerim.views import find_running_server
from lerim.web import DEFAULT_PORT, LOOPBACK, ServeOptions, request_server

if TYPE_CHECKING:
    from lerim.paths import Home
    from lerim.web import Binding

HostOption = Annotated[
    str, typer.Option(metavar="ADDRESS", help="The address to listen on. One that other machines can reach needs TLS.")
]
PortOption = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 picks a free one.")]
CertificateOption = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="FILE", exists=True, dir_okay=False, help="A certificate (PEM).")
]
KeyOption = Annotated[
    Path | None, typer.Option("--tls-key", metavar="FILE", exists=True, dir_okay=False, help="Its key (PEM).")
]
ProxyOption = Annotated[
    str,
    typer.Option(
        "--behind-proxy",
        metavar="ORIGIN",
        help="The address people open, such as https://lerim.example.org, if a proxy in front of the server encrypts.",
    ),
]


class DashboardOutput(msgspec.Struct, frozen=True):
    """What `dashboard --json` prints: a link that signs a browser in once."""

    url: str


@with_error_exit
def serve_command(
    host: HostOption = LOOPBACK,
    port: PortOption = DEFAULT_PORT,
    tls_cert: CertificateOption = None,
    tls_key: KeyOption = None,
    behind_proxy: ProxyOption = "",
) -> None:
    """Serve the dashboard and the HTTP API on this machine until Ctrl-C."""
    require_extra("serve")
    serve_here(find_home(), make_options(host, port, tls_cert, tls_key, behind_proxy))


def make_options(host: str, port: int, certificate: Path | None, key: Path | None, proxy_origin: str) -> ServeOptions:
    """Returns the options in a form for another process, whose working folder may differ."""
    paths = [str(path.absolute()) if path else "" for path in (certificate, key)]
    return ServeOptions(host, port, paths[0], paths[1], proxy_origin)


def serve_here(home: Home, options: ServeOptions) -> None:
    """Serves in this process until Ctrl-C. Raises UsageError and ServerError."""
    from lerim.web import serve

    def show_address(binding: Binding) -> None:
        output.print_line(f"Lerim is served at {binding.origin}. `lerim dashboard` opens it and signs you in.")
        output.flush_output()

    serve(home, os.environ, options, lambda: datetime.now().astimezone(), show_address)


@with_error_exit
def dashboard_command(
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link; do not open a browser.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Open the dashboard of the running server in your browser. The link signs the browser in, and works once."""
    link = make_login_link(find_home())
    if as_json:
        output.print_secret(msgspec.json.format(msgspec.json.encode(link), indent=2).decode())
        return
    output.print_secret(link.url)
    if not no_open:
        import webbrowser

        webbrowser.open(link.url)


def make_login_link(home: Home) -> DashboardOutput:
    """Returns a link of the running server. Raises ServerError if none runs."""
    running = find_running_server(home)
    if running is None:
        raise ServerError("No server is running.", where=str(home.server), todo="Start one: `lerim up`.")
    return msgspec.json.decode(request_server(home, running, "POST", "/api/v1/login-links"), type=DashboardOutput)
