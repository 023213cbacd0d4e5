"""Validates and compares addresses of model services."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def find_address_fault(base_url: str) -> str:
    """Returns why this cannot be the address of a model service, or "". Plain http is allowed for this machine only."""
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "cannot be read"
    if parts.scheme not in ("http", "https") or not host or any(char.isspace() for char in base_url):
        return "must begin with https:// and name a host"
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        return "must hold no name, password, question mark or #"
    if parts.scheme == "http" and not is_loopback(host):
        return "must begin with https://; only addresses on this machine may be unencrypted"
    return ""


def is_loopback(host: str) -> bool:
    """Returns whether a host is this machine."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_same_service(base_url: str, other: str) -> bool:
    """Returns whether two valid addresses (no `find_address_fault`) lead to the same host and port."""
    first, second = urlsplit(base_url), urlsplit(other)
    return (first.scheme, first.hostname, first.port or 443) == (second.scheme, second.hostname, second.port or 443)


def format_host(base_url: str) -> str:
    """Returns the host of a valid address (no `find_address_fault`), with its port unless that is the https default."""
    parts = urlsplit(base_url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return host if parts.port in (None, 443) else f"{host}:{parts.port}"


def is_on_this_machine(base_url: str) -> bool:
    """Returns whether a valid address (no `find_address_fault`) is on this machine."""
    return is_loopback(urlsplit(base_url).hostname or "")
